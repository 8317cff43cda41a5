package commits

import (
	"context"
	"slices"

	"github.com/recountdb/recount/schemas"
)

// batchEvents and batchBytes limit a batch, which is one append: one request, one fsync. The bytes
// are limited because the API limits requests.
const (
	batchEvents = 500
	batchBytes  = 4 << 20
)

// batch holds events, and the state that applies once the log has them.
type batch struct {
	events []schemas.Event
	bytes  int
	seen   []seenNow
	// state is the state to save, nil if no commit was completed since the last batch.
	state *saved
	// reached, if not nil, is closed when everything before is on the log.
	reached chan struct{}
}

// feed appends batches while the importer continues to read: one batch is being appended, one
// waits, one is being filled.
type feed struct {
	im     *importer
	filled batch
	queue  chan batch
	done   chan struct{}
	// failed is closed when an append has failed; err is then the reason.
	failed chan struct{}
	err    error
}

func (im *importer) newFeed(ctx context.Context) *feed {
	f := &feed{im: im, queue: make(chan batch, 1), done: make(chan struct{}), failed: make(chan struct{})}
	go f.run(ctx)
	return f
}

// run appends batches in order until the queue ends. Batches that were read when the context ends
// are still appended; they are a prefix like any other.
func (f *feed) run(ctx context.Context) {
	defer close(f.done)
	for b := range f.queue {
		if f.err != nil {
			continue // nothing may follow a missing batch
		}
		if f.err = f.append(context.WithoutCancel(ctx), b); f.err != nil {
			close(f.failed)
		} else if b.reached != nil {
			close(b.reached)
		}
	}
}

func (f *feed) append(ctx context.Context, b batch) error {
	o, s := f.im.o, f.im.state
	if len(b.events) > 0 {
		done, err := o.Append(ctx, b.events)
		if err != nil {
			return err
		}
		f.im.report.Present += done.Present
		f.im.report.Appended += int64(len(b.events)) - done.Present
		if done.Last != nil {
			f.im.last = done.Last
		}
	}
	// After a crash before this line the events are appended again, with the same ids.
	if err := s.saveSeen(b.seen); err != nil {
		return err
	}
	if b.state == nil {
		return nil
	}
	b.state.Last, b.state.Mark = f.im.last, ""
	return s.write("state.json", b.state)
}

// add adds an event to the current batch.
func (f *feed) add(ctx context.Context, e schemas.Event) error {
	if n := len(e.Payload); len(f.filled.events) > 0 && f.filled.bytes+n > batchBytes {
		if err := f.flush(ctx); err != nil {
			return err
		}
	}
	f.filled.events = append(f.filled.events, e)
	f.filled.bytes += len(e.Payload)
	if len(f.filled.events) >= batchEvents {
		return f.flush(ctx)
	}
	return nil
}

// see adds a content, which is stored in the cache once the current batch is on the log.
func (f *feed) see(k seenKey, c seenContent) {
	f.im.state.seen[k] = c
	f.filled.seen = append(f.filled.seen, seenNow{k, c})
}

// completed marks the point at which everything before is recorded as the state says.
func (f *feed) completed() {
	s := f.im.state.saved
	s.Heads, s.Roots, s.Shallow = slices.Clone(s.Heads), slices.Clone(s.Roots), slices.Clone(s.Shallow)
	f.filled.state = &s
}

func (f *feed) flush(ctx context.Context) error {
	if len(f.filled.events) == 0 && len(f.filled.seen) == 0 && f.filled.state == nil {
		return nil
	}
	select {
	case f.queue <- f.filled:
		f.filled = batch{}
		return nil
	case <-f.failed:
		return f.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close sends the remaining events, waits until all are on the log, and returns the error of any
// append.
func (f *feed) close(ctx context.Context) error {
	err := f.flush(ctx)
	close(f.queue)
	<-f.done
	if f.err != nil {
		return f.err
	}
	return err
}

// drain waits until all added events are on the log.
func (f *feed) drain(ctx context.Context) error {
	if err := f.flush(ctx); err != nil {
		return err
	}
	reached := make(chan struct{})
	select {
	case f.queue <- batch{reached: reached}:
	case <-f.failed:
		return f.err
	}
	select {
	case <-reached:
		return nil
	case <-f.failed:
		return f.err
	}
}
