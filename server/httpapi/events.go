package httpapi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/recountdb/recount/internal/rawjson"
	"github.com/recountdb/recount/schemas"
)

// The media types of events.
const (
	mediaJSON   = "application/json"
	mediaNDJSON = "application/x-ndjson"
	mediaEvent  = "application/cloudevents+json"
	mediaBatch  = "application/cloudevents-batch+json"
	mediaProto  = "application/protobuf"
)

// The limits of a request that appends events.
const (
	MaxBatch = 10_000
	// MaxEvent is the maximum size of a payload in bytes: the log's default maximum for an event
	// (pipeline.DefaultMaxEventBytes) less 64 KiB for key and headers.
	MaxEvent = 4<<20 - 64<<10
	// maxKey is the maximum length of a key in bytes, far above that of workspace names.
	maxKey = 8192
)

// bodyError reports what is wrong at one place in a body, and the HTTP status to answer with.
type bodyError struct {
	status   int
	location string
	reason   string
}

func (e *bodyError) Error() string { return e.location + ": " + e.reason }

// parseEvents decodes the events in a body: one CloudEvent in JSON (structured mode) or bare
// payload, an array of them, or one of them on each line. def holds the attributes that an event
// does not set.
func parseEvents(media string, def schemas.Event, body []byte) ([]schemas.Event, error) {
	if !utf8.Valid(body) {
		return nil, &bodyError{422, "body", fmt.Sprintf("not UTF-8 at byte %d; send binary payloads as data_base64", invalidAt(body))}
	}
	items, err := splitItems(media, body)
	if err != nil {
		return nil, err
	}
	switch {
	case len(items) == 0:
		return nil, &bodyError{422, "body", "no events"}
	case len(items) > MaxBatch:
		return nil, &bodyError{413, "body", fmt.Sprintf("%d events; one request may have at most %d", len(items), MaxBatch)}
	}
	events := make([]schemas.Event, len(items))
	for i, it := range items {
		if events[i], err = parseEvent(it.raw, def, media == mediaEvent || media == mediaBatch); err != nil {
			var be *bodyError
			if errors.As(err, &be) {
				be.location = strings.TrimSuffix(it.location+"."+be.location, ".")
				return nil, be
			}
			return nil, err
		}
		if len(events[i].Payload) > MaxEvent {
			return nil, &bodyError{413, it.location, fmt.Sprintf("the payload has %d bytes, the maximum is %d", len(events[i].Payload), MaxEvent)}
		}
	}
	return events, nil
}

type item struct {
	location string
	raw      []byte
}

func splitItems(media string, body []byte) ([]item, error) {
	switch media {
	case mediaJSON, mediaEvent, mediaBatch, "":
	case mediaNDJSON:
		var items []item
		n := 0
		for line := range bytes.Lines(body) {
			n++
			if line = bytes.TrimSpace(line); len(line) > 0 {
				if !json.Valid(line) {
					return nil, &bodyError{400, fmt.Sprintf("body line %d", n), "not JSON"}
				}
				items = append(items, item{fmt.Sprintf("body line %d", n), line})
			}
		}
		return items, nil
	default:
		return nil, &bodyError{415, "header.Content-Type", fmt.Sprintf("%q: want %s, %s, %s, %s or %s", media, mediaJSON, mediaNDJSON, mediaEvent, mediaBatch, mediaProto)}
	}
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		return nil, &bodyError{400, "body", "empty; want a JSON object or an array of them"}
	}
	if !json.Valid(body) {
		return nil, notJSON(body)
	}
	if body[0] != '[' {
		return []item{{"body", body}}, nil
	}
	var items []item
	for raw := range rawjson.Elements(body) {
		items = append(items, item{fmt.Sprintf("body[%d]", len(items)), raw})
	}
	return items, nil
}

// notJSON returns the reason why a body is not exactly one JSON value.
func notJSON(body []byte) error {
	dec := json.NewDecoder(bytes.NewReader(body))
	var value json.RawMessage
	if err := dec.Decode(&value); err != nil {
		return &bodyError{400, "body", "not JSON: " + err.Error()}
	}
	return &bodyError{400, "body", "more after the JSON value; send an array, or one value a line as " + mediaNDJSON}
}

// member is a name and value of an object.
type member struct {
	name  string
	value []byte
}

// parseEvent decodes a CloudEvent, if raw looks like one, or else a bare payload into e.
func parseEvent(raw []byte, e schemas.Event, structured bool) (schemas.Event, error) {
	if len(raw) == 0 || raw[0] != '{' {
		return e, &bodyError{422, "", "want a JSON object"}
	}
	var room [12]member
	attrs := room[:0]
	for name, value := range rawjson.Members(raw) {
		switch name {
		case "specversion", "data", "data_base64", "payload": // payload is a mistake for data; parseCloudEvent reports it
			structured = true
		}
		attrs = append(attrs, member{name, value})
	}
	if !structured {
		e.Payload = raw
		return e, nil
	}
	return parseCloudEvent(e, attrs)
}

// parseCloudEvent sets the attributes in e. If a name occurs twice, the last one counts.
func parseCloudEvent(e schemas.Event, attrs []member) (schemas.Event, error) {
	// The order is fixed, so that the same mistake is reported whenever there are several.
	slices.SortStableFunc(attrs, func(a, b member) int { return strings.Compare(a.name, b.name) })
	var id string
	for i, a := range attrs {
		name := a.name
		if i+1 < len(attrs) && attrs[i+1].name == name {
			continue
		}
		if name == "data" {
			e.Payload = a.value
			continue
		}
		if string(a.value) == "null" {
			continue
		}
		s, ok := rawjson.Text(a.value)
		if !ok && name != "payload" {
			return e, &bodyError{422, name, "want a string"}
		}
		switch name {
		case "specversion":
			if s != "1.0" {
				return e, &bodyError{422, name, fmt.Sprintf("%q: want 1.0", s)}
			}
		case "id":
			id = s
		case "type":
			e.Type = s
		case "source":
			e.Source = s
		case "subject":
			e.Subject = s
		case "time":
			t, err := time.Parse(time.RFC3339Nano, s)
			if err != nil {
				return e, &bodyError{422, name, fmt.Sprintf("%q: want an RFC 3339 time", s)}
			}
			e.Time = t.UTC()
		case "datacontenttype":
			e.ContentType = s
		case "partitionkey":
			if len(s) > maxKey {
				return e, &bodyError{422, name, fmt.Sprintf("%d bytes, the maximum is %d", len(s), maxKey)}
			}
			e.Key = []byte(s)
		case "data_base64":
			b, err := base64.StdEncoding.DecodeString(s)
			if err != nil {
				return e, &bodyError{422, name, "not base64"}
			}
			e.Payload = b
		case "payload":
			return e, &bodyError{422, name, "unknown attribute; want the payload in data or data_base64"}
		default:
			return e, &bodyError{422, name, "unknown attribute; partitionkey is the only extension that is kept"}
		}
	}
	if e.Payload == nil {
		return e, &bodyError{422, "data", "missing; want the payload in data or data_base64"}
	}
	if id != "" {
		e.ID = schemas.ProducerID(e.Source, id)
	}
	return e, nil
}

// parseBinary decodes one event in the binary mode of CloudEvents: the body is the payload in
// protobuf, the ce-* headers are the attributes.
func parseBinary(header http.Header, e schemas.Event, body []byte) ([]schemas.Event, error) {
	if len(body) > MaxEvent {
		return nil, &bodyError{413, "body", fmt.Sprintf("the payload has %d bytes, the maximum is %d", len(body), MaxEvent)}
	}
	var attrs []member
	for name, values := range header {
		attr, ok := strings.CutPrefix(strings.ToLower(name), "ce-")
		if !ok {
			continue
		}
		value, err := url.PathUnescape(values[0])
		if err != nil || len(values) > 1 || !utf8.ValidString(value) {
			return nil, &bodyError{422, "header." + name, "want one value, percent-encoded UTF-8"}
		}
		if attr == "data" || attr == "data_base64" || attr == "datacontenttype" {
			return nil, &bodyError{422, "header." + name, "not allowed in binary mode: the payload is the body, and its type is Content-Type"}
		}
		quoted, _ := json.Marshal(value) // cannot fail for a string
		attrs = append(attrs, member{attr, quoted})
	}
	e.Payload = body
	e, err := parseCloudEvent(e, attrs)
	var be *bodyError
	if errors.As(err, &be) {
		be.location = "header.ce-" + be.location
	}
	e.ContentType = schemas.ContentProto
	return []schemas.Event{e}, err
}

func invalidAt(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return len(b)
}

// cloudEvent is the form in which a Client sends an event.
type cloudEvent struct {
	SpecVersion  string          `json:"specversion"`
	ID           string          `json:"id,omitempty"`
	Type         string          `json:"type"`
	Source       string          `json:"source,omitempty"`
	Subject      string          `json:"subject,omitempty"`
	Time         *time.Time      `json:"time,omitempty"`
	ContentType  string          `json:"datacontenttype,omitempty"`
	PartitionKey string          `json:"partitionkey,omitempty"`
	Data         json.RawMessage `json:"data,omitempty"`
	DataBase64   []byte          `json:"data_base64,omitempty"`
}

func toCloudEvent(e schemas.Event) cloudEvent {
	c := cloudEvent{
		SpecVersion: "1.0", Type: e.Type, Source: e.Source, Subject: e.Subject,
		ContentType: e.ContentType, PartitionKey: string(e.Key),
	}
	if !e.ID.IsZero() {
		c.ID = e.ID.String()
	}
	if !e.Time.IsZero() {
		t := e.Time.UTC()
		c.Time = &t
	}
	// The payload must arrive byte for byte, because an id may be derived from it. Encoding JSON
	// inside JSON would remove white space.
	var compact bytes.Buffer
	if e.ContentType == "" || e.ContentType == schemas.ContentJSON {
		_ = json.Compact(&compact, e.Payload) // writes nothing on an error
	}
	if compact.Len() > 0 && bytes.Equal(compact.Bytes(), e.Payload) {
		c.Data = e.Payload
	} else {
		c.DataBase64 = e.Payload
	}
	return c
}
