package childprocess

import (
	"bytes"
	"sync"
	"unicode/utf8"

	"github.com/recountdb/recount/internal/history"
)

// Tail keeps the end of what is written to it. It is safe for concurrent use.
type Tail struct {
	mu  sync.Mutex
	Max int
	buf []byte
	cut bool
}

// Write appends to what is kept; it never fails.
func (t *Tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - t.Max; over > 0 {
		t.cut = true
		// Trim only now and then, not at each write.
		if len(t.buf) > 4*t.Max {
			t.buf = append(t.buf[:0], t.buf[over:]...)
		}
	}
	return len(b), nil
}

// String returns the tail as text; if the start was cut, it begins at the start of a line.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.buf
	if over := len(b) - t.Max; over > 0 {
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
	return history.Clean(string(b))
}
