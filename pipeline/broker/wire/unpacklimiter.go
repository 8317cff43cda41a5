package wire

import (
	"errors"
	"sync"
	"time"
)

// unpackPause is how long an address that sent a batch whose decompressed size exceeds the limit may
// send no batch with a large decompressed size.
const unpackPause = 10 * time.Second

// errUnpackPause is the error for such batches from that address. Clients retry later.
var errUnpackPause = errors.New("the batch's records are large when decompressed, and this address has just sent some that were too large: try again later")

// UnpackLimiter refuses, for some time, large batches from addresses that sent one whose decompressed
// size exceeds the limit. A nil limiter refuses nothing.
type UnpackLimiter struct {
	now func() time.Time

	mu   sync.Mutex
	last map[string]time.Time
}

// NewUnpackLimiter returns a limiter that has refused nobody yet.
func NewUnpackLimiter() *UnpackLimiter {
	return &UnpackLimiter{now: time.Now, last: map[string]time.Time{}}
}

// allows reports whether large batches of an address may be unpacked. A nil limiter allows all.
func (l *UnpackLimiter) allows(host string) bool {
	if l == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	at, ok := l.last[host]
	return !ok || l.now().Sub(at) >= unpackPause
}

// note records that an address has sent one.
func (l *UnpackLimiter) note(host string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for h, at := range l.last {
		if l.now().Sub(at) >= unpackPause {
			delete(l.last, h)
		}
	}
	l.last[host] = l.now()
}

// Sender returns the client at an address, for CheckBatch.
func (l *UnpackLimiter) Sender(host string) Sender { return Sender{l, host} }

// Sender is the client whose batch is checked; the zero value is the process itself.
type Sender struct {
	limiter *UnpackLimiter
	host    string
}
