package importing

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/recountdb/recount/internal/accesslog"
	"github.com/recountdb/recount/internal/history"
	"github.com/recountdb/recount/internal/spans"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/api"
)

// AccessLogs imports access logs of a service.
func (im *Importer) AccessLogs(ctx context.Context, files []string, service string) error {
	im.unit = "request"
	for _, file := range files {
		if err := im.accessLog(ctx, file, service); err != nil {
			return err
		}
	}
	return nil
}

// accessLog imports one log.
func (im *Importer) accessLog(ctx context.Context, path, service string) error {
	options := accesslog.Options{Service: service, Redact: func(m *recountv1.AccessLogged) {
		im.redacted += int64(len(im.redactor.Event(m)))
	}}
	if path == "-" {
		return im.run(ctx, "standard input", im.requests(im.term.In, options, nil), nil)
	}
	st, err := im.backend.Status(ctx, api.StatusRequest{})
	if err != nil {
		return err
	}
	marks := accesslog.OpenMarks(filepath.Join(im.dataDir, "imports", "access-log"), st.DataID, service)
	if marks.Last != nil {
		mark, err := markOf(ctx, im.backend, *marks.Last)
		if err != nil {
			return err
		}
		if mark != nil && !marks.OfLog(*mark) {
			im.term.Tell(fmt.Sprintf("%s: the log no longer has the event at %s, where the last import ended: importing everything again", service, marks.Last))
			marks.Forget()
		}
	}
	im.last = nil
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	plain, err := spans.Decompress(file)
	if err == nil {
		options.From, err = marks.Known(plain)
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return err
	}
	end := &logEnd{}
	err = im.stream(ctx, file, func(r io.Reader, _ history.Options) iter.Seq2[schemas.Event, error] {
		return im.requests(r, options, end)
	})
	if err != nil {
		return err
	}
	if options.From > 0 {
		im.results[len(im.results)-1].Before = int64(options.From)
	}
	if im.last != nil {
		mark, err := markOf(ctx, im.backend, *im.last)
		if err != nil {
			return err
		}
		if marks.Last, marks.Mark = im.last, ""; mark != nil {
			marks.Mark = *mark
		}
	}
	return marks.Add(end.lines, end.bytes, end.sum)
}

// logEnd is the position up to which a log was read.
type logEnd struct {
	lines int
	bytes int64
	sum   [sha256.Size]byte
}

// requests yields the events of a log and sets end, unless that is nil, to where the log ended.
func (im *Importer) requests(r io.Reader, o accesslog.Options, end *logEnd) iter.Seq2[schemas.Event, error] {
	return func(yield func(schemas.Event, error) bool) {
		plain, err := spans.Decompress(r)
		if err != nil {
			yield(schemas.Event{}, err)
			return
		}
		h := sha256.New()
		counted := &counter{r: io.TeeReader(plain, h)}
		lines := o.From
		for b, err := range accesslog.Read(counted, o) {
			var skip *accesslog.SkipError
			if errors.As(err, &skip) {
				lines = max(lines, skip.Line)
				if !yield(schemas.Event{}, &history.SkipError{Line: skip.Line, Reason: skip.Reason}) {
					return
				}
				continue
			}
			lines = max(lines, b.Lines)
			im.held += int64(b.Requests)
			if !yield(b.Event, err) || err != nil {
				return
			}
		}
		if end != nil {
			*end = logEnd{lines, counted.n, [sha256.Size]byte(h.Sum(nil))}
		}
	}
}
