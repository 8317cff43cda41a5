package otlp

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// firstShare is the memory in bytes reserved for a request of unknown size before it is read. It
// limits how many such requests are read at once.
const firstShare = 1 << 20

// room bounds the bytes of requests in flight. A request that finds no space waits up to patience
// and is then refused with a request to retry, while the sender keeps the spans.
type room struct {
	size     int64
	patience time.Duration
	free     *semaphore.Weighted
	used     atomic.Int64 // for the metric
}

func newRoom(size int64, patience time.Duration) *room {
	return &room{size: size, patience: patience, free: semaphore.NewWeighted(size)}
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
