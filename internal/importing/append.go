package importing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/recountdb/recount/internal/history"
	"github.com/recountdb/recount/internal/spans"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/httpapi"
)

// stream imports a file of text; its modification time is used if the file has no times.
func (im *Importer) stream(ctx context.Context, file *os.File, read func(io.Reader, history.Options) iter.Seq2[schemas.Event, error]) error {
	return im.streamOf(ctx, file, history.Open, read)
}

// streamOf imports a file whose content open returns: as it is, or decompressed and checked.
func (im *Importer) streamOf(ctx context.Context, file *os.File, open func(io.Reader) (io.Reader, error), read func(io.Reader, history.Options) iter.Seq2[schemas.Event, error]) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	o := im.options
	o.Time = info.ModTime()
	if _, err := file.Seek(0, io.SeekStart); err != nil && info.Mode().IsRegular() {
		return fmt.Errorf("%s: %w", file.Name(), err)
	}
	counted := &counter{r: file}
	content, err := open(counted)
	if err != nil {
		return fmt.Errorf("%s: %w", file.Name(), err)
	}
	return im.run(ctx, file.Name(), read(content, o), func(int64) (int64, int64, string) { return counted.n, info.Size(), "bytes" })
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// importBatch is the maximum number of events in one append: one fsync, one request.
// importBatchBytes bounds a batch because the HTTP API bounds a request's body.
const (
	importBatch      = 500
	importBatchBytes = 4 << 20
	maxProblems      = 20
)

// run appends the events of one source.
func (im *Importer) run(ctx context.Context, from string, events iter.Seq2[schemas.Event, error], progress func(done int64) (n, of int64, unit string)) error {
	im.results = append(im.results, Result{From: from, Unit: im.unit})
	res := &im.results[len(im.results)-1]
	redacted, held := im.redacted, im.held
	draw := im.term.Progress()
	var batch []schemas.Event
	size := 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		done, err := im.append(ctx, batch, res)
		if err != nil {
			return fmt.Errorf("import %s: stopped after %d events: %w; start it again to continue", from, res.Appended+res.Present, err)
		}
		for _, d := range done {
			if d.Duplicate {
				res.Present++
			} else {
				res.Appended++
			}
			im.last = &d.Position
		}
		batch, size = batch[:0], 0
		if draw != nil && progress != nil {
			n, of, unit := progress(res.Read)
			draw(api.Progress{Phase: "import " + im.term.Home(from) + ", " + unit, Done: min(n, of-1), Total: of})
		}
		return nil
	}
	for e, err := range events {
		var skip *history.SkipError
		var some *spans.SkipError
		switch {
		case errors.As(err, &skip), errors.As(err, &some):
			if len(res.Problems) < maxProblems {
				res.Problems = append(res.Problems, err.Error())
			}
			res.Skipped++
			if some != nil {
				res.Skipped += int64(max(some.Spans, 1)) - 1
			}
			continue
		case err != nil:
			return errors.Join(flush(), fmt.Errorf("import %s: %w", from, err))
		}
		res.Read++
		if im.known[e.ID] {
			res.Present++
			continue
		}
		if len(e.Payload) > httpapi.MaxEvent {
			res.refused(e, fmt.Sprintf("an event of %d bytes, the maximum is %d", len(e.Payload), httpapi.MaxEvent))
			continue
		}
		batch, size = append(batch, e), size+len(e.Payload)
		if len(batch) == importBatch || size >= importBatchBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	err := flush()
	res.Redacted, res.Held = im.redacted-redacted, im.held-held
	return err
}

// append appends events, and skips those that the log refuses for what they are: one of them must
// not keep the others out, however often the import is repeated.
func (im *Importer) append(ctx context.Context, events []schemas.Event, res *Result) ([]api.Appended, error) {
	if len(events) == 0 {
		return nil, nil
	}
	done, err := im.backend.Append(ctx, events)
	var wrong *api.EventError
	switch {
	case errors.As(err, &wrong) && errors.Is(err, schemas.ErrPoison):
		// Nothing of the batch was appended.
		before, err := im.append(ctx, events[:wrong.Index], res)
		if err != nil {
			return before, err
		}
		res.refused(events[wrong.Index], wrong.Err.Error())
		after, err := im.append(ctx, events[wrong.Index+1:], res)
		return append(before, after...), err
	case errors.Is(err, api.ErrReused):
		return im.eachAlone(ctx, events, res)
	}
	return done, err
}

// eachAlone appends events one by one, and skips those with the id of a different event.
func (im *Importer) eachAlone(ctx context.Context, events []schemas.Event, res *Result) ([]api.Appended, error) {
	var all []api.Appended
	for i := range events {
		done, err := im.backend.Append(ctx, events[i:i+1])
		switch {
		case errors.Is(err, api.ErrReused):
			res.refused(events[i], "the log has another event with this id and different content")
		case err != nil:
			return nil, err
		default:
			all = append(all, done...)
		}
	}
	return all, nil
}

// refused counts an event that the log does not take.
func (r *Result) refused(e schemas.Event, reason string) {
	if r.Skipped++; len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, fmt.Sprintf("%s %s: %s", e.Type, e.ID, reason))
	}
}

// open imports a file of text or, for "-", the standard input.
func (im *Importer) open(ctx context.Context, path string, read func(io.Reader) iter.Seq2[schemas.Event, error]) error {
	return im.openAs(ctx, path, history.Open, read)
}

// openAs imports a file whose content open returns or, for "-", the standard input.
func (im *Importer) openAs(ctx context.Context, path string, open func(io.Reader) (io.Reader, error), read func(io.Reader) iter.Seq2[schemas.Event, error]) error {
	if path == "-" {
		return im.run(ctx, "standard input", read(im.term.In), nil)
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return im.streamOf(ctx, file, open, func(r io.Reader, _ history.Options) iter.Seq2[schemas.Event, error] { return read(r) })
}
