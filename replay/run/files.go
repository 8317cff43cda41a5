package run

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/sandbox"
)

const (
	// MaxFiles is how many files of a step are written down at most.
	MaxFiles = 1000
	maxHash  = 64 << 20 // bytes of a file that is hashed without a view
)

// files fills in what a step wrote. With a view that is what changed in it since the last step;
// without, the outputs that the plan knows of.
func (r *runner) files(s *replay.Step, o *Outcome) error {
	changes, err := r.Executor.Changes()
	if errors.Is(err, sandbox.ErrNoView) {
		o.Files = outputs(s)
		return nil
	}
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := map[string]sandbox.Change{}
	for _, c := range changes {
		now[c.Path] = c
		if before, ok := r.known[c.Path]; !ok || !same(before, c) {
			o.Files = append(o.Files, r.file(c))
		}
	}
	// A change that is gone was taken back: what was added is removed, and the like.
	for p, before := range r.known {
		if _, ok := now[p]; ok {
			continue
		}
		back := sandbox.Change{Path: p, Kind: sandbox.Changed, Old: before.New, New: before.Old}
		switch before.Kind {
		case sandbox.Added:
			back.Kind = sandbox.Removed
		case sandbox.Removed:
			back.Kind = sandbox.Added
		}
		o.Files = append(o.Files, r.file(back))
	}
	r.known = now
	slices.SortFunc(o.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	if more := len(o.Files) - MaxFiles; more > 0 {
		o.Files, o.MoreFiles = o.Files[:MaxFiles], more
	}
	return nil
}

func (r *runner) file(c sandbox.Change) File {
	f := File{Path: filepath.Join(r.Executor.Dir(), c.Path), Kind: c.Kind}
	if c.New != nil {
		f.Hash, f.Size = c.New.Hash, c.New.Size
	}
	return f
}

// same reports whether two changes of a path leave the same there.
func same(a, b sandbox.Change) bool {
	if a.New == nil || b.New == nil {
		return a.New == b.New
	}
	return *a.New == *b.New
}

// outputs describes the files that the plan knows a step to write.
func outputs(s *replay.Step) []File {
	var out []File
	for _, p := range s.Outputs {
		if len(out) == MaxFiles {
			break
		}
		info, err := os.Lstat(p)
		switch {
		case errors.Is(err, os.ErrNotExist):
			out = append(out, File{Path: p, Kind: sandbox.Removed})
		case err == nil && info.Mode().IsRegular() && info.Size() <= maxHash:
			if hash, err := hashFile(p); err == nil {
				out = append(out, File{Path: p, Kind: sandbox.Changed, Hash: hash, Size: info.Size()})
			}
		}
	}
	return out
}

func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
