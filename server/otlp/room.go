package otlp

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// firstShare is what a request of unknown size takes before it is read, in bytes. So
// many of them at once are read as fit into the room, and no more.
const firstShare = 1 << 20

// room bounds the bytes of requests in flight. Who finds none waits, and is told to
// come again when that takes too long: the sender has the spans meanwhile.
type room struct {
	size     int64
	patience time.Duration
	free     *semaphore.Weighted
	used     atomic.Int64 // for the metric
}

func newRoom(size int64, patience time.Duration) *room {
	return &room{size: size, patience: patience, free: semaphore.NewWeighted(size)}
}

// share is what a request has of the room.
type share struct {
	r *room
	n int64
}

// take takes n bytes, or all there are of a room that is smaller.
func (r *room) take(ctx context.Context, n int64) (*share, error) {
	s := &share{r: r}
	if err := s.grow(ctx, n); err != nil {
		return nil, err
	}
	return s, nil
}

// grow makes the share n bytes at least. On an error the share is what it was.
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
				return &refusal{kind: gone, why: "the client went away, or its deadline passed, while it waited for room"}
			}
			return &refusal{kind: overloaded, after: afterOverload, why: fmt.Sprintf("overloaded: %d bytes of spans are in flight, and no room for %d more came free within %s; send it again", s.r.used.Load(), more, s.r.patience)}
		}
	}
	s.n += more
	s.r.used.Add(more)
	return nil
}

// shrink gives back what is above n bytes.
func (s *share) shrink(n int64) {
	if less := s.n - n; less > 0 {
		s.n = n
		s.r.used.Add(-less)
		s.r.free.Release(less)
	}
}

// leave gives all back.
func (s *share) leave() { s.shrink(0) }
