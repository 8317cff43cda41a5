package access

import (
	"context"
	"crypto/sha256"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/recountdb/recount/schemas"
)

// What a wrong token costs. Nobody who has a right one waits: it is looked at first.
const (
	// firstDelay is what the first wrong token of an address takes; each further one
	// takes twice as long, up to lastDelay.
	firstDelay = 100 * time.Millisecond
	lastDelay  = 2 * time.Second
	// forgetAfter is how long without a wrong token an address begins anew.
	forgetAfter = time.Minute
	// maxWaiting is how many wrong tokens of an address may be waiting at once. With so
	// many, a token is looked at only if it was admitted before: else who tries many at
	// once would be told without a delay which is right.
	maxWaiting = 16
	// maxAddresses bounds what is remembered, of addresses and of tokens admitted.
	maxAddresses = 4096
)

// throttle makes wrong tokens cost time, by address.
type throttle struct {
	mu    sync.Mutex
	wrong map[netip.Addr]*tries
	known map[[sha256.Size]byte]bool // hashes of what was admitted
}

// tries are the wrong tokens of an address.
type tries struct {
	count, waiting int
	last           time.Time
}

// EnterFrom is Enter for a request that comes from an address, host:port or a host. A
// wrong token is answered late, the later the more of them came; the context ends the
// wait.
func (g *Gate) EnterFrom(ctx context.Context, address, pattern string, authorization ...string) (schemas.Principal, *Refusal) {
	if need, _ := NeedOf(pattern); g == nil || need == Nothing || len(authorization) != 1 {
		return g.Enter(pattern, authorization...)
	}
	if _, token, _ := strings.Cut(authorization[0], " "); strings.TrimSpace(token) == "" {
		return g.Enter(pattern, authorization...) // no token is no guess
	}
	from, sum := network(address), sha256.Sum256([]byte(authorization[0]))
	if g.slow.full(from, sum) {
		return schemas.Principal{}, &Refusal{http.StatusTooManyRequests, "too many wrong tokens from this address: try again in some seconds"}
	}
	p, refusal := g.Enter(pattern, authorization...)
	if refusal != nil && refusal.Status == http.StatusUnauthorized {
		g.slow.wait(ctx, from)
	} else {
		g.slow.admitted(sum)
	}
	return p, refusal
}

// network is whom an address counts as: itself, or of IPv6 the 64 bits that one host has
// at its disposal.
func network(address string) netip.Addr {
	a, err := netip.ParseAddrPort(address)
	addr := a.Addr()
	if err != nil {
		addr, _ = netip.ParseAddr(address) // what is no address counts as one
	}
	addr = addr.Unmap().WithZone("")
	if addr.Is6() {
		if p, err := addr.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return addr
}

// full reports whether a token of an address is not to be looked at now.
func (t *throttle) full(from netip.Addr, sum [sha256.Size]byte) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.wrong[from]
	return w != nil && w.waiting >= maxWaiting && !t.known[sum]
}

// wait takes the time that a wrong token costs.
func (t *throttle) wait(ctx context.Context, from netip.Addr) {
	delay := t.begin(from, time.Now())
	defer t.end(from)
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (t *throttle) begin(from netip.Addr, now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.wrong[from]
	if w == nil {
		if t.wrong == nil {
			t.wrong = map[netip.Addr]*tries{}
		}
		for a, o := range t.wrong {
			if len(t.wrong) < maxAddresses {
				break
			}
			// Those that nobody waits for may go; all wait, and one goes without.
			if o.waiting == 0 {
				delete(t.wrong, a)
			}
		}
		w = &tries{}
		if len(t.wrong) < maxAddresses {
			t.wrong[from] = w
		}
	}
	if now.Sub(w.last) > forgetAfter {
		w.count = 0
	}
	w.count, w.last = w.count+1, now
	w.waiting++
	return min(firstDelay<<min(w.count-1, 10), lastDelay)
}

func (t *throttle) end(from netip.Addr) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w := t.wrong[from]; w != nil {
		w.waiting--
	}
}

// admitted remembers a token that is right.
func (t *throttle) admitted(sum [sha256.Size]byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known[sum] {
		return
	}
	if t.known == nil || len(t.known) >= maxAddresses {
		t.known = map[[sha256.Size]byte]bool{}
	}
	t.known[sum] = true
}
