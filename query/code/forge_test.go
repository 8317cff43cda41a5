package code_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/internal/racing"
	"github.com/recountdb/recount/query/code"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestForgeriesAreRefused forges each field of proofs and each pair of fields: with modified
// values, with values from other proofs of the snapshot, and with every kind; each time as it is,
// and with the hash of the claim updated.
func TestForgeriesAreRefused(t *testing.T) {
	m := newShop(t)
	files := proofs(t, m)
	others := map[string][]any{} // values of a field in any proof, by its name
	trees := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		trees[name] = treeOf(t, files[name])
		gather(treeOf(t, files[name]), "", others) // of a copy, which is not modified below
	}
	for name := range recountv1.SymbolKind_value {
		others["kind"] = append(others["kind"], strings.ToLower(strings.TrimPrefix(name, "SYMBOL_KIND_")))
	}
	for name := range recountv1.EdgeKind_value {
		others["edge"] = append(others["edge"], strings.ToLower(strings.TrimPrefix(name, "EDGE_KIND_")))
	}
	others["absent"], others["variant"] = []any{true, false}, []any{"#2", "(int)"}
	for _, values := range others {
		slices.SortFunc(values, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
	tried, same, accepted := 0, 0, 0
	racing.Alone(t)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := &forger{t: t, m: m, name: name, file: files[name], tree: trees[name]}
		var places []place
		find(f.tree, nil, others, &places)
		r := rand.New(rand.NewPCG(16, 5))
		for i, a := range places {
			for _, v := range a.values {
				f.try(change{a, v})
			}
			for _, b := range places[:i] {
				// Paths have many similar steps: only some of their pairs are tried.
				if within(a.path, b.path) || (a.ofWay() || b.ofWay()) && r.IntN(10) > 0 {
					continue
				}
				f.try(change{a, a.values[r.IntN(len(a.values))]}, change{b, b.values[r.IntN(len(b.values))]})
			}
		}
		tried, same, accepted = tried+f.tried, same+f.proved, accepted+f.accepted
	}
	t.Logf("%d forgeries, %d accepted; %d changes made what prove itself gives", tried, accepted, same)
	if tried < 10_000 {
		t.Errorf("only %d forgeries", tried)
	}
}

// forger modifies a proof and restores it.
type forger struct {
	t                       *testing.T
	m                       *memory
	name                    string
	file                    []byte
	tree                    any
	tried, proved, accepted int
}

// place is a field of a proof and the values to put there.
type place struct {
	path   []any // names and indexes
	in     any   // the map or list that contains it
	values []any
}

// ofWay reports whether the place is a part of a path.
func (p place) ofWay() bool {
	i := slices.Index(p.path, any("path"))
	return i >= 0 && i+1 < len(p.path)
}

type change struct {
	place
	value any
}

// gone is the value of an omitted field.
type gone struct{}

func (f *forger) try(changes ...change) {
	what := f.name
	var back []func()
	for _, c := range changes {
		what += fmt.Sprintf(", %v is %.60v", c.path, c.value)
		back = append(back, c.set())
	}
	text, err := json.Marshal(f.tree)
	for _, put := range slices.Backward(back) {
		put()
	}
	if err != nil {
		f.t.Fatal(err)
	}
	var p code.EdgeProof
	if err := json.Unmarshal(text, &p); err != nil {
		f.tried++
		return
	}
	f.verify(what, p)
	if p.Rehash() {
		f.verify(what+", with its claim's hash", p)
	}
}

// verify checks that a proof is rejected unless it is the original or one that prove returns.
func (f *forger) verify(what string, p code.EdgeProof) {
	b, err := p.Encode()
	if err != nil || bytes.Equal(b, f.file) {
		return
	}
	f.tried++
	_, err = code.VerifyProof(b, nil)
	switch {
	case err == nil && f.isProved(p, b):
		f.proved++
	case err == nil:
		f.accepted++
		f.t.Errorf("%s: accepted: %s", what, p.Claim())
	case !errors.Is(err, code.ErrNotProved):
		f.t.Errorf("%s: %v", what, err)
	}
}

// isProved reports whether prove returns the same bytes for the claim: then the claim is true,
// whoever wrote it. One path between two entries proves the absence of every key between them.
func (f *forger) isProved(p code.EdgeProof, b []byte) bool {
	to := ""
	if p.To != nil {
		to = p.To.File + ":" + p.To.Name
	} else {
		to = p.Outside.Package + "." + p.Outside.Name
	}
	resp, err := code.Prove(f.t.Context(), f.m.s, code.ProveRequest{From: p.From.File + ":" + p.From.Name, To: to, Edge: p.Edge, Absent: p.Absent})
	if err != nil {
		return false
	}
	want, err := resp.Evidence.Encode()
	return err == nil && bytes.Equal(want, b)
}

// set modifies the place and returns a function that restores it.
func (c change) set() func() {
	switch in := c.in.(type) {
	case map[string]any:
		k := c.path[len(c.path)-1].(string)
		was, there := in[k]
		if in[k] = c.value; c.value == (gone{}) {
			delete(in, k)
		}
		return func() {
			if in[k] = was; !there {
				delete(in, k)
			}
		}
	case []any:
		i := c.path[len(c.path)-1].(int)
		was := in[i]
		in[i] = c.value
		return func() { in[i] = was }
	}
	panic("neither a map nor a list")
}

// within reports whether one of two places is inside the other.
func within(a, b []any) bool {
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n])
}

func treeOf(t *testing.T, b []byte) any {
	var tree any
	if err := json.Unmarshal(b, &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

// gather collects the values of fields, including whole objects, by their names.
func gather(v any, name string, all map[string][]any) {
	if !slices.ContainsFunc(all[name], func(o any) bool { return fmt.Sprint(o) == fmt.Sprint(v) }) {
		all[name] = append(all[name], v)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			gather(v[k], k, all)
		}
	case []any:
		for _, e := range v {
			gather(e, name+"[]", all)
		}
	}
}

// find lists the places of a proof. Fields that only proofs of another shape have are included.
func find(v any, path []any, others map[string][]any, into *[]place) {
	under := func(in any, k any, name string, was any) {
		at := append(slices.Clone(path), k)
		p := place{path: at, in: in, values: flips(was)}
		for _, o := range others[name] {
			if fmt.Sprint(o) != fmt.Sprint(was) {
				p.values = append(p.values, o)
			}
		}
		if _, is := in.(map[string]any); is && was != nil {
			p.values = append(p.values, gone{})
		}
		if len(p.values) > 0 {
			*into = append(*into, p)
		}
		if was != nil {
			find(was, at, others, into)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		names := slices.Collect(maps.Keys(v))
		switch {
		case len(path) == 0:
			names = append(names, "to", "outside", "absent", "value", "ends")
		case v["kind"] != nil && v["file"] != nil:
			names = append(names, "variant")
		case v["path"] != nil:
			names = append(names, "by", "edge")
		}
		slices.Sort(names)
		for _, k := range slices.Compact(names) {
			under(v, k, k, v[k])
		}
	case []any:
		for i, e := range v {
			under(v, i, fmt.Sprint(path[len(path)-1])+"[]", e)
		}
	}
}

// flips returns values that differ slightly from a value.
func flips(v any) []any {
	switch v := v.(type) {
	case string:
		flip := "b"
		if strings.HasPrefix(v, flip) {
			flip = "c"
		}
		return []any{v + "A", "", flip + v[min(1, len(v)):]}
	case float64:
		return []any{v + 1, v - 1}
	case bool:
		return []any{!v}
	case []any:
		if len(v) > 0 {
			return []any{v[:len(v)-1], append(slices.Clone(v), v[0])}
		}
	}
	return nil
}

// TestOneFormOnly checks that another form that decodes to the same proof is rejected, since
// another reader may interpret it differently.
func TestOneFormOnly(t *testing.T) {
	tried := 0
	for name, b := range proofs(t, newShop(t)) {
		refused := func(what, text string) {
			tried++
			if _, err := code.VerifyProof([]byte(text), nil); !errors.Is(err, code.ErrNotProved) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		text := string(b)
		at := func(i, end int, with string) string { return text[:i] + with + text[end:] }
		for _, k := range regexp.MustCompile(`"([a-z_]+)":`).FindAllStringSubmatchIndex(text, -1) {
			field := text[k[2]:k[3]]
			for _, value := range []string{"null", `""`, "{}", "[]", "0", "true"} {
				refused("first another "+field, at(k[0], k[0], `"`+field+`":`+value+","))
			}
			refused(field+" in capitals", at(k[2], k[3], strings.ToUpper(field)))
			refused(field+" escaped", at(k[2], k[2]+1, fmt.Sprintf(`\u%04x`, field[0])))
			refused("a space before "+field, at(k[0], k[0], " "))
			refused("a line after "+field, at(k[1], k[1], "\n"))
		}
		for _, h := range regexp.MustCompile(`"[0-9a-f]{40,64}"`).FindAllStringIndex(text, -1) {
			if up := strings.ToUpper(text[h[0]:h[1]]); up != text[h[0]:h[1]] {
				refused("a hash in capitals", at(h[0], h[1], up))
			}
		}
		for _, l := range regexp.MustCompile(`:(\[\]|"")`).FindAllStringSubmatchIndex(text, -1) {
			refused("null for an empty value", at(l[2], l[3], "null"))
		}
		for _, n := range regexp.MustCompile(`:([0-9]+)[,}]`).FindAllStringSubmatchIndex(text, -1) {
			refused("a number with a fraction", at(n[3], n[3], ".0"))
			refused("a number with an exponent", at(n[3], n[3], "e0"))
		}
		refused("two lines' ends", text+"\n\n")
		refused("a byte order mark", "\ufeff"+text)
		refused("twice", text+text)
	}
	if tried < 1000 {
		t.Errorf("only %d forms", tried)
	}
}
