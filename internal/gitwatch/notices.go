package gitwatch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// watcher converts file system notifications into "something changed".
type watcher struct {
	fs *fsnotify.Watcher
	// changed holds at most one notification: several are merged.
	changed chan struct{}
	done    sync.WaitGroup
	top     map[string]bool
}

// notices watches the directories that contain refs: the files of both directories (HEAD,
// packed-refs), all directories below refs, and the tables of repositories that use the reftable
// format. Links are not followed.
func notices(gitDir, commonDir string) (*watcher, error) {
	fsw, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &watcher{fs: fsw, changed: make(chan struct{}, 1), top: map[string]bool{gitDir: true, commonDir: true}}
	err = errors.Join(fsw.Add(gitDir), fsw.Add(commonDir))
	for _, dir := range []string{"refs", "reftable"} {
		err = errors.Join(err, w.below(filepath.Join(commonDir, dir)))
		if gitDir != commonDir {
			err = errors.Join(err, w.below(filepath.Join(gitDir, dir)))
		}
	}
	if err != nil {
		return nil, errors.Join(err, fsw.Close())
	}
	w.done.Go(w.run)
	return w, nil
}

func (w *watcher) close() {
	_ = w.fs.Close()
	w.done.Wait()
}

// below watches a directory and all below it. Directories that are removed meanwhile are not
// errors.
func (w *watcher) below(dir string) error {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = w.fs.Add(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return err
}

func (w *watcher) run() {
	for {
		select {
		case e, ok := <-w.fs.Events:
			if !ok {
				return
			}
			if e.Has(fsnotify.Create) {
				// A directory of branches: the fingerprint covers what was created in it before it
				// was watched. Errors are ignored, because a later notification shows the change.
				if st, err := os.Lstat(e.Name); err == nil && st.IsDir() && !w.top[filepath.Dir(e.Name)] {
					_ = w.below(e.Name)
				}
			}
			if w.matters(e) {
				w.notice()
			}
		case _, ok := <-w.fs.Errors:
			if !ok {
				return
			}
			w.notice() // notifications were lost: check
		}
	}
}

// matters ignores files that change with every command: locks, the index, messages.
func (w *watcher) matters(e fsnotify.Event) bool {
	if e.Op == fsnotify.Chmod || strings.HasSuffix(e.Name, ".lock") {
		return false
	}
	if w.top[filepath.Dir(e.Name)] {
		switch filepath.Base(e.Name) {
		case "HEAD", "packed-refs", "refs", "reftable", "shallow":
			return true
		}
		return false
	}
	return true
}

func (w *watcher) notice() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}
