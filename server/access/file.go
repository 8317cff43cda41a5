package access

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// lookEvery is how often the tokens file is looked at for a change.
const lookEvery = time.Second

// File is a tokens file. It is read again when it has changed, at the first request a
// second after it was looked at last, so that a token ends or begins without a restart.
// A file that is gone or cannot be read by then changes nothing: what it said last
// stands, and the log says so, once a change.
type File struct {
	path string
	log  *slog.Logger
	now  func() time.Time

	entries atomic.Pointer[[]Entry]
	looked  atomic.Int64 // when, in nanoseconds since 1970

	mu   sync.Mutex // one look at a time
	last mark       // of the file as it was read last, or tried
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
	entries, err := f.read()
	if err != nil {
		return nil, err
	}
	f.entries.Store(&entries)
	return f, nil
}

func (f *File) read() ([]Entry, error) {
	b, err := os.ReadFile(f.path)
	if err != nil {
		return nil, err
	}
	entries, err := Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	return entries, nil
}

func (f *File) mark() mark {
	info, err := os.Stat(f.path)
	if err != nil {
		return mark{missing: true}
	}
	return mark{size: info.Size(), changed: info.ModTime(), info: info}
}

// find is the entry of a token, nil where there is none.
func (f *File) find(sum [sha256.Size]byte) *Entry {
	if now := f.now().UnixNano(); now-f.looked.Load() >= int64(lookEvery) {
		f.look(now)
	}
	return find(*f.entries.Load(), sum)
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
	m := f.mark()
	if m.same(f.last) {
		return
	}
	f.last = m
	entries, err := f.read()
	if err != nil {
		f.log.Error("tokens file not read again: what it said before stands", "err", err)
		return
	}
	f.entries.Store(&entries)
	f.log.Info("tokens file read again", "path", f.path, "tokens", len(entries))
}
