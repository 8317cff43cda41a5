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

// What an export may hold of the server: it reads one state of the projections from its
// first byte to its last, which stays on disk and partly in memory meanwhile, and an
// erasure waits for it.
const (
	// exportWrite is how long a client may take to receive exportChunk bytes. One that
	// takes longer does not read, and is cut off.
	exportWrite = 5 * time.Second
	exportChunk = 64 << 10
	// maxExports are under way at once, and maxExportsEach of one principal; others wait
	// exportPatience and are told to come again.
	maxExports     = 8
	maxExportsEach = 4
	exportPatience = 2 * time.Second
	exportAgain    = 5 * time.Second
)

// exports are those under way.
type exports struct {
	mu   sync.Mutex
	all  int
	each map[string]int
	left chan struct{} // closed when one ends, and made anew
}

// take waits for a place among the exports, of the principal of the request.
func (x *exports) take(ctx context.Context) (leave func(), err error) {
	p, _ := access.Of(ctx)
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
			return nil, &againError{exportAgain, fmt.Errorf("%w: %d exports are under way at most, %d of one token: come again", api.ErrUnavailable, maxExports, maxExportsEach)}
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

// againError is one that passes, with when to come again.
type againError struct {
	after time.Duration
	err   error
}

func (e *againError) Error() string { return e.err.Error() }
func (e *againError) Unwrap() error { return e.err }

// export answers with what do writes, which may be much, to a client that may not read.
func (s *server) export(ctx context.Context, w http.ResponseWriter, media string, do func(io.Writer) error) {
	lw := &lazyWriter{w: w, media: media}
	leave, err := s.exports.take(ctx)
	if err == nil {
		defer leave()
		pw := &patientWriter{w: lw, rc: http.NewResponseController(w), patience: exportWrite}
		if err = do(pw); err == nil {
			_, err = pw.Write(nil) // what is still to be sent gets its time as well
		}
	}
	s.stream(ctx, lw, err)
}

// patientWriter gives a client so long for each piece of an answer, however long it is as
// a whole.
type patientWriter struct {
	w        io.Writer
	rc       *http.ResponseController
	patience time.Duration
}

func (p *patientWriter) Write(b []byte) (n int, err error) {
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

// tellAgain says in a header when to come again.
func tellAgain(w http.ResponseWriter, err error) {
	var again *againError
	if errors.As(err, &again) {
		w.Header().Set("Retry-After", strconv.Itoa(int(again.after.Seconds())))
	}
}
