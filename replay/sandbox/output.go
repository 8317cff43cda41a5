package sandbox

import (
	"fmt"
	"sync"
)

// bounded keeps the first and the last half of at most max bytes, and counts the rest.
type bounded struct {
	mu      sync.Mutex
	max     int
	head    []byte
	tail    []byte // the last max/2 bytes beyond the head, from at on, and around
	at      int
	total   int64
	closed  bool
	observe func([]byte)
}

// Write keeps what fits. After close it keeps nothing, so that a process that was left behind can
// go on printing.
func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return len(p), nil
	}
	if b.observe != nil {
		b.observe(p)
	}
	n := len(p)
	b.total += int64(n)
	if room := b.max/2 - len(b.head); room > 0 {
		take := min(room, len(p))
		b.head = append(b.head, p[:take]...)
		p = p[take:]
	}
	limit := b.max - b.max/2
	if len(p) > limit {
		p = p[len(p)-limit:]
	}
	if room := limit - len(b.tail); room > 0 {
		take := min(room, len(p))
		b.tail = append(b.tail, p[:take]...)
		p = p[take:]
	}
	for len(p) > 0 {
		took := copy(b.tail[b.at:], p)
		p = p[took:]
		b.at = (b.at + took) % len(b.tail)
	}
	return n, nil
}

// text returns the beginning of what was kept.
func (b *bounded) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.head)
}

// close ends the collecting and returns what was kept, and how many bytes were not.
func (b *bounded) close() (text string, dropped int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	dropped = b.total - int64(len(b.head)) - int64(len(b.tail))
	tail := string(b.tail[b.at:]) + string(b.tail[:b.at])
	if dropped == 0 {
		return string(b.head) + tail, 0
	}
	return fmt.Sprintf("%s\n… %d bytes left out …\n%s", b.head, dropped, tail), dropped
}
