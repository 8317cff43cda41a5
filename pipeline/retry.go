package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/recountdb/recount/schemas"
)

// backoff determines the wait before each further attempt: first, doubled each time, up to longest.
type backoff struct {
	first, longest time.Duration
	// limit is the number of attempts; 0 means no limit.
	limit int
}

func (b backoff) wait(attempt int) time.Duration {
	first, longest := b.first, b.longest
	if first == 0 {
		first = 25 * time.Millisecond
	}
	if longest == 0 {
		longest = 5 * time.Second
	}
	if attempt > 30 {
		return longest
	}
	return min(longest, first<<attempt)
}

// sleep waits before a further attempt, or until the context ends.
func (b backoff) sleep(ctx context.Context, attempt int) error {
	select {
	case <-time.After(b.wait(attempt)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// retry calls f until it succeeds, fails with an error that is not transient, runs out of attempts,
// or the context ends. It returns the last error.
func retry(ctx context.Context, b backoff, f func() error) error {
	for attempt := 0; ; attempt++ {
		err := f()
		if err == nil || errors.Is(err, schemas.ErrPoison) || errors.Is(err, schemas.ErrFatal) {
			return err
		}
		if ctx.Err() != nil || b.limit > 0 && attempt+1 >= b.limit || b.sleep(ctx, attempt) != nil {
			return err
		}
	}
}
