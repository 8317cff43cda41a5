package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
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
type ConflictError struct {
	Paths  []string
	Partly bool // an earlier Apply has made some of the changes
}

func (e *ConflictError) Error() string {
	shown := e.Paths
	more := ""
	if len(shown) > 5 {
		shown, more = shown[:5], fmt.Sprintf(" and %d more", len(e.Paths)-5)
	}
	what := "nothing"
	if e.Partly {
		what = "nothing more"
	}
	return fmt.Sprintf("%d files changed since the replay began, so %s was applied: %s%s: discard, and replay again", len(e.Paths), what, strings.Join(shown, ", "), more)
}

// Apply makes the changes in the real directory, and returns them. Each file is replaced as a whole:
// it has its old or its new content, also after a crash, and Apply can be called again then, and goes on. If
// somebody else changed or removed a file since the sandbox was opened, nothing is applied and the error
// is a *ConflictError; nor is anything where the disk has no room for all of it. The mode of a directory that only
// somebody else changed stays. Names that commands gave to one file are names of one file. A link is never followed out of the directory. Owners and extended attributes
// are not taken over; pipes, sockets and devices are left out.
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
		return nil, &ConflictError{conflicts, s.Partly()}
	}
	if why := lacks(changes, free(s.opt.Dir), freeFiles(s.opt.Dir)); why != "" {
		return nil, fmt.Errorf("sandbox: no space left in %s: %s: nothing was applied; free some, then apply again", s.opt.Dir, why)
	}
	if len(changes) > 0 && !s.Partly() {
		s.state.Applying = len(changes)
		if err := s.state.save(s.opt.State); err != nil {
			return nil, err
		}
	}
	a := applying{s, layer{from, s.layerPath()}, to, map[string][]string{}}
	for _, names := range found.joined {
		for _, name := range names {
			a.others[name] = names
		}
	}
	if err := a.all(changes); err != nil {
		of := s.state.Applying
		if left, lost := s.Changes(); lost == nil {
			return nil, fmt.Errorf("sandbox: apply: %w: %d of %d changes are in the real directory: apply again to go on", err, max(0, of-len(left)), of)
		}
		return nil, fmt.Errorf("sandbox: apply: %w: part of the changes may be in the real directory: apply again to go on", err)
	}
	s.state.Applying = 0
	_ = s.state.save(s.opt.State) // all is there; that it was under way matters only to what is not
	return changes, nil
}

// Partly reports whether Apply began, so that part of the changes may be in the real directory.
func (s *Sandbox) Partly() bool { return s.state != nil && s.state.Applying > 0 }

// temporary returns the path beside another one under which its new content is written. It is the same each time, so
// that what a crash left is found.
func (s *Sandbox) temporary(name string) string {
	sum := sha256.Sum256([]byte(s.opt.State + "\x00" + name))
	return path.Join(path.Dir(name), ".recount-apply-"+hex.EncodeToString(sum[:8]))
}

// tidy removes what an Apply that was killed left beside the files that it did not come to. What can't be removed is
// told by the next Apply, which needs its place.
func (s *Sandbox) tidy() {
	changes, err := s.Changes()
	if err != nil {
		return
	}
	to, err := os.OpenRoot(s.opt.Dir)
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	for _, c := range changes {
		if c.New != nil && !c.New.Mode.IsDir() {
			_ = to.Remove(s.temporary(c.Path))
		}
	}
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

// filesFor returns how many more files there may be while changes are made.
func filesFor(changes []Change) (need int64) {
	replaces := int64(0)
	for _, c := range changes {
		if c.Kind == Added {
			need++
		} else if c.New != nil && !c.New.Mode.IsDir() {
			replaces = 1
		}
	}
	return need + replaces
}

// lacks says what there is no room for, "" if there is for all changes.
func lacks(changes []Change, bytes, files int64) string {
	if need := spaceFor(changes); need > bytes {
		return fmt.Sprintf("the changes need %d MiB, and %d MiB are free", (need+1<<20-1)>>20, bytes>>20)
	}
	if need := filesFor(changes); need > files {
		return fmt.Sprintf("the changes need %d more files, and there is room for %d", need, files)
	}
	return ""
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
	was, seen := s.sight(c.Path)
	info, err := to.Lstat(c.Path)
	if errors.Is(err, fs.ErrNotExist) {
		// Changes compares with what is there now, so only an addition can find nothing. Apply itself removes
		// what is to be of another type.
		return c.Old != nil || seen && was.there && !(s.Partly() && was.mode.Type() != c.New.Mode.Type())
	}
	if err != nil {
		return true
	}
	if changeTime(info) < s.state.Since {
		return false
	}
	if info.IsDir() && c.New != nil && c.New.Mode.IsDir() {
		switch {
		case !seen || info.Mode() == c.New.Mode:
			return false
		case was.there && was.mode.IsDir():
			return was.late || info.Mode() != was.mode && !(s.Partly() && info.Mode() == was.mode|unfinished)
		}
		return !s.Partly() || info.Mode().Perm() != unfinished
	}
	if info.IsDir() && c.New == nil {
		return false // a file that was added below it is a conflict of its own when it is removed
	}
	now, err := s.entryOf(layer{to, s.opt.Dir}, c.Path, info)
	return err != nil || c.New == nil || !now.equal(c.New)
}

// applying writes from the layer into the real directory.
type applying struct {
	s      *Sandbox
	from   layer
	to     *os.Root
	others map[string][]string // the names of each file that has several
}

// unfinished is the mode of a new directory until all is in it, and what others have as well.
const unfinished = 0o700

// all makes the changes.
func (a *applying) all(changes []Change) error {
	for _, c := range changes {
		if c.New != nil && c.New.Mode.IsDir() {
			if info, err := a.from.Lstat(c.Path); err == nil {
				defer a.from.lend(c.Path, info)()
			}
		}
		// What is changed in a directory may have been forbidden before.
		if c.Old != nil && c.Old.Mode.IsDir() && c.Old.Mode&unfinished != unfinished {
			if err := a.to.Chmod(c.Path, permissions(c.Old.Mode)|unfinished); err != nil {
				return err
			}
		}
	}
	// What is removed goes first, from the inside, as a file may take a directory's place.
	for i := len(changes) - 1; i >= 0; i-- {
		if c := changes[i]; c.Kind == Removed || c.Kind == Changed && c.Old.Mode.Type() != c.New.Mode.Type() {
			if err := a.to.Remove(c.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	for _, c := range changes {
		if c.Kind == Removed {
			continue
		}
		if err := a.put(c); err != nil {
			return fmt.Errorf("%s: %w", c.Path, err)
		}
	}
	// The modes of directories come last, as one may forbid to write into it.
	for i := len(changes) - 1; i >= 0; i-- {
		if c := changes[i]; c.New != nil && c.New.Mode.IsDir() {
			if err := a.to.Chmod(c.Path, permissions(c.New.Mode)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *applying) put(c Change) error {
	switch mode := c.New.Mode; {
	case mode.IsDir():
		err := a.to.Mkdir(c.Path, unfinished)
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
	tmp := a.s.temporary(name)
	err := make(tmp)
	if errors.Is(err, fs.ErrExist) { // a crash left it
		if err = a.to.Remove(tmp); err == nil {
			err = make(tmp)
		}
	}
	if err != nil {
		_ = a.to.Remove(tmp) // what is written of it; the error at hand says more
		return err
	}
	if err := a.to.Rename(tmp, name); err != nil {
		_ = a.to.Remove(tmp)
		return err
	}
	return nil
}

// file writes the new content to tmp and on to the disk.
func (a *applying) file(c Change, tmp string) error {
	info, err := a.from.Lstat(c.Path)
	if err != nil {
		return err
	}
	defer a.from.lend(c.Path, info)()
	in, err := a.from.OpenFile(c.Path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
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
