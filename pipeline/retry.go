package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/recountdb/recount/schemas"
)

// backoff says how long to wait before each further attempt: from first,
// doubling, up to most.
type backoff struct {
	first, most time.Duration
	// limit is the number of attempts; 0 is no limit.
	limit int
}

func (b backoff) wait(attempt int) time.Duration {
	first, most := b.first, b.most
	if first == 0 {
		first = 25 * time.Millisecond
	}
	if most == 0 {
		most = 5 * time.Second
	}
	if attempt > 30 {
		return most
	}
	return min(most, first<<attempt)
}

// sleep waits before a further attempt, or until the context ends.
func (b backoff) sleep(ctx context.Context, attempt int) error {
	t := time.NewTimer(b.wait(attempt))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// retry calls f until it succeeds, or fails in a way that waiting does not
// mend, or the context ends. The last error is returned.
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
