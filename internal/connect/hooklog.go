package connect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// StateDir creates and returns a directory for temporary state.
func (con *Connector) StateDir(name string) (string, error) {
	base := con.Getenv("XDG_STATE_HOME")
	if base == "" || !filepath.IsAbs(base) {
		home := con.Getenv("HOME")
		if home == "" {
			return "", errors.New("no state directory: neither XDG_STATE_HOME nor HOME is set")
		}
		base = filepath.Join(home, ".local", "state")
	}
	dir := filepath.Join(base, name)
	return dir, os.MkdirAll(dir, 0o700)
}

// openHookLog opens the log that the shells' hooks also write to.
func (con *Connector) openHookLog() (*os.File, error) {
	file := con.Getenv("RECOUNT_HOOK_LOG")
	if file == "" {
		dir, err := con.StateDir("")
		if err != nil {
			return nil, err
		}
		file = filepath.Join(dir, "recount-hook.log")
	}
	return os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
}

// HookLog writes to the log why something was not recorded; it prints nothing.
func (con *Connector) HookLog(err error) {
	if f, openErr := con.openHookLog(); openErr == nil {
		fmt.Fprintf(f, "recount: %s\n", err)
		f.Close()
	}
}
