package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/tokens"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/commands"
	packing "github.com/recountdb/recount/query/context"
	"github.com/recountdb/recount/query/wire"
)

// scorecard has the costs of the fixtures of a folder.
type scorecard struct {
	dir  string
	rows []row
}

// row has the tokens of a fixture in each form.
type row struct {
	name string
	// api is the API's answer without proof, watermark and timing; same is JSON of what the payload
	// has; alone is the codec text; sent is the first answer of a session,
	// with the legend.
	api, same, alone, sent int
	// bare and bareText are same and alone without source code: both forms quote it, so that it
	// costs nearly the same in each.
	bare, bareText int
	// The second turn: JSON, the codec text, and what the session sends.
	same2, alone2, sent2 int
	// binary and bytes are the sizes of the codec binary and of same, in bytes.
	binary, bytes int

	first, second string
}

func measure(dir string) (scorecard, error) {
	s := scorecard{dir: dir}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return s, err
	}
	if len(files) == 0 {
		return s, fmt.Errorf("%s has no recorded answers (*.json)", dir)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return s, err
		}
		var f fixture
		if err := json.Unmarshal(b, &f); err != nil {
			return s, fmt.Errorf("%s: %w", file, err)
		}
		r, err := f.measure()
		if err != nil {
			return s, fmt.Errorf("%s: %w", file, err)
		}
		s.rows = append(s.rows, r)
	}
	return s, nil
}

func (f fixture) measure() (r row, err error) {
	r.name = f.Name
	session := wire.NewSession()
	for i, t := range f.Turns {
		p, err := t.payload()
		if err != nil {
			return r, err
		}
		same, err := sameContent(p)
		if err != nil {
			return r, err
		}
		alone, err := wire.Builtin().EncodeWith(wire.Text, p)
		if err != nil {
			return r, err
		}
		data, sent, err := session.Encode(p)
		if err != nil {
			return r, err
		}
		sent()
		if i == 1 {
			r.same2, r.alone2, r.sent2, r.second = tokens.Count(string(same)), tokens.Count(string(alone)), tokens.Count(string(data)), string(data)
			continue
		}
		without := withoutSource(p)
		bare, err := sameContent(without)
		if err != nil {
			return r, err
		}
		bareText, err := wire.Builtin().EncodeWith(wire.Text, without)
		if err != nil {
			return r, err
		}
		r.bare, r.bareText = tokens.Count(string(bare)), tokens.Count(string(bareText))
		binary, err := wire.Builtin().EncodeWith(wire.Binary, p)
		if err != nil {
			return r, err
		}
		api, err := t.whole()
		if err != nil {
			return r, err
		}
		r.api, r.same = tokens.Count(string(api)), tokens.Count(string(same))
		r.alone, r.sent, r.first = tokens.Count(string(alone)), tokens.Count(string(data)), string(data)
		r.binary, r.bytes = len(binary), len(same)
	}
	return r, nil
}

// withoutSource returns a payload without the source code of its nodes.
func withoutSource(p wire.Payload) wire.Payload {
	p.Lists = slices.Clone(p.Lists)
	for i := range p.Lists {
		rows := slices.Clone(p.Lists[i].Rows)
		for r := range rows {
			rows[r].Nodes = slices.Clone(rows[r].Nodes)
			for n := range rows[r].Nodes {
				if rows[r].Nodes[n].Signature == "" { // else it is documentation
					rows[r].Nodes[n].Text = ""
				}
			}
		}
		p.Lists[i].Rows = rows
	}
	return p
}

// whole is the recorded answer, minified.
func (t turn) whole() ([]byte, error) {
	var v any
	if err := json.Unmarshal(t.Answer, &v); err != nil {
		return nil, err
	}
	return plain(v)
}

// payload returns the payload of a recorded answer.
func (t turn) payload() (wire.Payload, error) {
	var answer any
	var err error
	switch t.Path {
	case "context":
		answer, err = decoded[packing.Response](t.Answer)
	case "find":
		answer, err = decoded[commands.FindResponse](t.Answer)
	case "why":
		answer, err = decoded[commands.WhyResponse](t.Answer)
	case "stitch":
		answer, err = decoded[commands.StitchResponse](t.Answer)
	case "code/callers", "code/callees":
		answer, err = decoded[code.CallsResponse](t.Answer)
	case "code/impact":
		answer, err = decoded[code.ImpactResponse](t.Answer)
	case "code/tests":
		answer, err = decoded[code.TestsResponse](t.Answer)
	case "code/symbols":
		answer, err = decoded[code.SymbolsResponse](t.Answer)
	case "code/diff":
		answer, err = decoded[code.GraphDiffResponse](t.Answer)
	case "code/export":
		answer, err = decoded[code.Exported](t.Answer)
	default:
		err = fmt.Errorf("%s: no such answer is measured", t.Path)
	}
	if err != nil {
		return wire.Payload{}, err
	}
	p, ok := wire.Of(t.Path[strings.LastIndexByte(t.Path, '/')+1:], answer)
	if !ok {
		return p, fmt.Errorf("%s: the answer has no payload", t.Path)
	}
	return p, nil
}

func decoded[T any](b []byte) (v T, err error) { return v, json.Unmarshal(b, &v) }

func saved(of, now int) float64 { return 100 * (1 - float64(now)/float64(of)) }

func (s scorecard) print(w io.Writer) {
	fmt.Fprintf(w, "%s: tokens (o200k)\n", s.dir)
	fmt.Fprintf(w, "%-27s|%38s|%23s|%31s|%9s\n", "", " first answer", " without source code", " second turn", " binary,")
	fmt.Fprintf(w, "%-27s| %6s %6s %6s %6s %6s  | %6s %6s %6s | %6s %6s %6s %6s   | %s\n", "answer", "API", "JSON", "text", "saved", "sent", "JSON", "text", "saved", "JSON", "text", "sent", "saved", "% of JSON's bytes")
	var all row
	var means [3]float64
	for _, r := range s.rows {
		r.print(w)
		for i, x := range r.saved() {
			means[i] += x / float64(len(s.rows))
		}
		for _, x := range [][2]*int{{&all.api, &r.api}, {&all.same, &r.same}, {&all.alone, &r.alone}, {&all.sent, &r.sent}, {&all.bare, &r.bare}, {&all.bareText, &r.bareText}, {&all.same2, &r.same2}, {&all.alone2, &r.alone2}, {&all.sent2, &r.sent2}, {&all.binary, &r.binary}, {&all.bytes, &r.bytes}} {
			*x[0] += *x[1]
		}
	}
	all.name = "all"
	all.print(w)
	fmt.Fprintf(w, "%-27s| %20s %5.1f%% %7s | %13s %5.1f%% | %20s %5.1f%%   |\n\n", "mean of the answers", "", means[0], "", "", means[1], "", means[2])
}

// saved returns what the text saves of JSON, with and without source code, and what a session saves
// of the text in the second turn, in per cent.
func (r row) saved() [3]float64 {
	return [3]float64{saved(r.same, r.alone), saved(r.bare, r.bareText), saved(r.alone2, r.sent2)}
}

func (r row) print(w io.Writer) {
	x := r.saved()
	fmt.Fprintf(w, "%-27s| %6d %6d %6d %5.1f%% %6d  | %6d %6d %5.1f%% | %6d %6d %6d %5.1f%%   | %.0f\n", r.name,
		r.api, r.same, r.alone, x[0], r.sent, r.bare, r.bareText, x[1], r.same2, r.alone2, r.sent2, x[2], 100*float64(r.binary)/float64(r.bytes))
}

func (s scorecard) texts(w io.Writer) {
	for _, r := range s.rows {
		fmt.Fprintf(w, "==== %s\n%s\n---- second turn\n%s\n", r.name, r.first, r.second)
	}
}
