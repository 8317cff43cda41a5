package access

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/recountdb/recount/internal/secretfile"
)

// lookEvery is the minimum time between two checks of the tokens file for changes.
const lookEvery = time.Second

// File is a tokens file. A request re-reads it if it has changed and the last check was at least
// lookEvery ago, so that tokens take effect or end without a restart.
//
// What cannot be read is not in force: an entry with a mistake disables its token, and a file that
// is missing or is not valid YAML disables every token, until it is fixed. So no mistake keeps a
// token alive that the operator removed or narrowed. Each change is logged once.
type File struct {
	path string
	log  *slog.Logger
	now  func() time.Time

	said   atomic.Pointer[said]
	looked atomic.Int64 // time of the last check, in nanoseconds since 1970

	mu   sync.Mutex // serialises look
	last mark       // of the file as it was when read last
}

// said is the content of a tokens file as read, empty if err is set.
type said struct {
	Tokens
	err error
}

// mark identifies a version of a file; a different mark means that the file has changed.
type mark struct {
	size    int64
	changed time.Time
	missing bool
	info    fs.FileInfo
}

func (m mark) same(o mark) bool {
	return m.size == o.size && m.changed.Equal(o.changed) && m.missing == o.missing && (m.missing || os.SameFile(m.info, o.info))
}

// OpenFile reads a tokens file. It fails if any entry has a mistake. Later changes are reported to
// log, which may be nil.
func OpenFile(path string, log *slog.Logger) (*File, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	f := &File{path: path, log: log, now: time.Now}
	f.last = f.mark()
	f.looked.Store(f.now().UnixNano())
	now := f.read()
	if now.err != nil {
		return nil, now.err
	}
	var wrong []error
	for _, m := range now.Mistakes {
		wrong = append(wrong, fmt.Errorf("%s: %w", path, m))
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	f.said.Store(&now)
	return f, nil
}

func (f *File) read() (now said) {
	b, err := os.ReadFile(f.path)
	if err != nil {
		return said{err: err}
	}
	// Others may read hashes, but whoever can write them can admit any token.
	if err := secretfile.CheckWriters(f.path); err != nil {
		return said{err: err}
	}
	if now.Tokens, err = Parse(b); err != nil {
		now.err = fmt.Errorf("%s: %w", f.path, err)
	}
	return now
}

func (f *File) mark() mark {
	info, err := os.Stat(f.path)
	if err != nil {
		return mark{missing: true}
	}
	return mark{size: info.Size(), changed: info.ModTime(), info: info}
}

// current returns the content of the file, at most a second old.
func (f *File) current() *said {
	if now := f.now().UnixNano(); now-f.looked.Load() >= int64(lookEvery) {
		f.look(now)
	}
	return f.said.Load()
}

// look re-reads the file if it has changed. Concurrent callers return at once and use the previous
// content.
func (f *File) look(now int64) {
	if !f.mu.TryLock() {
		return
	}
	defer f.mu.Unlock()
	f.looked.Store(now)
	// The mark is taken before the text is read, so a change in between is seen the next time.
	m, before := f.mark(), f.said.Load()
	unread := before.err != nil && !errors.As(before.err, new(*ParseError))
	if m.same(f.last) && !unread {
		return
	}
	f.last = m
	next := f.read()
	f.said.Store(&next)
	switch {
	case next.err != nil && before.err != nil && next.err.Error() == before.err.Error():
	case next.err != nil:
		f.log.Error("tokens file cannot be read: none of its tokens is in force", "err", next.err)
	default:
		for _, m := range next.Mistakes {
			f.log.Error("the tokens file has a mistake: the entry is not in force", "path", f.path, "err", m)
		}
		f.log.Info("tokens file read again", "path", f.path, "tokens", len(next.Entries))
	}
}

// line returns the file's base name, with the line number of a mistake unless it is 0.
func (f *File) line(line int) string {
	name := filepath.Base(f.path)
	if line == 0 {
		return name
	}
	return fmt.Sprintf("%s:%d", name, line)
}

// FileState is the state of a tokens file.
type FileState struct {
	Path string
	// InForce counts the entries whose tokens are admitted, or were admitted until they expired.
	InForce int
	// Mistakes lists what is not in force, and why.
	Mistakes []string
}

// State returns the current state of the file.
func (f *File) State() FileState {
	now := f.current()
	s := FileState{Path: f.path, InForce: len(now.Entries)}
	if now.err != nil {
		s.Mistakes = []string{now.err.Error()}
	}
	for _, m := range now.Mistakes {
		s.Mistakes = append(s.Mistakes, m.Error())
	}
	return s
}
