package node

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/recountdb/recount/internal/datadir"
)

// others holds the permission bits of everybody but the owner.
const others fs.FileMode = 0o077

// own lists the entries of a data directory that Recount creates. All others are left alone.
var own = []string{"log", "projections", "imports", "spool", "erased", identityFile, endpointsFile, datadir.LockFile}

// makePrivate removes the permissions of everybody but the owner from a data directory, whatever
// created it: systemd, docker and mkdir often create folders that everybody can read. It does the
// same for own entries directly below, so that a directory whose own mode cannot be changed reveals
// only names. It logs what it changes, since somebody may have read the data before.
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
			continue // deleted meanwhile, not ours, a link, or already private
		}
		if err := narrow(filepath.Join(dir, e.Name()), info.Mode().Perm()); err != nil {
			return fmt.Errorf("data directory: other users can read files in it, and its mode cannot be changed: %w", err)
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
		log.Warn("other users can list the data directory, and its mode cannot be changed; the files in it are private", "path", dir, "err", err)
		return nil
	}
	log.Warn("other users could read the data directory; it is private now", "path", dir, "mode_before", fmt.Sprintf("%04o", st.Mode().Perm()))
	return nil
}
