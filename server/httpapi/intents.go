package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

// intentsInput holds the parameters of GET /v1/intents.
type intentsInput struct {
	Since     time.Time `query:"since" example:"2026-11-01T00:00:00Z" doc:"Started at this time or later."`
	Until     time.Time `query:"until" example:"2026-12-01T00:00:00Z" doc:"Started before this time."`
	Cwd       string    `query:"cwd" maxLength:"4096" example:"/src/app" doc:"Ran in this directory or below it."`
	Session   string    `query:"session" maxLength:"256" example:"tty7-4711" doc:"The session's name."`
	Workspace string    `query:"workspace" maxLength:"4096" example:"/src/app" doc:"The workspace's name."`
	Host      string    `query:"host" maxLength:"256" example:"laptop" doc:"The host's name."`
	User      string    `query:"user" maxLength:"256" example:"ada" doc:"The user's name."`
	Author    string    `query:"author" maxLength:"256" example:"claude" doc:"The author's name, a person or an agent."`
	Shell     string    `query:"shell" maxLength:"64" example:"zsh" doc:"The shell's name."`
	Exit      string    `query:"exit" maxLength:"11" example:"fail" doc:"The outcome: ok (0), fail (not 0), unknown (not seen yet), or an exit code. A new command is judged by what is known when it becomes visible."`
	Category  string    `query:"category" enum:"build,deploy,debug,configure,query,navigate,other" example:"deploy" doc:"The category of the command."`
	Program   string    `query:"program" maxLength:"256" example:"docker" doc:"A program that the command runs, without its path."`
	Template  string    `query:"template" maxLength:"4096" doc:"The normalised template, as printed in a hit."`
	Resource  string    `query:"resource" maxLength:"4096" example:"Makefile" doc:"A resource that the command reads or writes, written as in find."`
	Limit     int       `query:"limit" minimum:"0" example:"1000" doc:"Maximum number of commands; 0 means all. Not allowed with Arrow."`
	From      string    `query:"from" maxLength:"65536" example:"recount.commands/0:42" doc:"For new commands: the offsets to begin at, TOPIC/PARTITION:NEXT, comma-separated. A partition that is not named is read from its beginning. Default: only commands that arrive from now on."`
	LastID    string    `header:"Last-Event-ID" maxLength:"65536" example:"recount.commands/0:42" doc:"The id of the last event received from an earlier stream. The stream continues after it, without loss or repeats. It overrides from."`
	Accept    string    `header:"Accept" example:"text/event-stream" doc:"application/x-ndjson (default), application/vnd.apache.arrow.stream, or text/event-stream for new commands as they become visible."`
}

func (in *intentsInput) filters() commands.Filters {
	return commands.Filters{
		Since: in.Since, Until: in.Until, Cwd: in.Cwd, Session: in.Session, Workspace: in.Workspace, Host: in.Host, User: in.User,
		Author: in.Author, Shell: in.Shell, Exit: in.Exit, Category: in.Category, Program: in.Program, Template: in.Template, Resource: in.Resource,
	}
}

// filterValues encodes filters as the query parameters of GET /v1/intents.
func filterValues(f commands.Filters) url.Values {
	v := url.Values{}
	for name, t := range map[string]time.Time{"since": f.Since, "until": f.Until} {
		if !t.IsZero() {
			v.Set(name, t.UTC().Format(time.RFC3339Nano))
		}
	}
	for name, s := range map[string]string{
		"cwd": f.Cwd, "session": f.Session, "workspace": f.Workspace, "host": f.Host, "user": f.User, "author": f.Author,
		"shell": f.Shell, "exit": f.Exit, "category": f.Category, "program": f.Program, "template": f.Template, "resource": f.Resource,
	} {
		if s != "" {
			v.Set(name, s)
		}
	}
	return v
}

func (s *server) registerIntents(h huma.API) {
	schema := func(t reflect.Type, name string) *huma.Schema {
		return h.OpenAPI().Components.Schemas.Schema(t, true, name)
	}
	op := huma.Operation{
		OperationID: "scan", Method: http.MethodGet, Path: "/v1/intents", Tags: []string{"questions"},
		Summary: "Scan commands, or follow new ones",
		Description: "As application/x-ndjson: the commands that pass the filters, oldest first. " +
			"As application/vnd.apache.arrow.stream: the same by partition and offset, for DuckDB, pandas or Polars. " +
			"As text/event-stream: commands as they become visible, in log order within a partition. Each event is named intent; its data is a command as in NDJSON, its id the offsets to resume from. When no command passes the filters, a comment with an id is sent from time to time. " +
			"An answer that ends without its closing chunk was cut short.",
		Errors: []int{401, 406},
		Responses: map[string]*huma.Response{"200": {
			Description: "The commands.",
			Content: map[string]*huma.MediaType{
				mediaNDJSON: {Schema: schema(reflect.TypeFor[commands.Scanned](), "Scanned")},
				mediaArrow:  {Schema: &huma.Schema{Type: "string", Format: "binary", Description: "An Arrow IPC stream; its schema is described in schemas/tbf.md."}},
				mediaStream: {Schema: &huma.Schema{Type: "string", Description: "Server-sent events: event: intent, id: TOPIC/PARTITION:NEXT,…, data: a command."}},
			},
		}},
	}
	huma.Register(h, op, func(ctx context.Context, in *intentsInput) (*huma.StreamResponse, error) {
		// The middleware negotiate has checked that one of them is accepted.
		switch media := accepted([]string{in.Accept}, mediaNDJSON, mediaArrow, mediaStream, mediaJSON); media {
		case mediaStream:
			r := commands.FollowRequest{Filters: in.filters(), Limit: in.Limit, Beat: s.o.Beat}
			var err error
			if r.From, err = offsets(in.LastID, in.From); err != nil {
				return nil, s.fail(ctx, parameter(err))
			}
			return &huma.StreamResponse{Body: func(hc huma.Context) {
				_, w := humago.Unwrap(hc)
				lw := &lazyWriter{w: w}
				s.stream(ctx, lw, s.follow(ctx, lw, r))
			}}, nil
		default:
			r := api.ScanRequest{Filters: in.filters(), Limit: in.Limit, Format: api.FormatNDJSON}
			if media == mediaArrow {
				r.Format = api.FormatArrow
			} else {
				media = mediaNDJSON
			}
			return &huma.StreamResponse{Body: func(hc huma.Context) {
				_, w := humago.Unwrap(hc)
				s.export(ctx, w, media, func(w io.Writer) error { return s.b.Scan(ctx, r, w) })
			}}, nil
		}
	})
}

// offsets returns the watermark at which a stream begins, by the id of the last event or the
// parameter from; nil is now.
func offsets(lastID, from string) (schemas.Watermark, error) {
	text, field := lastID, headerLastID
	if text == "" {
		if text, field = from, "from"; text == "" {
			return nil, nil
		}
	}
	w, err := schemas.ParseWatermark(text)
	if err != nil {
		return nil, &query.RequestError{Field: field, Value: text, Reason: "want TOPIC/PARTITION:NEXT,… as in a watermark or in an event's id"}
	}
	return w, nil
}

// parameter converts an error about a field of the request into one about the query parameter or
// header that set it.
func parameter(err error) error {
	var re *query.RequestError
	if !errors.As(err, &re) {
		return err
	}
	where := "query." + strings.TrimPrefix(re.Field, "filters.")
	if re.Field == headerLastID {
		where = "header." + headerLastID
	}
	return typed(api.TypeInvalid, http.StatusUnprocessableEntity, "the request cannot be answered", &huma.ErrorDetail{Location: where, Message: re.Reason, Value: re.Value})
}

const headerLastID = "Last-Event-ID"

// stream ends an answer that was written piece by piece. An error before the first byte becomes a
// problem; an error after it cuts the connection, so that the client does not take the answer as
// complete.
func (s *server) stream(ctx context.Context, w *lazyWriter, err error) {
	switch {
	case err == nil:
	case !w.started:
		setRetryAfter(w.w, err)
		writeProblem(w.w, s.fail(ctx, parameter(err)))
	case ctx.Err() == nil:
		s.o.Log.Error("answer cut short", "request", RequestID(ctx), "err", err)
		panic(http.ErrAbortHandler)
	}
}

// lazyWriter sends the header with the first byte, so that an error before it can still be answered
// with a problem.
type lazyWriter struct {
	w       http.ResponseWriter
	media   string
	started bool
}

func (l *lazyWriter) start() {
	if !l.started {
		l.started = true
		l.w.Header().Set("Content-Type", l.media)
		l.w.WriteHeader(http.StatusOK)
	}
}

func (l *lazyWriter) Write(b []byte) (int, error) {
	l.start()
	return l.w.Write(b)
}
