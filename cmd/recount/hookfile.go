package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// replaceFile puts after into a settings file that held before: the old text
// stays beside it as FILE.recount-backup, the new one comes by write, sync and
// rename, so that a crash leaves one of the two whole. A symbolic link stays one;
// one that leads nowhere is an error. A link where the copy belongs gives way to it.
func replaceFile(file string, before, after []byte) error {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	} else if _, notLink := os.Readlink(file); notLink == nil {
		return fmt.Errorf("%s: a link to what is not there: make that file, or remove the link: %w", file, err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	mode := os.FileMode(0o600)
	if st, err := os.Stat(file); err == nil {
		mode = st.Mode().Perm()
		if err := writeWhole(file+".recount-backup", before, mode, func() error { return nil }); err != nil {
			return fmt.Errorf("keep a copy: %w", err)
		}
	}
	// Whoever wrote it since it was read must not lose what they wrote.
	return writeWhole(file, after, mode, func() error {
		now, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if string(now) != string(before) {
			return fmt.Errorf("%s was changed meanwhile: try again", file)
		}
		return nil
	})
}

// writeWhole makes text the file of that name by write, sync and rename, if
// check agrees right before the rename.
func writeWhole(file string, text []byte, mode os.FileMode, check func() error) (err error) {
	t, err := os.CreateTemp(filepath.Dir(file), ".recount-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(t.Name()))
		}
	}()
	_, err = t.Write(text)
	if err = errors.Join(err, t.Chmod(mode), t.Sync(), t.Close()); err != nil {
		return err
	}
	if err := check(); err != nil {
		return err
	}
	return os.Rename(t.Name(), file)
}

// lineDiff shows which lines go and which come, around the first and the last
// that differ, with three lines of what stays.
func lineDiff(before, after string) string {
	a, b := lines(before), lines(after)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	const around = 3
	var out strings.Builder
	say := func(mark string, ls []string) {
		for _, l := range ls {
			out.WriteString(mark + l + "\n")
		}
	}
	say(" ", a[max(0, head-around):head])
	say("-", a[head:len(a)-tail])
	say("+", b[head:len(b)-tail])
	say(" ", a[len(a)-tail:min(len(a), len(a)-tail+around)])
	return out.String()
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}
