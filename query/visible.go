package query

import (
	"context"
	"errors"
	"time"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/schemas"
)

// AwaitVisible waits until the projections have applied what want asks for. The
// error is a *NotVisibleError, or the context's.
func AwaitVisible(ctx context.Context, set *projections.Set, want schemas.Watermark, wait time.Duration) error {
	if len(want) == 0 {
		return nil
	}
	start := time.Now()
	bounded, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	err := set.Wait(bounded, want)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return &NotVisibleError{Want: want, Have: set.Watermark(), Waited: time.Since(start)}
	}
	return err
}

// Below is the range an answer may draw on: what is visible, cut by as_of. A
// partition that as_of does not name is left out.
func Below(visible schemas.Watermark, as AsOf) schemas.Watermark {
	if as.Offsets == nil {
		return visible
	}
	w := schemas.Watermark{}
	for tp, next := range visible {
		if end, named := as.Offsets[tp]; named {
			w[tp] = min(next, end)
		}
	}
	return w
}
