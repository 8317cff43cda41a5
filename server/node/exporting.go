package node

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/recountdb/recount/server/api"
)

// exportGrace is how long an export that reads the state before an erasure may continue.
const exportGrace = 2 * time.Second

// exporters are the running exports. Each reads one state until its client has received all of it;
// an erasure cannot wait for that.
type exporters struct {
	mu    sync.Mutex
	next  int
	under map[int]context.CancelFunc
}

// exporting returns the context and the writer of an export, which end once an erasure cancels it,
// and a function to call at the export's end.
func (x *exporters) exporting(ctx context.Context, w io.Writer) (context.Context, io.Writer, func()) {
	ctx, cancel := context.WithCancel(ctx)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.under == nil {
		x.under = map[int]context.CancelFunc{}
	}
	n := x.next
	x.next++
	x.under[n] = cancel
	return ctx, &endingWriter{ctx, w}, func() {
		cancel()
		x.mu.Lock()
		defer x.mu.Unlock()
		delete(x.under, n)
	}
}

// endOld cancels the exports that are running now, after exportGrace.
func (x *exporters) endOld() (stop func() bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	until := x.next
	return time.AfterFunc(exportGrace, func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		for n, cancel := range x.under {
			if n < until {
				cancel()
			}
		}
	}).Stop
}

type endingWriter struct {
	ctx context.Context
	w   io.Writer
}

func (e *endingWriter) Write(b []byte) (int, error) {
	if e.ctx.Err() != nil {
		return 0, fmt.Errorf("%w: the events that this export reads are being erased: try again", api.ErrUnavailable)
	}
	return e.w.Write(b)
}
