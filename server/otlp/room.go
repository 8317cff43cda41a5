package otlp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// firstShare is the memory in bytes reserved for a request of unknown size before it is read. It
// limits how many such requests are read at once.
const firstShare = 1 << 20

// room bounds the bytes of requests in flight. A request that finds no space waits up to patience
// and is then refused with a request to retry, while the sender keeps the spans. Meanwhile those that
// are being read and have stalled give way, so that a sender that sends nothing keeps nobody out.
type room struct {
	size     int64
	patience time.Duration
	free     *semaphore.Weighted
	used     atomic.Int64 // for the metric

	mu       sync.Mutex // guards all below
	arriving map[*arrival]bool
}

// arrival is a request that is being read.
type arrival struct {
	limit   time.Duration
	since   atomic.Int64 // when it began, or last made progress, in Unix nanoseconds
	giveWay context.CancelCauseFunc
}

// progress notes that a part of the request has arrived.
func (a *arrival) progress() { a.since.Store(time.Now().UnixNano()) }

func newRoom(size int64, patience time.Duration) *room {
	return &room{size: size, patience: patience, free: semaphore.NewWeighted(size), arriving: map[*arrival]bool{}}
}

// arrives notes that a request begins to be read. The context that it returns is done when the request has
// to give way, because others wait and it made no progress within limit. The caller calls arrived when
// all was read.
func (r *room) arrives(ctx context.Context, limit time.Duration) (_ context.Context, a *arrival, arrived func()) {
	ctx, giveWay := context.WithCancelCause(ctx)
	a = &arrival{limit: limit, giveWay: giveWay}
	a.progress()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arriving[a] = true
	return ctx, a, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.arriving, a)
		giveWay(nil)
	}
}

// stalled returns the refusal of a request that had to give way, by the context of arrives; nil of others.
func stalled(arriving context.Context) *refusal {
	var why *refusal
	_ = errors.As(context.Cause(arriving), &why)
	return why
}

// hurry has the requests give way that have stalled.
func (r *room) hurry() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for a := range r.arriving {
		if time.Since(time.Unix(0, a.since.Load())) >= a.limit {
			a.giveWay(tooSlow())
		}
	}
}

// share is the memory reserved for one request.
type share struct {
	r *room
	n int64
}

// take reserves n bytes, or the whole room if it is smaller.
func (r *room) take(ctx context.Context, n int64) (*share, error) {
	s := &share{r: r}
	if err := s.grow(ctx, n); err != nil {
		return nil, err
	}
	return s, nil
}

// grow raises the share to n bytes or the size of the room. On an error the share is unchanged.
func (s *share) grow(ctx context.Context, n int64) error {
	more := min(n, s.r.size) - s.n
	if more <= 0 {
		return nil
	}
	if !s.r.free.TryAcquire(more) {
		wait, cancel := context.WithTimeout(ctx, s.r.patience)
		defer cancel()
		s.r.hurry()
		defer time.AfterFunc(s.r.patience/2, s.r.hurry).Stop() // for those that stall meanwhile
		if err := s.r.free.Acquire(wait, more); err != nil {
			if ctx.Err() != nil {
				return &refusal{kind: gone, why: "the client disconnected, or its deadline passed, while the request waited for memory"}
			}
			return &refusal{kind: overloaded, after: afterOverload, why: fmt.Sprintf("overloaded: %d bytes of spans are in flight, and memory for %d more did not become free within %s; send the request again", s.r.used.Load(), more, s.r.patience)}
		}
	}
	s.n += more
	s.r.used.Add(more)
	return nil
}

// shrink releases what exceeds n bytes.
func (s *share) shrink(n int64) {
	if less := s.n - n; less > 0 {
		s.n = n
		s.r.used.Add(-less)
		s.r.free.Release(less)
	}
}

// leave releases the whole share.
func (s *share) leave() { s.shrink(0) }
