package commits

import (
	"context"
	"slices"

	"github.com/recountdb/recount/schemas"
)

// A batch is one append: one request, one fsync. It is bounded in bytes too, for
// doors bound what they take.
const (
	batchEvents = 500
	batchBytes  = 4 << 20
)

// batch is events and what is true once the log has them.
type batch struct {
	events []schemas.Event
	bytes  int
	seen   []seenNow
	// state is what to save, nil where no commit was completed since the last.
	state *saved
	// reached, if not nil, is closed when all before is on the log.
	reached chan struct{}
}

// feed appends while the importer reads on: one batch is on its way, one waits,
// one fills.
type feed struct {
	im     *importer
	filled batch
	queue  chan batch
	done   chan struct{}
	// failed is closed when an append has failed, and err is why.
	failed chan struct{}
	err    error
}

func (im *importer) newFeed(ctx context.Context) *feed {
	f := &feed{im: im, queue: make(chan batch, 1), done: make(chan struct{}), failed: make(chan struct{})}
	go f.run(ctx)
	return f
}

// run appends batches in order until the queue ends. What has been read when the
// context ends is still appended: it is a prefix like any other.
func (f *feed) run(ctx context.Context) {
	defer close(f.done)
	for b := range f.queue {
		if f.err != nil {
			continue // nothing may follow what is missing
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
	// A crash before this line: the events come again, under the same ids.
	if err := s.saveSeen(b.seen); err != nil {
		return err
	}
	if b.state == nil {
		return nil
	}
	b.state.Last, b.state.Mark = f.im.last, ""
	return s.write("state.json", b.state)
}

// add puts an event into the batch that fills.
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

// see notes a content: it is remembered once the batch that fills is on the log.
func (f *feed) see(k seenKey, c seenContent) {
	f.im.state.seen[k] = c
	f.filled.seen = append(f.filled.seen, seenNow{k, c})
}

// completed notes that all before is recorded as the state says now.
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

// close sends what is left, waits until all is on the log and says what went
// wrong with it.
func (f *feed) close(ctx context.Context) error {
	err := f.flush(ctx)
	close(f.queue)
	<-f.done
	if f.err != nil {
		return f.err
	}
	return err
}

// drain waits until all that was added is on the log.
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
