package spool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Retry puts the entries that were set aside as refused back among those that wait, unless the same reader has been shown
// them: after an update, what recorders write has fields that the server which still runs does not know. reader
// names what decides about entries, such as a version; it is called only if something was refused. If another process is
// draining, Retry does nothing. After a crash, entries may be both set aside and waiting; then they are passed twice with
// the same ids.
func (d *Drainer) Retry(reader func() string) error {
	refused, by := filepath.Join(d.dir, refusedFile), filepath.Join(d.dir, byFile)
	if _, err := os.Lstat(refused); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock, err := d.lock()
	if lock == nil || err != nil {
		return err
	}
	defer lock.Close()
	who := reader()
	if last, err := os.ReadFile(by); err == nil && strings.TrimSpace(string(last)) == who {
		return nil
	}
	b, err := os.ReadFile(refused)
	if err != nil {
		return err
	}
	taken, err := numbers(d.dir)
	if err != nil {
		return err
	}
	entries, _ := parse(b) // the rest are the reasons
	b = nil
	for _, e := range entries {
		if b, err = appendFrame(b, e); err != nil {
			return err
		}
	}
	waiting := d.taken(after(taken))
	if err := setAside(waiting+".tmp", b); err != nil {
		return err
	}
	if err := os.Rename(waiting+".tmp", waiting); err != nil {
		return err
	}
	if err := os.Remove(refused); err != nil {
		return err
	}
	return os.WriteFile(by, []byte(who+"\n"), 0o600)
}
