package broker

import (
	"errors"
	"sync"
	"time"
)

// bombPause is how long an address that sent a batch whose decompressed size exceeds the limit may
// send no batch with a large decompressed size.
const bombPause = 10 * time.Second

// errUnpackPause is the error for such batches from that address. Clients retry later.
var errUnpackPause = errors.New("the batch's records are large when decompressed, and this address has just sent some that were too large: try again later")

// bombs records when addresses last sent a batch whose decompressed size exceeds the limit.
type bombs struct {
	now func() time.Time

	mu   sync.Mutex
	last map[string]time.Time
}

func newBombs() *bombs { return &bombs{now: time.Now, last: map[string]time.Time{}} }

// allows reports whether large batches of an address may be unpacked. A nil bombs allows all.
func (b *bombs) allows(host string) bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	at, ok := b.last[host]
	return !ok || b.now().Sub(at) >= bombPause
}

// note records that an address has sent one.
func (b *bombs) note(host string) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for h, at := range b.last {
		if b.now().Sub(at) >= bombPause {
			delete(b.last, h)
		}
	}
	b.last[host] = b.now()
}

// sender is the client whose batch is checked; the zero value is the process itself.
type sender struct {
	bombs *bombs
	host  string
}

func (b *Broker) senderOf(c *conn) sender {
	if c.mem {
		return sender{}
	}
	return sender{b.bombs, c.host}
}
