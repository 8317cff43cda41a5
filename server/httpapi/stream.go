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

// mediaStream is that of server-sent events (HTML, 9.2).
const mediaStream = "text/event-stream"

const (
	// DefaultBeat is how often a stream without events says that it lives.
	DefaultBeat = 15 * time.Second
	// streamWrite is how long a client may take to receive what is sent it.
	streamWrite = 30 * time.Second
	// stopWrite is how long when the server stops.
	stopWrite = time.Second
	// retryAfter is what a client is told to wait before it comes back.
	retryAfter = 2 * time.Second
	// maxLine is the longest line of a stream that is read: a command and its output
	// at their largest, escaped.
	maxLine = 32 << 20
)

// follow sends commands as they become visible. Nothing is kept for the client:
// while it does not read, no more is read of the projections, and one that takes
// too long is cut off and comes back with the last id it has. The stream ends as
// a whole answer where the server stops, so that the client comes back too.
func (s *server) follow(ctx context.Context, w *lazyWriter, r commands.FollowRequest) error {
	rc := http.NewResponseController(w.w)
	w.media = mediaStream
	var mu sync.Mutex // a deadline set while the server runs must not follow one set when it stops
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
	send := func(b []byte) error {
		if err := deadline(); err != nil {
			return err
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
		return rc.Flush()
	}
	var line []byte
	err := s.b.Follow(ctx, r, func(f commands.Followed) (err error) {
		line = line[:0]
		if !w.started {
			line = fmt.Appendf(line, "retry: %d\n", retryAfter.Milliseconds())
		}
		if line, err = appendStep(line, f); err != nil {
			return err
		}
		return send(line)
	})
	if w.started && errors.Is(err, api.ErrUnavailable) {
		return nil
	}
	return err
}

// appendStep is one server-sent event. JSON has no line breaks of its own.
func appendStep(b []byte, f commands.Followed) ([]byte, error) {
	if f.Command == nil {
		// A comment, and an id without data: the client's place moves, and no event
		// is told (HTML, 9.2.6).
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

// readStream calls each with what a stream tells, until it ends.
func readStream(r io.Reader, each func(commands.Followed) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	var f commands.Followed
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
				f.Next, placed = w, true
			case "data":
				data = append(append(data, value...), '\n')
			}
			continue // comments, retry, the event's name
		}
		if len(data) > 0 {
			f.Command = &commands.Scanned{}
			if err := json.Unmarshal(bytes.TrimSpace(data), f.Command); err != nil {
				return fmt.Errorf("stream: data: %w", err)
			}
		}
		if placed || f.Command != nil {
			if err := each(f); err != nil {
				return err
			}
		}
		f, data, placed = commands.Followed{}, data[:0], false
	}
	return lines.Err()
}
