package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

// registerChanges adds the stream by which a view that is looked at learns when to ask again.
func (s *server) registerChanges(h huma.API) {
	op := huma.Operation{
		OperationID: "changes", Method: http.MethodGet, Path: "/v1/changes", Tags: []string{TagOperation},
		Summary: "Follow what becomes visible",
		Description: "As text/event-stream: in which topics events became visible to questions, at most four times a second. The first event has in follows the topics that the stream tells of: those that the token may ask about as a whole. " +
			"Each event is named changed; its data is {\"topics\":[…]}, its id the offsets to resume from. It does not hold the events: ask again.",
		Errors: []int{401, 406},
		Responses: map[string]*huma.Response{"200": {
			Description: "The changes.",
			Content:     map[string]*huma.MediaType{mediaStream: {Schema: &huma.Schema{Type: "string", Description: "Server-sent events: event: changed, id: TOPIC/PARTITION:NEXT,…, data: {\"follows\":[…],\"topics\":[…]}."}}},
		}},
	}
	huma.Register(h, op, func(ctx context.Context, in *struct {
		From   string `query:"from" maxLength:"65536" example:"recount.commands/0:42" doc:"What became visible since these offsets is told at once. Default: now."`
		LastID string `header:"Last-Event-ID" maxLength:"65536" example:"recount.commands/0:42" doc:"The id of the last event received from an earlier stream. It overrides from."`
	},
	) (*huma.StreamResponse, error) {
		r := api.ChangesRequest{Beat: s.o.Beat}
		var err error
		if r.From, err = offsets(in.LastID, in.From); err != nil {
			return nil, s.fail(ctx, parameter(err))
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			_, w := humago.Unwrap(hc)
			lw := &lazyWriter{w: w}
			s.stream(ctx, lw, s.events(lw, func(send func([]byte) error) error {
				return s.b.Changes(ctx, r, func(c api.Changed) error { return sendChanged(c, send) })
			}))
		}}, nil
	})
}

func sendChanged(c api.Changed, send func([]byte) error) error {
	if c.Follows == nil && len(c.Topics) == 0 {
		return send(fmt.Appendf(nil, ":\nid: %s\n\n", c.Next))
	}
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return send(fmt.Appendf(nil, "event: changed\nid: %s\ndata: %s\n\n", c.Next, data))
}

// Changes calls GET /v1/changes. The request's Beat is ignored: the server's applies.
func (c *Client) Changes(ctx context.Context, q api.ChangesRequest, each func(api.Changed) error) error {
	v := url.Values{}
	if q.From != nil {
		v.Set("from", q.From.String())
	}
	resp, err := c.do(ctx, http.MethodGet, "/v1/changes", v, "", nil, mediaStream)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	err = readEvents(resp.Body, func(next schemas.Watermark, data []byte) error {
		changed := api.Changed{}
		if len(data) > 0 {
			if err := json.Unmarshal(data, &changed); err != nil {
				return fmt.Errorf("stream: data: %w", err)
			}
		}
		changed.Next = next
		return each(changed)
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		return fmt.Errorf("follow changes: %w: the server closed the stream", api.ErrUnavailable)
	}
	return err
}

// readStream decodes a stream of commands and calls each with every event, until the stream ends.
func readStream(r io.Reader, each func(commands.Followed) error) error {
	return readEvents(r, func(next schemas.Watermark, data []byte) error {
		f := commands.Followed{Next: next}
		if len(data) > 0 {
			f.Command = &commands.Scanned{}
			if err := json.Unmarshal(data, f.Command); err != nil {
				return fmt.Errorf("stream: data: %w", err)
			}
		}
		return each(f)
	})
}
