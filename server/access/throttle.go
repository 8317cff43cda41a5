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

// The delays for wrong tokens. The holder of a valid token does not wait: tokens are checked first.
const (
	// firstDelay is the delay for the first wrong token from an address; each further one doubles
	// it, up to lastDelay.
	firstDelay = 100 * time.Millisecond
	lastDelay  = 2 * time.Second
	// forgetAfter is the time without a wrong token after which the delay starts at firstDelay
	// again.
	forgetAfter = time.Minute
	// maxWaiting is the maximum number of wrong tokens of one address that wait at once. Beyond it,
	// a token is checked only if it was admitted before; otherwise a client that tries many tokens
	// at once would learn without delay which one is valid.
	maxWaiting = 16
	// maxAddresses is the maximum number of addresses, and of admitted tokens, to remember.
	maxAddresses = 4096
)

// throttle delays answers to wrong tokens, by address.
type throttle struct {
	mu    sync.Mutex
	wrong map[netip.Addr]*tries
	known map[[sha256.Size]byte]bool // hashes of admitted tokens
}

// tries counts the wrong tokens of an address.
type tries struct {
	count, waiting int
	last           time.Time
}

// AuthorizeFrom is Authorize for a request from an address, which is host:port or a host. It delays the
// answer to a wrong token, and each further one doubles the delay. Cancelling ctx ends the wait.
func (g *Gate) AuthorizeFrom(ctx context.Context, address, pattern string, authorization ...string) (schemas.Principal, *AuthError) {
	if need, _ := PermissionOf(pattern); g == nil || need == Public || len(authorization) != 1 {
		return g.Authorize(pattern, authorization...)
	}
	if _, token, _ := strings.Cut(authorization[0], " "); strings.TrimSpace(token) == "" {
		return g.Authorize(pattern, authorization...) // a missing token is not a guess
	}
	from, sum := network(address), sha256.Sum256([]byte(authorization[0]))
	if g.slow.full(from, sum) {
		return schemas.Principal{}, &AuthError{http.StatusTooManyRequests, "too many wrong tokens from this address: try again in some seconds"}
	}
	p, refusal := g.Authorize(pattern, authorization...)
	if refusal != nil && refusal.Status == http.StatusUnauthorized {
		g.slow.wait(ctx, from)
	} else {
		g.slow.admitted(sum)
	}
	return p, refusal
}

// network returns the key under which an address is counted: the address itself, or for IPv6 its
// /64 network, which one host usually has to itself.
func network(address string) netip.Addr {
	a, err := netip.ParseAddrPort(address)
	addr := a.Addr()
	if err != nil {
		addr, _ = netip.ParseAddr(address) // all invalid addresses share the zero key
	}
	addr = addr.Unmap().WithZone("")
	if addr.Is6() {
		if p, err := addr.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return addr
}

// full reports whether a token from an address must not be checked now.
func (t *throttle) full(from netip.Addr, sum [sha256.Size]byte) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.wrong[from]
	return w != nil && w.waiting >= maxWaiting && !t.known[sum]
}

// wait blocks for the delay of a wrong token, or until ctx ends.
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
			// Only addresses without a waiting request are evicted. If every address has one, the
			// new address is not remembered.
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

// admitted remembers the hash of a valid token.
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
