package sandbox

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"
)

// Kinds of changes.
const (
	Added   = "added"
	Changed = "changed"
	Removed = "removed"
)

// Change is a difference between the real directory and what commands see.
type Change struct {
	Path string `json:"path"` // relative to Dir
	Kind string `json:"kind"`
	Old  *Entry `json:"old,omitempty"`
	New  *Entry `json:"new,omitempty"`
}

// Entry is what is at a path.
type Entry struct {
	Mode fs.FileMode `json:"mode"`
	Size int64       `json:"size,omitempty"` // of a regular file
	Hash string      `json:"hash,omitempty"` // SHA-256 of a regular file's content, in hex
	Link string      `json:"link,omitempty"` // where a symbolic link points
}

func (e *Entry) equal(o *Entry) bool {
	return e.Mode == o.Mode && e.Size == o.Size && e.Hash == o.Hash && e.Link == o.Link
}

// ErrNoView is returned for a sandbox with IsolationNone, whose commands changed the real files.
var ErrNoView = errors.New("without isolation commands change the files themselves, so there is no difference to look at or to apply")

// Changes returns what commands changed in Dir, in the order of paths. Hashes of files that did
// not change since the last call are not computed again.
func (s *Sandbox) Changes() ([]Change, error) {
	c, err := s.compare()
	if err != nil {
		return nil, err
	}
	return c.out, nil
}

// compare compares what commands see with the real directory.
func (s *Sandbox) compare() (*comparison, error) {
	if s.state == nil {
		return nil, ErrNoView
	}
	lower, err := os.OpenRoot(s.opt.Dir)
	if err != nil {
		return nil, fmt.Errorf("sandbox: changes: %w", err)
	}
	defer func() { _ = lower.Close() }()
	upper, err := os.OpenRoot(s.layerPath())
	if err != nil {
		return nil, fmt.Errorf("sandbox: changes: %w", err)
	}
	defer func() { _ = upper.Close() }()
	c := &comparison{s: s, lower: layer{lower, s.opt.Dir}, upper: layer{upper, s.layerPath()}, joined: map[file][]string{}}
	if err := c.dir(".", true, s.state.Copy); err != nil {
		return nil, fmt.Errorf("sandbox: changes: %w", err)
	}
	if err := s.see(c.seen); err != nil {
		return nil, err
	}
	slices.SortFunc(c.out, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return c, nil
}

// layerPath is the directory that has what commands wrote.
func (s *Sandbox) layerPath() string {
	if s.state.Copy {
		return filepath.Join(s.opt.State, "copy")
	}
	return filepath.Join(s.opt.State, "upper")
}

// layer is a directory, opened so that no link leads out of it.
type layer struct {
	*os.Root
	path string
}

// lend lets the user read what a command took the user's own rights of, until the function that it returns is called.
func (l layer) lend(rel string, info fs.FileInfo) func() {
	need := fs.FileMode(0o400)
	if info.IsDir() {
		need = 0o500
	}
	if info.Mode()&need == need || os.Geteuid() == 0 || l.Chmod(rel, permissions(info.Mode())|need) != nil {
		return func() {}
	}
	return func() { _ = l.Chmod(rel, permissions(info.Mode())) }
}

type comparison struct {
	s            *Sandbox
	lower, upper layer
	out          []Change
	joined       map[file][]string // the names in the upper layer of each file that has several
	seen         []sight
}

// dir compares a directory of the upper layer with the lower one. hasLower says that there is
// one, and whole that what is not in the upper layer is removed.
func (c *comparison) dir(rel string, hasLower, whole bool) error {
	entries, err := fs.ReadDir(c.upper.FS(), rel)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, e := range entries {
		seen[e.Name()] = true
		if err := c.entry(path.Join(rel, e.Name()), hasLower, whole); err != nil {
			return err
		}
	}
	if !hasLower || !whole {
		return nil
	}
	below, err := fs.ReadDir(c.lower.FS(), rel)
	if err != nil {
		return err
	}
	for _, e := range below {
		name := path.Join(rel, e.Name())
		if seen[e.Name()] || c.s.state.Copy && !c.s.copied(name) {
			continue
		}
		if err := c.removed(name); err != nil {
			return err
		}
	}
	return nil
}

// entry compares one path that is in the upper layer. What is gone since it was listed, or has become something else, is
// left to the next call: steps that run beside may change anything at any time.
func (c *comparison) entry(rel string, hasLower, whole bool) error {
	before := len(c.out)
	info, err := c.upper.Lstat(rel)
	if err == nil {
		err = c.compare(rel, info, hasLower, whole)
	}
	if err != nil && (gone(err) || info != nil && !c.upper.still(rel, info)) {
		c.out = c.out[:before]
		return nil
	}
	return err
}

// gone reports whether an error says that a path is not there any more.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// still reports whether a path is what it was when it was looked at.
func (l layer) still(rel string, was fs.FileInfo) bool {
	is, err := l.Lstat(rel)
	return err == nil && os.SameFile(was, is) && was.Mode().Type() == is.Mode().Type()
}

func (c *comparison) compare(rel string, info fs.FileInfo, hasLower, whole bool) (err error) {
	var old fs.FileInfo
	if hasLower {
		if old, err = c.lower.Lstat(rel); err != nil && !gone(err) {
			return err
		}
	}
	if f, ok := joined(info); ok {
		c.joined[f] = append(c.joined[f], rel)
	}
	// In a copy, what has not been touched since it was made needs no comparison.
	if c.s.state.Copy && !info.IsDir() && changeTime(info) < c.s.state.Copied {
		return nil
	}
	was := c.look(rel, old)
	if isWhiteout(info) {
		if old == nil {
			return nil
		}
		return c.removed(rel)
	}
	if old != nil && old.IsDir() && !info.IsDir() {
		if err := c.below(rel); err != nil {
			return err
		}
	}
	now, err := c.s.entryOf(c.upper, rel, info)
	if err != nil {
		return err
	}
	change := Change{Path: rel, Kind: Added, New: now}
	if old != nil {
		change.Kind = Changed
		if change.Old, err = c.s.entryOf(c.lower, rel, old); err != nil {
			return err
		}
	}
	kept := was.keeps(info)
	if kept && old != nil && old.IsDir() {
		now.Mode = old.Mode() // another mode than it had is somebody else's
	}
	before := len(c.out)
	if old == nil || !change.Old.equal(change.New) {
		c.out = append(c.out, change)
	}
	if !info.IsDir() {
		return nil
	}
	both := old != nil && old.IsDir()
	defer c.upper.lend(rel, info)()
	if err := c.dir(rel, both, whole || isOpaque(filepath.Join(c.upper.path, rel))); err != nil {
		return err
	}
	if kept && old == nil && len(c.out) == before+1 {
		c.out = c.out[:before] // somebody else removed it, and commands changed nothing in it
	}
	return nil
}

// removed notes that a path and all below it are removed.
func (c *comparison) removed(rel string) error {
	info, err := c.lower.Lstat(rel)
	if gone(err) {
		return nil // somebody else removed it
	}
	if err != nil {
		return err
	}
	c.look(rel, info)
	old, err := c.s.entryOf(c.lower, rel, info)
	if err != nil {
		return err
	}
	c.out = append(c.out, Change{Path: rel, Kind: Removed, Old: old})
	if info.IsDir() {
		return c.below(rel)
	}
	return nil
}

// below notes that all below a directory is removed.
func (c *comparison) below(rel string) error {
	entries, err := fs.ReadDir(c.lower.FS(), rel)
	if err != nil && !errors.Is(err, fs.ErrPermission) { // then it was removed as an empty one
		return err
	}
	for _, e := range entries {
		if err := c.removed(path.Join(rel, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// hashed is the hash of a file that had this size and change time.
type hashed struct {
	size, changed int64
	hash          string
}

// entryOf describes a path of a tree.
func (s *Sandbox) entryOf(t layer, rel string, info fs.FileInfo) (*Entry, error) {
	e := &Entry{Mode: info.Mode()}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		link, err := t.Readlink(rel)
		e.Link = link
		return e, err
	case info.Mode().IsRegular():
		e.Size = info.Size()
		full := filepath.Join(t.path, rel)
		s.mu.Lock()
		known := s.hashes[full]
		s.mu.Unlock()
		if known.hash != "" && known.size == info.Size() && known.changed == changeTime(info) {
			e.Hash = known.hash
			return e, nil
		}
		if t.path == s.layerPath() {
			defer t.lend(rel, info)()
		}
		hash, size, err := hashFile(t.Root, rel)
		if errors.Is(err, fs.ErrPermission) {
			return e, nil // nobody can tell its content
		}
		if err != nil {
			return nil, err
		}
		e.Hash, e.Size = hash, size // it may have grown meanwhile
		s.mu.Lock()
		s.hashes[full] = hashed{size, changeTime(info), hash}
		s.mu.Unlock()
	}
	return e, nil
}

// hashFile returns the hash of a file's content and how long that is.
func hashFile(root *os.Root, rel string) (string, int64, error) {
	// A pipe that has taken the file's place must not be waited for.
	f, err := root.OpenFile(rel, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	size, err := io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), size, err
}
