package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// ConflictError names files of the real directory that somebody else changed after the sandbox was
// opened, and that Apply would change too.
type ConflictError struct{ Paths []string }

func (e *ConflictError) Error() string {
	shown := e.Paths
	more := ""
	if len(shown) > 5 {
		shown, more = shown[:5], fmt.Sprintf(" and %d more", len(e.Paths)-5)
	}
	return fmt.Sprintf("%d files changed since the replay began, so nothing was applied: %s%s: discard, and replay again", len(e.Paths), strings.Join(shown, ", "), more)
}

// Apply makes the changes in the real directory, and returns them. Each file is replaced as a whole:
// it has its old or its new content, also after a crash, and Apply can be called again then. If a
// file was changed by somebody else since the sandbox was opened, nothing is applied and the error
// is a *ConflictError; nor is anything where the disk has no room for all of it. Names that commands gave to one file
// are names of one file. A link is never followed out of the directory. Owners and extended attributes are not taken
// over; pipes, sockets and devices are left out.
func (s *Sandbox) Apply() ([]Change, error) {
	found, err := s.compare()
	if err != nil {
		return nil, err
	}
	changes := found.out
	to, err := os.OpenRoot(s.opt.Dir)
	if err != nil {
		return nil, fmt.Errorf("sandbox: apply: %w", err)
	}
	defer func() { _ = to.Close() }()
	from, err := os.OpenRoot(s.layerPath())
	if err != nil {
		return nil, fmt.Errorf("sandbox: apply: %w", err)
	}
	defer func() { _ = from.Close() }()
	var conflicts []string
	replaced := map[string]bool{} // the links whose place directories take
	for _, c := range changes {
		if c.Old != nil && c.Old.Mode&fs.ModeSymlink != 0 && c.New != nil && c.New.Mode.IsDir() {
			replaced[c.Path] = true
		}
		if s.conflicts(to, c, replaced) {
			conflicts = append(conflicts, c.Path)
		}
	}
	if len(conflicts) > 0 {
		return nil, &ConflictError{conflicts}
	}
	if need, left := spaceFor(changes), free(s.opt.Dir); need > left {
		return nil, fmt.Errorf("sandbox: no space left: the changes need %d MiB in %s, and %d MiB are free: nothing was applied; free some, then apply again", (need+1<<20-1)>>20, s.opt.Dir, left>>20)
	}
	a := applying{s: s, from: from, to: to, others: map[string][]string{}}
	for _, names := range found.joined {
		for _, name := range names {
			a.others[name] = names
		}
	}
	// What is removed goes first, from the inside, as a file may take a directory's place.
	for i := len(changes) - 1; i >= 0; i-- {
		if c := changes[i]; c.Kind == Removed || c.Kind == Changed && c.Old.Mode.Type() != c.New.Mode.Type() {
			if err := to.Remove(c.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("sandbox: apply: %w", err)
			}
		}
	}
	for _, c := range changes {
		if c.Kind == Removed {
			continue
		}
		if err := a.put(c); err != nil {
			return nil, fmt.Errorf("sandbox: apply %s: %w", c.Path, err)
		}
	}
	// The modes of directories come last, as one may forbid to write into it.
	for i := len(changes) - 1; i >= 0; i-- {
		if c := changes[i]; c.New != nil && c.New.Mode.IsDir() {
			if err := to.Chmod(c.Path, permissions(c.New.Mode)); err != nil {
				return nil, fmt.Errorf("sandbox: apply: %w", err)
			}
		}
	}
	return changes, nil
}

// permissions returns the mode that a directory is given: also whose files may be removed, and of which group they are.
func permissions(mode fs.FileMode) fs.FileMode {
	return mode & (fs.ModePerm | fs.ModeSticky | fs.ModeSetgid)
}

// spaceFor returns how much more of the disk changes may take while they are made: each file is written
// beside the one that it replaces.
func spaceFor(changes []Change) (need int64) {
	var largest int64
	for _, c := range changes {
		if c.New == nil || !c.New.Mode.IsRegular() {
			continue
		}
		more := c.New.Size
		if c.Old != nil && c.Old.Mode.IsRegular() {
			more = max(0, more-c.Old.Size)
		}
		need, largest = need+more, max(largest, c.New.Size)
	}
	return need + largest
}

// conflicts reports whether the real path is not what it was when the sandbox was opened, and not
// what it is to become either. What is below a link that the changes replace is new.
func (s *Sandbox) conflicts(to *os.Root, c Change, replaced map[string]bool) bool {
	below := false
	for dir := path.Dir(c.Path); dir != "."; dir = path.Dir(dir) {
		info, err := to.Lstat(dir)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 && !replaced[dir] {
			return true // it was a directory when commands wrote below it
		}
		below = below || replaced[dir]
	}
	if below {
		return false
	}
	info, err := to.Lstat(c.Path)
	if errors.Is(err, fs.ErrNotExist) {
		// Changes compares with what is there now, so only an addition can find nothing.
		return c.Old != nil
	}
	if err != nil {
		return true
	}
	if changeTime(info) < s.state.Since || info.IsDir() && c.New != nil && c.New.Mode.IsDir() {
		return false
	}
	if info.IsDir() && c.New == nil {
		return false // a file that was added below it is a conflict of its own when it is removed
	}
	now, err := s.entryOf(layer{to, s.opt.Dir}, c.Path, info)
	return err != nil || c.New == nil || !now.equal(c.New)
}

// applying writes from the layer into the real directory.
type applying struct {
	s        *Sandbox
	from, to *os.Root
	others   map[string][]string // the names of each file that has several
	n        int
}

func (a *applying) put(c Change) error {
	switch mode := c.New.Mode; {
	case mode.IsDir():
		err := a.to.Mkdir(c.Path, 0o700)
		if errors.Is(err, fs.ErrExist) {
			return nil // the mode follows at the end
		}
		return err
	case mode&fs.ModeSymlink != 0:
		return a.replace(c.Path, func(tmp string) error { return a.to.Symlink(c.New.Link, tmp) })
	case mode.IsRegular():
		other := a.other(c)
		return a.replace(c.Path, func(tmp string) error {
			if other != "" {
				if err := a.to.Link(other, tmp); err == nil || errors.Is(err, fs.ErrExist) {
					return err
				}
			}
			return a.file(c, tmp)
		})
	}
	return nil
}

// other returns another name of a file that the real directory has already as it is to be, "" if there is none.
func (a *applying) other(c Change) string {
	for _, name := range a.others[c.Path] {
		info, err := a.to.Lstat(name)
		if err != nil || name == c.Path {
			continue
		}
		if is, err := a.s.entryOf(layer{a.to, a.s.opt.Dir}, name, info); err == nil && is.equal(c.New) {
			return name
		}
	}
	return ""
}

// replace makes something under a name beside path, and then renames it.
func (a *applying) replace(name string, make func(tmp string) error) error {
	var tmp string
	for {
		a.n++
		tmp = path.Join(path.Dir(name), fmt.Sprintf(".recount-apply-%d-%d", os.Getpid(), a.n))
		err := make(tmp)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			_ = a.to.Remove(tmp) // what is written of it; the error at hand says more
			return err
		}
	}
	if err := a.to.Rename(tmp, name); err != nil {
		_ = a.to.Remove(tmp)
		return err
	}
	return nil
}

// file writes the new content to tmp and on to the disk.
func (a *applying) file(c Change, tmp string) error {
	in, err := a.from.OpenFile(c.Path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := a.to.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Chmod(c.New.Mode.Perm())
	}
	if err == nil {
		err = out.Sync()
	}
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = a.to.Chtimes(tmp, info.ModTime(), info.ModTime())
	}
	return err
}
