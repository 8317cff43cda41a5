package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/api"
)

// The limits of exports. An export reads one state of the projections from its first byte to its
// last; that state stays on disk and partly in memory until the export ends, and erasures wait for
// it.
const (
	// exportWrite is the maximum time in which a client must receive exportChunk bytes. A slower
	// client is disconnected.
	exportWrite = 5 * time.Second
	exportChunk = 64 << 10
	// maxExports is the maximum number of concurrent exports, maxExportsEach the maximum per
	// principal. Others wait up to exportPatience, then get 503 with Retry-After exportAgain.
	maxExports     = 8
	maxExportsEach = 4
	exportPatience = 2 * time.Second
	exportAgain    = 5 * time.Second
)

// exports counts the running exports.
type exports struct {
	mu   sync.Mutex
	all  int
	each map[string]int
	left chan struct{} // closed when an export ends, then replaced
}

// take waits until the principal of the request may start an export. The caller calls leave when
// the export ends.
func (x *exports) take(ctx context.Context) (leave func(), err error) {
	p, _ := access.FromContext(ctx)
	who := fmt.Sprintf("%t %q %q %q %q", p.Operator, p.Tenant, p.Agent, p.Workspaces, p.Sessions)
	patience := time.NewTimer(exportPatience)
	defer patience.Stop()
	for {
		left, ok := x.enter(who)
		if ok {
			return func() { x.leave(who) }, nil
		}
		select {
		case <-left:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-patience.C:
			return nil, &againError{exportAgain, fmt.Errorf("%w: at most %d exports may run at a time, %d per token: try again later", api.ErrUnavailable, maxExports, maxExportsEach)}
		}
	}
}

func (x *exports) enter(who string) (left <-chan struct{}, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.left == nil {
		x.left, x.each = make(chan struct{}), map[string]int{}
	}
	if x.all >= maxExports || x.each[who] >= maxExportsEach {
		return x.left, false
	}
	x.all++
	x.each[who]++
	return nil, true
}

func (x *exports) leave(who string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.all--
	if x.each[who]--; x.each[who] == 0 {
		delete(x.each, who)
	}
	close(x.left)
	x.left = make(chan struct{})
}

// againError is a transient error with the time after which to retry.
type againError struct {
	after time.Duration
	err   error
}

func (e *againError) Error() string { return e.err.Error() }
func (e *againError) Unwrap() error { return e.err }

// export answers with what do writes. The answer may be large and the client slow or stalled.
func (s *server) export(ctx context.Context, w http.ResponseWriter, media string, do func(io.Writer) error) {
	lw := &lazyWriter{w: w, media: media}
	leave, err := s.exports.take(ctx)
	if err == nil {
		defer leave()
		pw := &deadlineWriter{w: lw, rc: http.NewResponseController(w), patience: exportWrite}
		if err = do(pw); err == nil {
			_, err = pw.Write(nil) // the rest that is still to be sent gets its full time as well
		}
	}
	s.stream(ctx, lw, err)
}

// deadlineWriter gives the client a fresh deadline for each piece of an answer, so that the answer
// as a whole may take any time.
type deadlineWriter struct {
	w        io.Writer
	rc       *http.ResponseController
	patience time.Duration
}

func (p *deadlineWriter) Write(b []byte) (n int, err error) {
	for {
		piece := b[n:min(len(b), n+exportChunk)]
		if err := p.rc.SetWriteDeadline(time.Now().Add(p.patience)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return n, err
		}
		m, err := p.w.Write(piece)
		if n += m; err != nil || n == len(b) {
			return n, err
		}
	}
}

// setRetryAfter sets Retry-After if err is an againError.
func setRetryAfter(w http.ResponseWriter, err error) {
	var again *againError
	if errors.As(err, &again) {
		w.Header().Set("Retry-After", strconv.Itoa(int(again.after.Seconds())))
	}
}
