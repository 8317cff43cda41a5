package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/recountdb/recount/internal/tokens"
	"github.com/recountdb/recount/query"
	packing "github.com/recountdb/recount/query/context"
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

	// note is what else to tell, "" for nothing.
	note string
	// subject is what the next parts are about, if an answer is about several.
	subject string
	// budget is the maximum number of tokens of the text, 0 for none, and again answers with a
	// smaller one if the text exceeds it.
	budget int
	again  func(budget int) (answer, error)
}

// part is the response of one question, and what its text says: a payload, or the text itself where
// the question makes it.
type part struct {
	path     string
	response any
	basis    query.Basis
	payload  *wire.Payload
	text     string
}

// add adds a response, whose payload leaves fields out.
func (a *answer) add(path string, response any, basis query.Basis, leaveOut ...string) {
	a.addPayload(path, response, basis, wire.OfAny(path[strings.LastIndexByte(path, '/')+1:], response, leaveOut...))
}

// addPayload adds a response with a payload of its own. The payloads of an answer about several
// subjects say which.
func (a *answer) addPayload(path string, response any, basis query.Basis, p wire.Payload) {
	if a.subject != "" {
		p.Scalars = append([]wire.Scalar{{Name: "of", Value: a.subject}}, p.Scalars...)
	}
	a.append(part{path: path, response: response, basis: basis, payload: &p})
}

// addText adds a response with a text that its question made.
func (a *answer) addText(path string, response any, basis query.Basis, text string) {
	a.append(part{path: path, response: response, basis: basis, text: strings.TrimRight(text, "\n")})
}

func (a *answer) append(p part) {
	a.parts = append(a.parts, p)
	a.empty = (a.empty || len(a.parts) == 1) && p.basis.Status == query.StatusEmpty
}

// write returns the text of an answer in a connection, and what to call once it was sent: later
// answers then refer to the symbols of this one by their numbers. An error names what is beyond a
// bound of payloads.
func (a *answer) write(s *wire.Session) (text string, sent func(), err error) {
	var lines []string
	var all []func()
	for _, p := range a.parts {
		if p.payload != nil {
			data, done, err := s.Encode(*p.payload)
			if err != nil {
				return "", nil, err
			}
			lines, all = append(lines, strings.TrimRight(string(data), "\n")), append(all, done)
			continue
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
	if a.note != "" {
		lines = append(lines, "note: "+a.note)
	}
	return strings.Join(lines, "\n"), func() {
		for _, done := range all {
			done()
		}
	}, nil
}

// proofTokens is how many tokens the line that names the proof takes at most.
const proofTokens = 24

// fitted writes an answer within its budget: as often as the text is too long, it is answered again
// with less.
func (a *answer) fitted(s *wire.Session) (told answer, text string, sent func(), err error) {
	text, sent, err = a.write(s)
	if a.budget == 0 || err != nil {
		return *a, text, sent, err
	}
	ask := a.budget
	for over := tokens.Count(text) + proofTokens - a.budget; over > 0; over = tokens.Count(text) + proofTokens - a.budget {
		if ask -= over + 8; ask < packing.MinBudget {
			return *a, "", nil, &argumentError{"context", fmt.Sprintf("budget: %d tokens are too few here: want more", a.budget)}
		}
		less, err := a.again(ask)
		if err != nil {
			return *a, "", nil, err
		}
		less.note = a.note
		a = &less
		if text, sent, err = a.write(s); err != nil {
			return *a, "", nil, err
		}
	}
	return *a, text, sent, nil
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
		for name := range wire.BasisFields {
			delete(fields, name)
		}
		all[p.path] = fields
	}
	return all
}
