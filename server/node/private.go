package node

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
)

// others are the bits of a mode that let others than the owner in.
const others fs.FileMode = 0o077

// own is what stands right below a data directory. Anything else is not ours to change.
var own = []string{"log", "projections", "imports", "spool", "erased", identityFile, endpointsFile, lockFile}

// makePrivate takes from others what they may do in a data directory, whoever made it and
// whatever the umask was: systemd, docker and mkdir make folders that all can read. What
// lies right below it is made private as well, so that a directory whose own mode cannot
// be changed shows names alone. What it changes is logged, since somebody may have read
// it before.
func makePrivate(dir string, log *slog.Logger) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	narrow := func(path string, mode fs.FileMode) error {
		err := os.Chmod(path, mode&^others)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !slices.Contains(own, e.Name()) || !info.Mode().IsDir() && !info.Mode().IsRegular() || info.Mode()&others == 0 {
			continue // gone meanwhile, not ours, a link, or private
		}
		if err := narrow(filepath.Join(dir, e.Name()), info.Mode().Perm()); err != nil {
			return fmt.Errorf("data directory: others can read what is in it, and that cannot be changed: %w", err)
		}
	}
	st, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	if st.Mode()&others == 0 {
		return nil
	}
	if err := narrow(dir, st.Mode().Perm()); err != nil {
		log.Warn("others can list the data directory: its mode cannot be changed; what is in it is private", "path", dir, "err", err)
		return nil
	}
	log.Warn("others could read the data directory: it is private now", "path", dir, "mode_before", fmt.Sprintf("%04o", st.Mode().Perm()))
	return nil
}
