package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// sight is what was in the real directory at a path when Changes first came to it, or when it was copied: what
// somebody else does there later is told by it from what commands did.
type sight struct {
	path  string
	there bool
	mode  fs.FileMode // if it was there
	// late says that it had changed since the sandbox was opened, so that its mode may have been another one before.
	late bool
}

// keeps reports whether what the layer has is a directory with the mode that the real one had.
func (w sight) keeps(info fs.FileInfo) bool {
	return w.there && !w.late && info.IsDir() && w.mode == info.Mode()
}

// sightOf describes what is at a real path; info is nil where nothing is.
func (s *Sandbox) sightOf(rel string, info fs.FileInfo) sight {
	w := sight{path: rel, there: info != nil}
	if w.there {
		w.mode, w.late = info.Mode(), changeTime(info) >= s.state.Since
	}
	return w
}

// look returns what was first seen at a real path, which is now if it was never looked at.
func (c *comparison) look(rel string, info fs.FileInfo) sight {
	if w, ok := c.s.sight(rel); ok {
		return w
	}
	w := c.s.sightOf(rel, info)
	c.seen = append(c.seen, w)
	return w
}

// sight returns what was first seen at a real path.
func (s *Sandbox) sight(rel string) (sight, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, ok := s.seen[rel]
	return w, ok
}

// copied reports whether a copy was made of a path. One of an earlier version of this program did not note that.
func (s *Sandbox) copied(rel string) bool {
	_, ok := s.sight(rel)
	_, noted := s.sight(".")
	return ok || !noted
}

// seenFile is in State, with a line for each sight: its mode or -1, whether it is late, and the path.
const (
	seenFile = "seen"
	seenLine = "%d %t %q\n"
)

// see remembers sights, also for a later sandbox with the same State. A crash may leave half a line, so
// each call begins a new one.
func (s *Sandbox) see(all []sight) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines bytes.Buffer
	for _, w := range all {
		if _, again := s.seen[w.path]; again {
			continue
		}
		s.seen[w.path] = w
		mode := int64(w.mode)
		if !w.there {
			mode = -1
		}
		fmt.Fprintf(&lines, seenLine, mode, w.late, w.path)
	}
	if lines.Len() == 0 {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(s.opt.State, seenFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	_, err = f.WriteString("\n" + lines.String())
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	return nil
}

// loadSeen reads what earlier sandboxes with the same State have seen.
func loadSeen(stateDir string) (map[string]sight, error) {
	seen := map[string]sight{}
	b, err := os.ReadFile(filepath.Join(stateDir, seenFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	for line := range strings.Lines(string(b)) {
		var w sight
		var mode int64
		if _, err := fmt.Sscanf(line, seenLine, &mode, &w.late, &w.path); err != nil {
			continue
		}
		if _, again := seen[w.path]; !again {
			w.there, w.mode = mode >= 0, fs.FileMode(max(0, mode))
			seen[w.path] = w
		}
	}
	return seen, nil
}
