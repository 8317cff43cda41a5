package httpapi

import (
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	packing "github.com/recountdb/recount/query/context"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/query/feedback"
	"github.com/recountdb/recount/query/look"
	"github.com/recountdb/recount/query/replays"
	sessionlist "github.com/recountdb/recount/query/sessions"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/danger"
	"github.com/recountdb/recount/replay/plan"
	"github.com/recountdb/recount/server/runs"
)

// schemaName returns the name of a type in the OpenAPI description. The types of packages
// evidence, context, feedback, look, replays, sessions and runs get a prefix, because their names, such as Request, are ambiguous
// beside those of other packages.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	switch t.PkgPath() {
	case reflect.TypeFor[evidence.Request]().PkgPath():
		return "Evidence" + name
	case reflect.TypeFor[packing.Request]().PkgPath():
		return "Context" + name
	case reflect.TypeFor[feedback.Request]().PkgPath():
		return "Feedback" + name
	case reflect.TypeFor[look.Request]().PkgPath():
		return "Look" + name
	case reflect.TypeFor[sessionlist.Request]().PkgPath():
		return "Sessions" + name
	case reflect.TypeFor[replays.Request]().PkgPath():
		return "Replays" + name
	case reflect.TypeFor[runs.Request]().PkgPath():
		return "Replay" + name
	case reflect.TypeFor[plan.Request]().PkgPath(), reflect.TypeFor[replay.Plan]().PkgPath(), reflect.TypeFor[danger.Finding]().PkgPath():
		return "ReplayPlan" + name
	}
	return name
}

// describe fills in what applies to the whole API.
func describe(o *huma.OpenAPI) {
	o.Info.Description = "The memory of engineering work: append commands as events, query what happened, and check the answers. Each answer names the watermark that it was computed at and carries a proof."
	o.Info.License = &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"}
	o.Servers = []*huma.Server{{URL: "http://127.0.0.1:7171", Description: "The default address of recount up."}}
	o.Tags = []*huma.Tag{
		{Name: "events", Description: "Appending to the log."},
		{Name: "questions", Description: "Queries about commands and agents' memory."},
		{Name: "code", Description: "Queries about code, at any imported commit."},
		{Name: "runtime", Description: "Queries about running services, by spans joined to code."},
		{Name: "replay", Description: "Plans to run recorded commands again, running them, and what replays did."},
		{Name: "operation", Description: "Status and maintenance of the node."},
	}
	o.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token": {Type: "http", Scheme: "bearer", Description: "The node's token. Required if one is configured, and always on an address other than loopback."},
	}
	o.Security = []map[string][]string{{"token": {}}, {}}
}

const (
	exampleEvent = `{"command":"make test","cwd":"/src/app","exit_code":2}`
	exampleCloud = `{"specversion":"1.0","id":"a-1","source":"ci","type":"command.executed","time":"2026-11-20T12:00:00Z","data":{"command":"make test","exit_code":0}}`
)

// eventsOperation returns the description of POST /v1/events, which postEvents serves.
func eventsOperation(o *huma.OpenAPI) *huma.Operation {
	registry := o.Components.Schemas
	var types []any
	for _, t := range appendable() {
		types = append(types, t)
	}
	var names []any
	for _, t := range topics() {
		names = append(names, t)
	}
	text := func(d string) *huma.Schema { return &huma.Schema{Type: "string", Description: d} }
	payload := &huma.Schema{
		Type: "object", AdditionalProperties: true,
		Description: "A payload: a message of schemas/recount/v1/events.proto in the protobuf JSON mapping.",
		Examples:    []any{map[string]any{"command": "make test", "cwd": "/src/app", "exit_code": 2}},
	}
	registry.Map()["Payload"] = payload
	registry.Map()["CloudEvent"] = &huma.Schema{
		Type: "object", Description: "CloudEvents 1.0 in JSON. id and time may be left out; both are then derived.",
		Required: []string{"specversion"}, AdditionalProperties: false,
		Properties: map[string]*huma.Schema{
			"specversion":     {Type: "string", Enum: []any{"1.0"}, Description: "The version of CloudEvents."},
			"id":              text("The producer's id, unique within source. The same id appended twice is one event."),
			"type":            text("The type; the query parameter type is the default. With topic=agents it may be any."),
			"source":          text("The producer."),
			"subject":         text("The subject of the event."),
			"time":            {Type: "string", Format: "date-time", Description: "When it happened."},
			"datacontenttype": {Type: "string", Enum: []any{"application/json", "application/protobuf"}, Description: "The media type of the payload; JSON if absent."},
			"partitionkey":    text("Events of one key stay in order; the workspace if absent."),
			"data":            {Ref: "#/components/schemas/Payload"},
			"data_base64":     {Type: "string", ContentEncoding: "base64", Description: "The payload, if it is not JSON."},
		},
	}
	one := &huma.Schema{
		Description: "A CloudEvent or a bare payload.",
		AnyOf:       []*huma.Schema{{Ref: "#/components/schemas/CloudEvent"}, {Ref: "#/components/schemas/Payload"}},
	}
	registry.Map()["Event"] = one
	event := &huma.Schema{Ref: "#/components/schemas/Event"}
	cloud := &huma.Schema{Ref: "#/components/schemas/CloudEvent"}
	most := MaxBatch
	least := 1
	batch := func(s *huma.Schema) *huma.Schema {
		return &huma.Schema{Type: "array", Items: s, MinItems: &least, MaxItems: &most, Description: "A batch: all events are checked before any is appended."}
	}
	failure := func(d string) *huma.Response {
		return &huma.Response{Description: d, Content: map[string]*huma.MediaType{
			mediaProblem: {Schema: registry.Schema(reflect.TypeFor[huma.ErrorModel](), true, "Error")},
		}}
	}
	return &huma.Operation{
		OperationID: "appendEvents", Method: http.MethodPost, Path: "/v1/events", Tags: []string{TagEvents},
		Summary:     "Append events",
		Description: fmt.Sprintf("Appends one event or a batch of at most %d, and answers when they are synced to disk, with their positions. Secrets in commands, output and environment are replaced by [redacted:KIND] first. An event whose id is already in the log is not appended again: the answer has its position.", MaxBatch),
		Parameters: []*huma.Param{{
			Name: "type", In: "query", Description: "The type of bare payloads: a known type, or any type with topic=agents.",
			Schema: &huma.Schema{Type: "string", Default: "command.executed", Examples: types},
		}, {
			Name: "topic", In: "query", Description: "The topic of the events. With agents, events of unknown types are accepted and stored as they are.",
			Schema: &huma.Schema{Type: "string", Enum: names},
		}},
		RequestBody: &huma.RequestBody{
			Required: true, Description: "One event or a batch.",
			Content: map[string]*huma.MediaType{
				mediaJSON: {
					Schema:   &huma.Schema{AnyOf: []*huma.Schema{event, batch(event)}},
					Examples: map[string]*huma.Example{"bare": {Summary: "A bare payload", Value: json.RawMessage(exampleEvent)}, "cloudevent": {Summary: "A CloudEvent", Value: json.RawMessage(exampleCloud)}},
				},
				mediaEvent:  {Schema: cloud, Example: json.RawMessage(exampleCloud)},
				mediaBatch:  {Schema: batch(cloud), Example: json.RawMessage("[" + exampleCloud + "]")},
				mediaNDJSON: {Schema: text("One event a line."), Example: exampleEvent},
				mediaProto:  {Schema: &huma.Schema{Type: "string", Format: "binary", Description: "One payload in protobuf; attributes as ce-* headers (CloudEvents' binary mode)."}},
			},
		},
		Responses: map[string]*huma.Response{
			"200": {
				Description: "The events are on disk.",
				Content:     map[string]*huma.MediaType{mediaJSON: {Schema: registry.Schema(reflect.TypeFor[AppendResponse](), true, "AppendResponse")}},
			},
			"400": failure("The body is not JSON."),
			"401": failure("The token is missing, unknown or expired."),
			"403": failure("The token may not append an event: errors names the event and the field."),
			"406": failure("The answer is JSON, which the Accept header does not allow."),
			"409": failure("An agent's event has the id of another event with different content; nothing was appended."),
			"413": failure("The body, a payload or the batch is too large."),
			"415": failure("The media type is not supported."),
			"422": failure("An event is invalid: errors says which, and what is expected."),
			"503": failure("The log cannot accept events now; try again."),
			"500": failure("The server failed; search its log for the request's id."),
		},
	}
}

// refusals are the answers of every endpoint that are given before its operation is looked at, by
// status.
var refusals = map[int]string{
	http.StatusForbidden:                   "The token may not use this, or the request comes from a web page of another origin.",
	http.StatusUnsupportedMediaType:        "The media type of the body is not supported.",
	http.StatusMisdirectedRequest:          "The Host header is not a name of this server.",
	http.StatusTooManyRequests:             "Too many wrong tokens came from this address; Retry-After says when to come again.",
	http.StatusRequestHeaderFieldsTooLarge: "The request line and the headers together have more than 64 KiB. The body is plain text, because the request was not read.",
	http.StatusServiceUnavailable:          "This process does not offer the operation (its roles), or not now.",
}

// addRefusals describes the refusals once, and refers to them in every operation that does not
// describe the status itself.
func addRefusals(o *huma.OpenAPI) {
	problem := &huma.MediaType{Schema: o.Components.Schemas.Schema(reflect.TypeFor[huma.ErrorModel](), true, "Error")}
	o.Components.Responses = map[string]*huma.Response{}
	for status, description := range refusals {
		content := map[string]*huma.MediaType{mediaProblem: problem}
		if status == http.StatusRequestHeaderFieldsTooLarge {
			content = map[string]*huma.MediaType{mediaText: {Schema: &huma.Schema{Type: "string"}}}
		}
		o.Components.Responses[refusalName(status)] = &huma.Response{Description: description, Content: content}
	}
	for _, item := range o.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post} {
			if op == nil {
				continue
			}
			for status := range refusals {
				code := strconv.Itoa(status)
				if op.Responses[code] == nil && (op.RequestBody != nil || status != http.StatusUnsupportedMediaType) {
					op.Responses[code] = &huma.Response{Ref: "#/components/responses/" + refusalName(status)}
				}
			}
		}
	}
}

// refusalName returns the name of a refusal in the description, such as MisdirectedRequest.
func refusalName(status int) string { return strings.ReplaceAll(http.StatusText(status), " ", "") }

// docsPage serves the description as a page without scripts or external resources.
func docsPage(o *huma.OpenAPI) http.HandlerFunc {
	var b strings.Builder
	b.WriteString(`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>Recount API</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}code,pre{font:14px/1.4 ui-monospace,monospace;background:#f3f3f3;border-radius:4px;padding:.1em .3em}pre{padding:.8em;overflow:auto}h2{border-top:1px solid #ddd;padding-top:1rem}table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;padding:.2em .6em .2em 0}@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#151515}code,pre{background:#262626}h2{border-color:#333}a{color:#8ab4f8}}</style></head><body>`)
	fmt.Fprintf(&b, "<h1>Recount API</h1><p>%s</p><p>Machine-readable: <a href=\"/openapi.json\">openapi.json</a>, <a href=\"/openapi.yaml\">openapi.yaml</a>.</p>", html.EscapeString(o.Info.Description))
	fmt.Fprintf(&b, "<pre>curl -s -H 'content-type: application/json' -d '%s' http://127.0.0.1:7171/v1/events\ncurl -s -H 'content-type: application/json' -d '{\"text\":\"failing tests\"}' http://127.0.0.1:7171/v1/find</pre>", html.EscapeString(exampleEvent))
	b.WriteString("<p>Any endpoint may also answer:</p>")
	for _, status := range slices.Sorted(maps.Keys(refusals)) {
		fmt.Fprintf(&b, "<p>%d: %s</p>", status, html.EscapeString(refusals[status]))
	}
	for _, path := range slices.Sorted(maps.Keys(o.Paths)) {
		item := o.Paths[path]
		for _, op := range []*huma.Operation{item.Get, item.Post} {
			if op != nil {
				writeOperation(&b, path, op, o)
			}
		}
	}
	b.WriteString("</body></html>")
	page := []byte(b.String())
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		_, _ = w.Write(page)
	}
}

func writeOperation(b *strings.Builder, path string, op *huma.Operation, o *huma.OpenAPI) {
	fmt.Fprintf(b, "<h2 id=\"%s\">%s</h2><p><code>%s %s</code></p><p>%s</p>", html.EscapeString(op.OperationID),
		html.EscapeString(op.Summary), op.Method, html.EscapeString(path), html.EscapeString(op.Description))
	if len(op.Parameters) > 0 {
		b.WriteString("<h3>Parameters</h3><table>")
		for _, p := range op.Parameters {
			description := p.Description
			if description == "" && p.Schema != nil {
				description = p.Schema.Description
			}
			fmt.Fprintf(b, "<tr><td><code>%s</code></td><td>%s</td><td>%s</td></tr>", html.EscapeString(p.Name), p.In, html.EscapeString(description))
		}
		b.WriteString("</table>")
	}
	if op.RequestBody != nil {
		for _, media := range slices.Sorted(maps.Keys(op.RequestBody.Content)) {
			writeSchema(b, "Body, "+media, op.RequestBody.Content[media].Schema, o)
		}
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		r := op.Responses[status]
		if r.Ref != "" {
			continue // written once, at the head
		}
		if !strings.HasPrefix(status, "2") {
			fmt.Fprintf(b, "<p>%s: %s</p>", status, html.EscapeString(r.Description))
			continue
		}
		for _, media := range slices.Sorted(maps.Keys(r.Content)) {
			writeSchema(b, status+", "+media, r.Content[media].Schema, o)
		}
	}
}

// writeSchema writes a table of an object's fields; for other types it writes the description.
func writeSchema(b *strings.Builder, title string, s *huma.Schema, o *huma.OpenAPI) {
	if s == nil {
		return
	}
	if s.Ref != "" {
		s = o.Components.Schemas.SchemaFromRef(s.Ref)
	}
	fmt.Fprintf(b, "<h3>%s</h3>", html.EscapeString(title))
	if s == nil || len(s.Properties) == 0 {
		if s != nil && s.Description != "" {
			fmt.Fprintf(b, "<p>%s</p>", html.EscapeString(s.Description))
		}
		return
	}
	b.WriteString("<table>")
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		typ := p.Type
		if p.Ref != "" {
			typ = p.Ref[strings.LastIndexByte(p.Ref, '/')+1:]
		}
		fmt.Fprintf(b, "<tr><td><code>%s</code></td><td>%s</td><td>%s</td></tr>", html.EscapeString(name), html.EscapeString(typ), html.EscapeString(p.Description))
	}
	b.WriteString("</table>")
}
