package hookrun

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/agenthook"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/schemas"
)

// noteStart writes the start times of a call's commands for the call after the tool.
func noteStart(con *connect.Connector, c agenthook.Call) error {
	dir, err := con.StateDir("recount-hooks")
	if err != nil {
		return err
	}
	for _, cmd := range c.Commands {
		if cmd.ID[0] < 16 { // for one call in sixteen
			sweep(dir, c.At.Add(-noteKept))
		}
		if err := os.WriteFile(filepath.Join(dir, cmd.ID.String()), []byte(strconv.FormatInt(c.At.UnixNano(), 10)+"\n"), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// readNote returns when a command started that the first call spooled; zero if there is no note.
func readNote(con *connect.Connector, id schemas.EventID) time.Time {
	dir, err := con.StateDir("recount-hooks")
	if err != nil {
		return time.Time{}
	}
	b, err := os.ReadFile(filepath.Join(dir, id.String()))
	if err != nil {
		return time.Time{}
	}
	first, _, _ := strings.Cut(string(b), "\n")
	nanos, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(0, nanos).UTC()
}

func dropNote(con *connect.Connector, id schemas.EventID) {
	if dir, err := con.StateDir("recount-hooks"); err == nil {
		_ = os.Remove(filepath.Join(dir, id.String())) // there may be no note
	}
}

// sweep removes old notes of commands that never ended, such as those that the user did not allow.
func sweep(dir string, before time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if st, err := e.Info(); err == nil && st.ModTime().Before(before) {
			_ = os.Remove(filepath.Join(dir, e.Name())) // another hook may have removed it already
		}
	}
}
