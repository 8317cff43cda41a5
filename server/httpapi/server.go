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
)

// DefaultMaxBody bounds a request's body in bytes, unless Options say otherwise.
const DefaultMaxBody = 16 << 20

// maxQuestion bounds the bodies that ask.
const maxQuestion = 64 << 10

// Options are how the API is served. The zero value serves loopback names
// without a token.
type Options struct {
	// Version is told in the OpenAPI description.
	Version string
	// Gate says who asks, by the token in Authorization: Bearer; nil asks for none, and
	// everybody is the operator.
	Gate *access.Gate
	// Hosts are names besides localhost that a Host header may have, lower case.
	Hosts []string
	// MaxBody bounds the body of POST /v1/events in bytes; 0 is DefaultMaxBody.
	MaxBody int64
	// Beat is how often a stream of new commands says that it lives, for proxies
	// that close what is silent; 0 is DefaultBeat.
	Beat time.Duration
	// Stopping ends when the server begins to stop: streams then do not wait for
	// clients that do not read. Nil is never.
	Stopping context.Context
	// Log gets one debug line a request and the stacks of panics; nil is silence.
	Log *slog.Logger
	// Registry is where the HTTP metrics go; nil keeps them nowhere.
	Registry prometheus.Registerer
	// Metrics answers /metrics; nil leaves the route out.
	Metrics http.Handler
	// Ready says why the node is not ready, or nil.
	Ready func(context.Context) error
}

// New makes the handler of the whole API.
func New(b api.Backend, o Options) http.Handler {
	mux, _ := build(b, &o)
	return Drained(guard(mux, o, newMetrics(o.Registry)))
}

// OpenAPI is the description of the API, as GET /openapi.json serves it.
func OpenAPI(version string) ([]byte, error) {
	o := Options{Version: version}
	_, h := build(nil, &o)
	return json.MarshalIndent(h.OpenAPI(), "", "  ")
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
	if o.Ready == nil {
		o.Ready = func(context.Context) error { return nil }
	}
	mux := http.NewServeMux()
	config := huma.DefaultConfig("Recount", o.Version)
	// The $schema links that huma adds would make answers of equal state differ
	// by host name.
	config.CreateHooks = nil
	config.SchemasPath = ""
	config.DocsPath = ""
	config.RejectUnknownQueryParameters = true
	config.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	describe(config.OpenAPI)
	h := humago.New(mux, config)
	s := &server{b: b, o: *o}
	s.routes(h, mux)
	mux.HandleFunc("GET /docs", docsPage(h.OpenAPI()))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/docs", http.StatusFound)
	})
	if o.Metrics != nil {
		mux.Handle("GET /metrics", o.Metrics)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		problem(w, http.StatusNotFound, fmt.Sprintf("no %s %s here; GET /docs lists what is", r.Method, r.URL.Path))
	})
	return mux, h
}

type server struct {
	b       api.Backend
	o       Options
	exports exports
}

// postEvents is written against net/http, because a body may be of five media
// types and is checked against the payloads' own constraints.
func (s *server) postEvents(w http.ResponseWriter, r *http.Request) {
	if refused(w, r, mediaJSON) {
		return
	}
	err := func() error {
		media := ""
		if ct := r.Header.Get("Content-Type"); ct != "" {
			m, _, err := mime.ParseMediaType(ct)
			if err != nil {
				return &bodyError{415, "header.Content-Type", err.Error()}
			}
			media = m
		}
		// curl's default for -d is a form; what it sends is JSON all the same.
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

// defaults are what an event has that does not say it: the type of ?type=, or the default
// type of ?topic=. With ?topic=agents a type may be one that nobody knows.
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

// topics are those that events may be appended to.
func topics() []string {
	return slices.DeleteFunc(schemas.Topics(), func(t string) bool { return t == schemas.TopicRejected })
}

// reserved are the types that only Recount appends.
var reserved = []string{schemas.TypeRejected, schemas.TypeErased, schemas.TypeRecordsRetired, schemas.TypeKeysPlaced}

// appendable are the types that may come in: all but what the pipeline appends.
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

// validate refuses types that cannot be appended here. Payloads are the backend's to
// check, which decodes them anyway.
func validate(events []schemas.Event) error {
	for i, e := range events {
		location := locationOf(i, len(events))
		if e.Type == schemas.TypeRejected {
			return &bodyError{422, location + ".type", "rejected: only the pipeline appends these"}
		}
		if e.Type == schemas.TypeErased {
			return &bodyError{422, location + ".type", "events.erased: ask POST /v1/forget, which appends these"}
		}
		if e.Type == schemas.TypeKeysPlaced {
			return &bodyError{422, location + ".type", "keys.placed: only the log appends these"}
		}
		if e.Type == schemas.TypeRecordsRetired {
			return &bodyError{422, location + ".type", "records.retired: ask POST /v1/retain, which appends these"}
		}
		kind, known := e.Kind()
		switch {
		case !known:
			return &bodyError{422, location + ".type", fmt.Sprintf("%q: unknown; an agent's event may have any type with ?topic=agents", e.Type)}
		case e.Topic != "" && kind.Topic != e.Topic:
			return &bodyError{422, location + ".type", fmt.Sprintf("%q: goes to topic %s, not %s", e.Type, kind.Topic, e.Topic)}
		}
	}
	return nil
}

// locationOf is where the ith of n events stands in a body.
func locationOf(i, n int) string {
	if n > 1 {
		return fmt.Sprintf("body[%d]", i)
	}
	return "body"
}

// own makes the events those that the principal may append, or refuses them all.
func own(ctx context.Context, events []schemas.Event) error {
	p, _ := access.Of(ctx)
	for i, e := range events {
		var err error
		if events[i], err = access.Own(p, e); err == nil {
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

// firstRead is how much room a body gets on its sender's word.
const firstRead = 1 << 20

func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		// Say so without reading it all; the connection is closed after.
		return nil, &http.MaxBytesError{Limit: limit}
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(30 * time.Second))
	var data bytes.Buffer
	if size := min(r.ContentLength, firstRead); size > 0 {
		data.Grow(int(size) + bytes.MinRead) // no copies of what most send
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
