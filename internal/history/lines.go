package history

import (
	"bufio"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/recountdb/recount/schemas"
)

// maxLine limits a line in bytes; no real command is longer.
const maxLine = 4 << 20

// line is one line of a file without its newline.
type line struct {
	number int
	text   string
	// tooLong means that the line is longer than maxLine bytes; text is then empty.
	tooLong bool
}

// lines yields the lines of r. The last line needs no newline. An error is yielded once, at the
// end.
func lines(r io.Reader) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		br := bufio.NewReaderSize(r, 64<<10)
		var buf []byte
		for n := 1; ; n++ {
			buf = buf[:0]
			long, any := false, false
			var err error
			for {
				var part []byte
				part, err = br.ReadSlice('\n')
				any = any || len(part) > 0
				if len(buf)+len(part) > maxLine {
					long, buf = true, buf[:0]
				}
				if !long {
					buf = append(buf, part...)
				}
				if !errors.Is(err, bufio.ErrBufferFull) {
					break
				}
			}
			if any {
				if k := len(buf); k > 0 && buf[k-1] == '\n' {
					buf = buf[:k-1]
				}
				if !yield(line{n, string(buf), long}, nil) {
					return
				}
			}
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				yield(line{}, err)
				return
			}
		}
	}
}

// emitter passes entries to a loop until the loop ends.
type emitter struct {
	m     *maker
	yield func(schemas.Event, error) bool
	done  bool
}

func (w *emitter) emit(e entry) {
	if !w.done {
		w.done = !w.yield(w.m.event(e))
	}
}

func (w *emitter) skip(n int, reason string) {
	if !w.done {
		w.done = !w.yield(schemas.Event{}, &SkipError{n, reason})
	}
}

func (w *emitter) fail(err error) {
	if !w.done {
		w.yield(schemas.Event{}, err)
		w.done = true
	}
}

// unix converts a time in seconds, as histories have it; ok is false outside the plausible range.
func unix(sec int64) (t time.Time, ok bool) {
	if sec < 0 || sec > 8_000_000_000 { // the year 2223
		return time.Time{}, false
	}
	return time.Unix(sec, 0).UTC(), true
}
