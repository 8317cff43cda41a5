package access

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// lookEvery is how often the tokens file is looked at for a change.
const lookEvery = time.Second

// File is a tokens file. It is read again when it has changed, at the first request a
// second after it was looked at last, so that a token ends or begins without a restart.
//
// What cannot be read is not in force: of an entry with a mistake its token, of a file
// that is gone or no YAML every token, until it is mended. So no mistake keeps a token
// alive that the operator took out or narrowed. The log says so, once a change.
type File struct {
	path string
	log  *slog.Logger
	now  func() time.Time

	said   atomic.Pointer[said]
	looked atomic.Int64 // when, in nanoseconds since 1970

	mu   sync.Mutex // one look at a time
	last mark       // of the file as it was read last, or tried
}

// said is what a tokens file said when it was read; nothing, where err is why it could
// not be.
type said struct {
	Tokens
	err error
}

// mark is what tells that a file has changed.
type mark struct {
	size    int64
	changed time.Time
	missing bool
	info    fs.FileInfo
}

func (m mark) same(o mark) bool {
	return m.size == o.size && m.changed.Equal(o.changed) && m.missing == o.missing && (m.missing || os.SameFile(m.info, o.info))
}

// OpenFile reads a tokens file. log is told when it has changed; nil is silence.
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
	// Hashes may be read by others; who writes them lets in whom he likes.
	if mode, err := modeOf(f.path); err == nil && !strings.HasPrefix(f.path, mounted) {
		if err := checkWriters(f.path, mode); err != nil {
			return said{err: err}
		}
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

// current is what the file says, as of a second ago at most.
func (f *File) current() *said {
	if now := f.now().UnixNano(); now-f.looked.Load() >= int64(lookEvery) {
		f.look(now)
	}
	return f.said.Load()
}

// look reads the file again if it has changed. Others that come meanwhile go on with
// what it said before.
func (f *File) look(now int64) {
	if !f.mu.TryLock() {
		return
	}
	defer f.mu.Unlock()
	f.looked.Store(now)
	// The mark before the text: a change in between is seen the next time.
	m, before := f.mark(), f.said.Load()
	unread := before.err != nil && !errors.As(before.err, new(*Mistake))
	if m.same(f.last) && !unread {
		return
	}
	f.last = m
	next := f.read()
	f.said.Store(&next)
	switch {
	case next.err != nil && before.err != nil && next.err.Error() == before.err.Error():
	case next.err != nil:
		f.log.Error("tokens file not read: no token of it is in force", "err", next.err)
	default:
		for _, m := range next.Mistakes {
			f.log.Error("a mistake in the tokens file: its entry is not in force", "path", f.path, "err", m)
		}
		f.log.Info("tokens file read again", "path", f.path, "tokens", len(next.Entries))
	}
}

// line says where in the file a mistake is, without the file's folder.
func (f *File) line(line int) string {
	name := filepath.Base(f.path)
	if line == 0 {
		return name
	}
	return fmt.Sprintf("%s:%d", name, line)
}

// FileState is how a tokens file stands.
type FileState struct {
	Path string
	// InForce counts the entries whose tokens are admitted, or were until they expired.
	InForce int
	// Mistakes say what is not in force, and why; Whole that it is every token.
	Mistakes []string
	Whole    bool
}

// State is how the file stands now.
func (f *File) State() FileState {
	now := f.current()
	s := FileState{Path: f.path, InForce: len(now.Entries)}
	if now.err != nil {
		s.Mistakes, s.Whole = []string{now.err.Error()}, true
	}
	for _, m := range now.Mistakes {
		s.Mistakes = append(s.Mistakes, m.Error())
	}
	return s
}
