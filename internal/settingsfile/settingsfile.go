package settingsfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Replace replaces a settings file that held before by after. The old text is kept beside it as
// FILE.recount-backup. The new text is written, synced and renamed, so that a crash leaves one of
// the two complete. A symbolic link to the file is kept; a dangling link is an error. A link at the
// name of the backup is replaced.
func Replace(file string, before, after []byte) error {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	} else if _, notLink := os.Readlink(file); notLink == nil {
		return fmt.Errorf("%s: a link to a missing file: create the file, or remove the link: %w", file, err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	mode := os.FileMode(0o600)
	if st, err := os.Stat(file); err == nil {
		mode = st.Mode().Perm()
		if err := Write(file+".recount-backup", before, mode, func() error { return nil }); err != nil {
			return fmt.Errorf("keep a copy: %w", err)
		}
	}
	// Do not overwrite changes made since the file was read.
	return Write(file, after, mode, func() error {
		now, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if string(now) != string(before) {
			return fmt.Errorf("%s was changed in the meantime: try again", file)
		}
		return nil
	})
}

// Write writes text to a temporary file, syncs it and renames it to file, if check returns nil
// right before the rename.
func Write(file string, text []byte, mode os.FileMode, check func() error) (err error) {
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
