package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

// mediaStream is the media type of server-sent events (HTML, 9.2).
const mediaStream = "text/event-stream"

const (
	// DefaultBeat is the default interval of keep-alive comments in a stream without events.
	DefaultBeat = 15 * time.Second
	// streamWrite is the maximum time in which a client must receive one write.
	streamWrite = 30 * time.Second
	// stopWrite replaces streamWrite when the server stops.
	stopWrite = time.Second
	// retryAfter is the delay that clients are asked to wait before they reconnect.
	retryAfter = 2 * time.Second
	// maxLine is the maximum length of a line that a client reads: a command with its output at
	// their maximum sizes, escaped.
	maxLine = 32 << 20
)

// follow sends commands as they become visible. The server buffers nothing for the client: while
// the client does not read, the projections are not read either.
func (s *server) follow(ctx context.Context, w *lazyWriter, r commands.FollowRequest) error {
	return s.events(w, func(send func([]byte) error) error {
		var line []byte
		return s.b.Follow(ctx, r, func(f commands.Followed) (err error) {
			if line, err = appendStep(line[:0], f); err != nil {
				return err
			}
			return send(line)
		})
	})
}

// events writes server-sent events, which run sends. A client that is too slow is disconnected and
// can reconnect with the last id it received. If the server stops, the stream ends as a complete
// answer, so that the client reconnects.
func (s *server) events(w *lazyWriter, run func(send func([]byte) error) error) error {
	rc := http.NewResponseController(w.w)
	w.media = mediaStream
	var mu sync.Mutex // so that a deadline set while running never overwrites one set when stopping
	deadline := func() error {
		mu.Lock()
		defer mu.Unlock()
		patience := streamWrite
		if s.o.Stopping.Err() != nil {
			patience = stopWrite
		}
		err := rc.SetWriteDeadline(time.Now().Add(patience))
		if errors.Is(err, http.ErrNotSupported) {
			return nil
		}
		return err
	}
	defer context.AfterFunc(s.o.Stopping, func() { _ = deadline() })()
	err := run(func(b []byte) error {
		if err := deadline(); err != nil {
			return err
		}
		if !w.started {
			b = append(fmt.Appendf(nil, "retry: %d\n", retryAfter.Milliseconds()), b...)
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
		return rc.Flush()
	})
	if w.started && errors.Is(err, api.ErrUnavailable) {
		return nil
	}
	return err
}

// appendStep appends one server-sent event to b. JSON contains no line breaks.
func appendStep(b []byte, f commands.Followed) ([]byte, error) {
	if f.Command == nil {
		// A comment, then an id without data: the client's last id advances and no event is
		// dispatched (HTML, 9.2.6).
		b = append(b, ":\nid: "...)
		b = append(b, f.Next.String()...)
		return append(b, "\n\n"...), nil
	}
	data, err := json.Marshal(f.Command)
	if err != nil {
		return b, err
	}
	b = append(b, "event: intent\nid: "...)
	b = append(b, f.Next.String()...)
	b = append(b, "\ndata: "...)
	b = append(b, data...)
	return append(b, "\n\n"...), nil
}

// readEvents decodes server-sent events whose ids are watermarks, and calls each with every event
// that has an id or data, until the stream ends.
func readEvents(r io.Reader, each func(next schemas.Watermark, data []byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	var next schemas.Watermark
	var data []byte
	placed := false
	for lines.Scan() {
		line := lines.Text()
		if line != "" {
			field, value, _ := strings.Cut(line, ":")
			value = strings.TrimPrefix(value, " ")
			switch field {
			case "id":
				w, err := schemas.ParseWatermark(value)
				if err != nil {
					return fmt.Errorf("stream: id: %w", err)
				}
				next, placed = w, true
			case "data":
				data = append(append(data, value...), '\n')
			}
			continue // ignore comments, retry and the name of the event
		}
		if placed || len(data) > 0 {
			if err := each(next, bytes.TrimSpace(data)); err != nil {
				return err
			}
		}
		next, data, placed = nil, data[:0], false
	}
	return lines.Err()
}
