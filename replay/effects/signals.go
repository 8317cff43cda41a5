package effects

import (
	"strings"

	"github.com/recountdb/recount/replay/shell"
)

// telling has the signals by which a process is told something and goes on: to read its settings again, to rotate
// its log, to write its state.
var telling = words("HUP USR1 USR2 STOP TSTP CONT WINCH 1 10 12 18 19 20 28")

// tells reports whether a call of kill sends such a signal.
func tells(c *shell.Call) bool {
	signal := ""
	if w, ok := c.FlagValue("-s", "--signal", "-n"); ok {
		signal = w.Value
	} else if len(c.Args) > 1 && strings.HasPrefix(c.Args[0].Value, "-") {
		signal = c.Args[0].Value[1:]
	}
	return telling[strings.TrimPrefix(strings.ToUpper(signal), "SIG")]
}
