package execute

import (
	"bytes"
	"sync"
	"unicode/utf8"

	"github.com/recountdb/recount/internal/recording"
)

// tail keeps the end of what is written to it. It is safe for concurrent use.
type tail struct {
	mu  sync.Mutex
	max int
	buf []byte
	cut bool
}

// Write appends to what is kept; it never fails.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - t.max; over > 0 {
		t.cut = true
		// Trim only now and then, not at each write.
		if len(t.buf) > 4*t.max {
			t.buf = append(t.buf[:0], t.buf[over:]...)
		}
	}
	return len(b), nil
}

// String returns the tail as text; if the start was cut, it begins at the start of a line.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.buf
	if over := len(b) - t.max; over > 0 {
		b = b[over:]
	}
	if t.cut {
		if nl := bytes.IndexByte(b, '\n'); nl >= 0 && nl < len(b)/2 {
			b = b[nl+1:]
		}
		for len(b) > 0 && !utf8.RuneStart(b[0]) {
			b = b[1:]
		}
	}
	return recording.Clean(string(b))
}
