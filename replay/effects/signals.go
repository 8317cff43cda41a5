package effects

import (
	"cmp"
	"strings"

	"github.com/recountdb/recount/replay/shell"
)

// telling has the signals by which a process is told something and goes on: to read its settings again, to rotate
// its log, to write its state.
var telling = words("HUP USR1 USR2 STOP TSTP CONT WINCH")

// numbers has the names of signals that are given by their numbers.
var numbers = map[string]string{"0": "EXIT", "1": "HUP", "2": "INT", "3": "QUIT", "9": "KILL", "10": "USR1", "12": "USR2", "15": "TERM", "18": "CONT", "19": "STOP", "20": "TSTP", "28": "WINCH"}

// signalName returns the name of a signal: USR1 of SIGUSR1, usr1 or 10.
func signalName(signal string) string {
	name := strings.TrimPrefix(strings.ToUpper(signal), "SIG")
	return cmp.Or(numbers[name], name)
}

// signal returns the name of the signal that a call of kill sends.
func signal(c *shell.Call) string {
	if w, ok := c.FlagValue("-s", "--signal", "-n"); ok {
		return signalName(w.Value)
	}
	if len(c.Args) > 1 && strings.HasPrefix(c.Args[0].Value, "-") {
		return signalName(c.Args[0].Value[1:])
	}
	return "TERM"
}

// signals judges kill. What a shell is told to do on a signal that it sends to itself it does then.
func (f *finder) signals(c *shell.Call) {
	if to := shell.Operands(c.Args, "-s --signal -n"); c.Name == "kill" && len(to) > 0 && to[len(to)-1].Value == "$$" {
		name := "trap " + signal(c)
		if body, ok := f.body(name); ok && f.follow(c, name, body, nil, true) {
			f.Uses = append(f.Uses, name)
			return
		}
	}
	f.acts++
	if telling[signal(c)] {
		f.add(Thing{Kind: Job, Name: "&", Access: Update, Sure: 0.7})
	} else {
		f.add(Thing{Kind: Job, Name: "*", Access: Remove})
	}
}

// traps keeps what a shell is told to do on signals: trap 'echo bye >> log' USR1.
func (f *finder) traps(c *shell.Call) {
	ws := shell.Operands(c.Args, "")
	if len(ws) < 2 {
		return
	}
	for _, w := range ws[1:] {
		name := "trap " + signalName(w.Value)
		if ws[0].Value == "-" || ws[0].Value == "" {
			f.Unsets = append(f.Unsets, name)
			continue
		}
		f.sets(name)
		f.declares(name, ws[0].Value)
	}
}
