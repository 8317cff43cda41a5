package nodeview

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/schemas"
)

// tailed is one record as log tail prints it with --json.
type tailed struct {
	Position schemas.Position  `json:"position"`
	Appended time.Time         `json:"appended"`
	ID       string            `json:"id,omitempty"`
	Type     string            `json:"type,omitempty"`
	Source   string            `json:"source,omitempty"`
	Time     *time.Time        `json:"time,omitempty"`
	Key      string            `json:"key,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
	// Payload is JSON as stored, or the JSON form of known protobuf; PayloadBase64 holds any other
	// bytes. Only one of them is set.
	Payload       json.RawMessage `json:"payload,omitempty"`
	PayloadBase64 []byte          `json:"payload_base64,omitempty"`
	// Erased describes an erased event.
	Erased *schemas.Erasure `json:"erased,omitempty"`
	// Error is why the record is not an event.
	Error string `json:"error,omitempty"`
}

// Record prints one record of the log, with --json as one line.
func Record(term *render.Terminal, r schemas.LogRecord) error {
	e, err := r.Event()
	value := r.Value
	if err == nil && e.ContentType == schemas.ContentProto {
		if m, derr := e.DecodePayload(); derr == nil {
			if value, derr = schemas.EncodePayload(m); derr != nil {
				return derr
			}
		}
	}
	if !term.JSON {
		typ, payload := e.Type, string(bytes.TrimSpace(value))
		if x, ok := r.Erased(); ok {
			payload = fmt.Sprintf("erased by %s; its SHA-256 was %s", x.By, x.SHA256)
		}
		if err != nil {
			typ = "not an event: " + err.Error()
		}
		if !utf8.ValidString(payload) {
			payload = strconv.QuoteToASCII(payload)
		}
		const widest = 2000
		if len(payload) > widest {
			payload = strings.ToValidUTF8(payload[:widest], "") + term.Paint(render.Dim, fmt.Sprintf(" … %d bytes in all", len(r.Value)))
		}
		_, werr := fmt.Fprintf(term.Out, "%s %s %s %s\n    %s\n", term.Paint(render.Yellow, r.Position.String()),
			r.Timestamp.Local().Format("2006-01-02 15:04:05.000"), term.Paint(render.Cyan, render.OneLine(typ)), term.Paint(render.Dim, render.OneLine(string(r.Key))), render.Indent(render.PlainText(payload), "    "))
		return werr
	}
	t := tailed{Position: r.Position, Appended: r.Timestamp.UTC(), Key: strings.ToValidUTF8(string(r.Key), "\uFFFD")}
	for _, h := range r.Headers {
		if t.Headers == nil {
			t.Headers = map[string]string{}
		}
		t.Headers[h.Key] = strings.ToValidUTF8(string(h.Value), "\uFFFD")
	}
	if err != nil {
		t.Error = err.Error()
	} else {
		t.ID, t.Type, t.Source, t.Time = e.ID.String(), e.Type, e.Source, &e.Time
	}
	if x, ok := r.Erased(); ok {
		t.Erased = &x
	}
	if json.Valid(value) {
		t.Payload = value
	} else {
		t.PayloadBase64 = value
	}
	enc := json.NewEncoder(term.Out)
	enc.SetEscapeHTML(false)
	return enc.Encode(t)
}
