package mcp

import (
	"encoding/json"
	"reflect"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// answer is what a tool answers: the text for a model, and what the text was made of.
type answer struct {
	text string
	// parts are the responses of the questions that were asked, by the question's path.
	parts []part
	empty bool
	hints []string
	// next is the cursor of the next page, "" on the last.
	next string
}

// part is the response of one question.
type part struct {
	path     string
	response any
	basis    query.Basis
}

// add adds a response with its text.
func (a *answer) add(path string, response any, basis query.Basis, text string) {
	a.parts = append(a.parts, part{path, response, basis})
	if text = strings.TrimRight(text, "\n"); text != "" {
		if a.text != "" {
			a.text += "\n"
		}
		a.text += text
	}
	a.empty = (a.empty || len(a.parts) == 1) && basis.Status == query.StatusEmpty
	if basis.Hint != "" {
		a.hints = append(a.hints, basis.Hint)
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

// told returns the result of a call.
func (a *answer) told(uri string, asData bool) *sdk.CallToolResult {
	text := a.text
	if text == "" {
		text = "nothing found"
	}
	for _, h := range a.hints {
		text += "\nnote: " + h
	}
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
		b, err := json.Marshal(out.Data)
		if err == nil {
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
