package mcp

import (
	"encoding/json"
	"reflect"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/wire"
	"github.com/recountdb/recount/schemas"
)

// answer is what a tool answers.
type answer struct {
	// parts are the responses of the questions that were asked.
	parts []part
	empty bool
	// next is the cursor of the next page, "" on the last.
	next string

	heading string // of the next part
}

// part is the response of one question, and its text.
type part struct {
	path     string
	response any
	basis    query.Basis
	heading  string
	text     string
	// own tells that text says something else than the codecs of package wire would.
	own bool
}

// add adds a response with its text, which counts if package wire has none.
func (a *answer) add(path string, response any, basis query.Basis, text string) {
	a.parts = append(a.parts, part{path: path, response: response, basis: basis, heading: a.heading, text: strings.TrimRight(text, "\n")})
	a.heading = ""
	a.empty = (a.empty || len(a.parts) == 1) && basis.Status == query.StatusEmpty
}

// addOwn adds a response with a text that says only a part of it.
func (a *answer) addOwn(path string, response any, basis query.Basis, text string) {
	a.add(path, response, basis, text)
	a.parts[len(a.parts)-1].own = true
}

// write returns the text of an answer in a connection, and what to call once it was sent: later
// answers then refer to the symbols of this one by their numbers.
func (a *answer) write(s *wire.Session) (text string, sent func()) {
	var lines []string
	var all []func()
	for _, p := range a.parts {
		if p.heading != "" {
			lines = append(lines, p.heading)
		}
		if payload, ok := wire.Of(p.path[strings.LastIndexByte(p.path, '/')+1:], p.response); ok && !p.own {
			if data, done, err := s.Encode(payload); err == nil {
				lines, all = append(lines, strings.TrimRight(string(data), "\n")), append(all, done)
				continue
			}
		}
		if p.text != "" {
			lines = append(lines, p.text)
		}
		if p.basis.Hint != "" {
			lines = append(lines, "note: "+p.basis.Hint)
		}
	}
	if len(lines) == 0 {
		lines = append(lines, "nothing found")
	}
	return strings.Join(lines, "\n"), func() {
		for _, done := range all {
			done()
		}
	}
}

// watermark returns the lowest of the watermarks of the parts.
func (a *answer) watermark() schemas.Watermark {
	var w schemas.Watermark
	for _, p := range a.parts {
		for tp, next := range p.basis.Watermark {
			if have, named := w[tp]; !named || next < have {
				if w == nil {
					w = schemas.Watermark{}
				}
				w[tp] = next
			}
		}
	}
	return w
}

// result is the structured content of an answer. Clients that show the model either the structured
// content or the text, and most do, show it the same either way: the text is in both, and the data
// is there only on request (decision 83).
type result struct {
	Answer string `json:"answer,omitempty"`
	// Proof is the resource with the watermark, the proof and the data.
	Proof string `json:"proof,omitempty"`
	// Next is the cursor of the next page.
	Next string         `json:"next,omitempty"`
	Data map[string]any `json:"data,omitempty"`
}

// The keys of a call's and an answer's _meta.
const (
	// metaFormat asks for data in place of text, with the value "json".
	metaFormat    = "recount/format"
	metaWatermark = "recount/watermark"
	metaStatus    = "recount/status"
)

// told returns the result of a call: text, or data in place of it.
func (a *answer) told(uri, text string, asData bool) *sdk.CallToolResult {
	out := result{Answer: text, Proof: uri, Next: a.next}
	body := text
	if a.next != "" {
		body += "\nnext page: cursor " + a.next
	}
	if uri != "" {
		body += "\nproof: " + uri
	}
	if asData {
		out.Answer, out.Data = "", a.data()
		if b, err := json.Marshal(out); err == nil {
			body = string(b)
		}
	}
	status := query.StatusOK
	if a.empty {
		status = query.StatusEmpty
	}
	meta := sdk.Meta{metaStatus: status}
	if w := a.watermark(); len(w) > 0 {
		meta[metaWatermark] = w.String()
	}
	return &sdk.CallToolResult{
		Meta: meta, Content: []sdk.Content{&sdk.TextContent{Text: body}}, StructuredContent: out,
	}
}

// data returns the responses by the path of their questions, without their bases.
func (a *answer) data() map[string]any {
	all := map[string]any{}
	for _, p := range a.parts {
		b, err := json.Marshal(p.response)
		var fields map[string]any
		if err != nil || json.Unmarshal(b, &fields) != nil {
			continue // every response is an object
		}
		for name := range basisFields {
			delete(fields, name)
		}
		all[p.path] = fields
	}
	return all
}

// basisFields are the fields of responses that say what an answer rests on; they are in the answer's
// resource.
var basisFields = func() map[string]bool {
	all := map[string]bool{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[query.Basis]()) {
		all[nameOf(f)] = true
	}
	return all
}()
