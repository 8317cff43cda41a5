package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/runs"
)

// DefaultMaxBody is the default maximum size of a request's body in bytes.
const DefaultMaxBody = 16 << 20

// maxQuestion is the maximum size of a question's body in bytes.
const maxQuestion = 64 << 10

// Options configure the API. The zero value serves loopback names without a token.
type Options struct {
	// Version is shown in the OpenAPI description.
	Version string
	// Gate authenticates requests by the token in Authorization: Bearer. If it is nil, no token is
	// needed and everybody is the operator.
	Gate *access.Gate
	// Hosts lists the names besides localhost that a Host header may have, in lower case.
	Hosts []string
	// MaxBody is the maximum size in bytes of the body of POST /v1/events; 0 is DefaultMaxBody.
	MaxBody int64
	// Beat is the interval of keep-alive comments in a stream without events, for proxies that
	// close silent connections; 0 is DefaultBeat.
	Beat time.Duration
	// Stopping is done when the server begins to stop; streams then no longer wait for clients that
	// do not read. Nil is never done.
	Stopping context.Context
	// Log gets one debug line per request and the stacks of panics; nil discards them.
	Log *slog.Logger
	// Registry registers the HTTP metrics; nil registers them nowhere.
	Registry prometheus.Registerer
	// Metrics serves /metrics; nil leaves the route out.
	Metrics http.Handler
	// Runs executes replays; nil refuses to, which is the default of a server.
	Runs *runs.Runs
	// MCP serves /mcp; nil leaves the route out.
	MCP http.Handler
	// Page adds the routes of the page; nil leaves them out, and / leads to /docs.
	Page func(*http.ServeMux)
	// Offers returns why the operations of a tag (TagEvents and the like) are not offered by this
	// process, or nil. A nil Offers offers all.
	Offers func(tag string) error
	// Ready returns nil if the node is ready, else why it is not.
	Ready func(context.Context) error

	sessions *sessions // of browsers that logged in; nil: cookies count for nothing
}

// The tags of the operations that Options.Offers is asked about. Every other tag is one of
// questions.
const (
	TagEvents    = "events"
	TagOperation = "operation"
)

// New returns the handler of the whole API.
func New(b api.Backend, o Options) http.Handler {
	mux, _ := build(b, &o)
	return Drained(guard(mux, o, newMetrics(o.Registry)))
}

func build(b api.Backend, o *Options) (*http.ServeMux, huma.API) {
	if o.Log == nil {
		o.Log = discard
	}
	if o.MaxBody == 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Stopping == nil {
		o.Stopping = context.Background()
	}
	if o.Beat == 0 {
		o.Beat = DefaultBeat
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.Offers == nil {
		o.Offers = func(string) error { return nil }
	}
	if o.Ready == nil {
		o.Ready = func(context.Context) error { return nil }
	}
	o.sessions = &sessions{}
	mux := http.NewServeMux()
	config := huma.DefaultConfig("Recount", o.Version)
	// Without this, huma adds $schema links with the host name, so that the same answer would
	// differ between hosts.
	config.CreateHooks = nil
	config.SchemasPath = ""
	config.DocsPath = ""
	config.RejectUnknownQueryParameters = true
	config.Formats = compactFormats()
	config.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	config.Transformers = append(config.Transformers, nameAnswer(config.Components.Schemas))
	describe(config.OpenAPI)
	h := humago.New(mux, config)
	s := &server{b: b, o: *o}
	s.routes(h, mux)
	addRefusals(h.OpenAPI())
	mux.HandleFunc("GET /docs", docsPage(h.OpenAPI()))
	if o.Page != nil {
		o.Page(mux)
	} else {
		mux.Handle("GET /{$}", http.RedirectHandler("/docs", http.StatusFound))
	}
	s.registerSession(mux)
	if o.Metrics != nil {
		mux.Handle("GET /metrics", o.Metrics)
	}
	if o.MCP != nil {
		mux.Handle("/mcp", o.MCP)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if allow := methodsOf(mux, r); len(allow) > 0 {
			w.Header().Set("Allow", strings.Join(allow, ", "))
			problem(w, http.StatusMethodNotAllowed, fmt.Sprintf("%s is not a method of %s; want %s", r.Method, r.URL.Path, strings.Join(allow, " or ")))
			return
		}
		problem(w, http.StatusNotFound, fmt.Sprintf("no endpoint %s %s; GET /docs lists the endpoints", r.Method, r.URL.Path))
	})
	return mux, h
}

// methodsOf returns the methods that the path of r has an endpoint for. The pattern of all other
// requests keeps mux from answering this itself.
func methodsOf(mux *http.ServeMux, r *http.Request) []string {
	var methods []string
	for _, m := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete} {
		other := *r
		other.Method = m
		if _, pattern := mux.Handler(&other); pattern != "/" {
			methods = append(methods, m)
		}
	}
	return methods
}

type server struct {
	b       api.Backend
	o       Options
	exports exports
}

// postEvents serves POST /v1/events. It uses net/http instead of huma, because a body may have any
// of five media types and is validated against the payloads' own constraints.
func (s *server) postEvents(w http.ResponseWriter, r *http.Request) {
	if refused(w, r, mediaJSON) {
		return
	}
	err := func() error {
		if err := s.o.Offers(TagEvents); err != nil {
			return err
		}
		media := ""
		if ct := r.Header.Get("Content-Type"); ct != "" {
			m, _, err := mime.ParseMediaType(ct)
			if err != nil {
				return &bodyError{415, "header.Content-Type", err.Error()}
			}
			media = m
		}
		// curl -d sends this type by default, although the data is JSON.
		if media == "application/x-www-form-urlencoded" {
			media = mediaJSON
		}
		def, err := defaults(r.URL.Query())
		if err != nil {
			return err
		}
		body, err := readBody(w, r, s.o.MaxBody)
		if err != nil {
			return err
		}
		var events []schemas.Event
		if media == mediaProto {
			events, err = parseBinary(r.Header, def, body)
		} else {
			events, err = parseEvents(media, def, body)
		}
		if err != nil {
			return err
		}
		if err := validate(events); err != nil {
			return err
		}
		if err := own(r.Context(), events); err != nil {
			return err
		}
		appended, err := s.b.Append(r.Context(), events)
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", mediaJSON)
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		return enc.Encode(AppendResponse{appended})
	}()
	if err != nil {
		writeProblem(w, s.fail(r.Context(), err))
	}
}

// defaults returns the attributes that apply to events that do not set them. Their type is that of
// ?type=, or the default type of ?topic=. With ?topic=agents the type need not be a known one.
func defaults(query url.Values) (schemas.Event, error) {
	e := schemas.Event{Type: schemas.TypeCommandExecuted, Source: schemas.DefaultSource, ContentType: schemas.ContentJSON}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		switch value := query.Get(name); name {
		case "topic":
			e.Topic = value
			if e.Type = schemas.DefaultType(value); e.Type == "" || strings.Contains(value, ".") || value == schemas.TopicRejected {
				return e, &bodyError{422, "query.topic", fmt.Sprintf("%q: want one of %s", value, strings.Join(topics(), ", "))}
			}
		case "type":
			e.Type = value
		default:
			return e, &bodyError{422, "query." + name, "unknown query parameter; want type or topic"}
		}
	}
	if types := appendable(); !slices.Contains(types, e.Type) && e.Topic != schemas.TopicAgents {
		return e, &bodyError{422, "query.type", fmt.Sprintf("%q: want one of %s, or with topic=agents any", e.Type, strings.Join(types, ", "))}
	}
	return e, nil
}

// topics returns the topics to which events may be appended.
func topics() []string {
	return slices.DeleteFunc(schemas.Topics(), func(t string) bool { return t == schemas.TopicRejected })
}

// reserved lists the types that only Recount appends.
var reserved = []string{schemas.TypeRejected, schemas.TypeErased, schemas.TypeRecordsRetired, schemas.TypeKeysPlaced}

// appendable returns the types that clients may append: all but the reserved ones.
func appendable() []string {
	var types []string
	for _, k := range schemas.Kinds() {
		if !slices.Contains(reserved, k.Type) {
			types = append(types, k.Type)
		}
	}
	return types
}

// AppendResponse is the answer of POST /v1/events.
type AppendResponse struct {
	Events []api.Appended `json:"events" nullable:"false" doc:"The events, in the order of the request."`
}

// validate refuses types that cannot be appended here. The backend checks payloads, because it
// decodes them anyway.
func validate(events []schemas.Event) error {
	for i, e := range events {
		location := locationOf(i, len(events))
		if e.Type == schemas.TypeRejected {
			return &bodyError{422, location + ".type", "rejected: only the pipeline appends these"}
		}
		if e.Type == schemas.TypeErased {
			return &bodyError{422, location + ".type", "events.erased: use POST /v1/forget, which appends these"}
		}
		if e.Type == schemas.TypeKeysPlaced {
			return &bodyError{422, location + ".type", "keys.placed: only the log appends these"}
		}
		if e.Type == schemas.TypeRecordsRetired {
			return &bodyError{422, location + ".type", "records.retired: use POST /v1/retain, which appends these"}
		}
		kind, known := e.Kind()
		switch {
		case !known:
			return &bodyError{422, location + ".type", fmt.Sprintf("%q: unknown type; an agent's event may have any type with ?topic=agents", e.Type)}
		case e.Topic != "" && kind.Topic != e.Topic:
			return &bodyError{422, location + ".type", fmt.Sprintf("%q: this type belongs to topic %s, not %s", e.Type, kind.Topic, e.Topic)}
		}
	}
	return nil
}

// locationOf returns the location of the ith of n events in a body.
func locationOf(i, n int) string {
	if n > 1 {
		return fmt.Sprintf("body[%d]", i)
	}
	return "body"
}

// own replaces each event by the one that the principal may append (access.Own), or fails for all.
func own(ctx context.Context, events []schemas.Event) error {
	p, _ := access.FromContext(ctx)
	for i, e := range events {
		var err error
		if events[i], err = access.CheckOwnership(p, e); err == nil {
			continue
		}
		location := locationOf(i, len(events))
		var foreign *access.OwnError
		if errors.As(err, &foreign) {
			return &bodyError{http.StatusForbidden, location + "." + foreign.Field, foreign.Why}
		}
		return &bodyError{422, location, err.Error()}
	}
	return nil
}

// firstRead is the maximum buffer allocated from Content-Length before anything is read.
const firstRead = 1 << 20

func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		// Refuse without reading it all; the connection is closed afterwards.
		return nil, &http.MaxBytesError{Limit: limit}
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(30 * time.Second))
	var data bytes.Buffer
	if size := min(r.ContentLength, firstRead); size > 0 {
		data.Grow(int(size) + bytes.MinRead) // avoids copying for most bodies
	}
	if _, err := data.ReadFrom(http.MaxBytesReader(w, r.Body, limit)); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return nil, err
		}
		return nil, &bodyError{400, "body", "cut short: " + err.Error()}
	}
	return data.Bytes(), nil
}
