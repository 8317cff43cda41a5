package code

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/query"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// StaleRequest asks what seems to be out of date.
type StaleRequest struct {
	Scope
	Kinds         []string `json:"kinds,omitempty" example:"unused" doc:"Only these kinds of findings: gone, doc, unused, aged."`
	Days          int      `json:"days,omitempty" minimum:"1" maximum:"36500" default:"90" example:"180" doc:"How many days before the revision's commit the compared revision lies. Not allowed with since."`
	Since         string   `json:"since,omitempty" maxLength:"1024" example:"v1.18.0" doc:"The revision to compare with, instead of days."`
	Path          string   `json:"path,omitempty" maxLength:"4096" example:"pkg/kgo/" doc:"Only below this path."`
	MinConfidence float64  `json:"min_confidence,omitempty" minimum:"0" maximum:"1" default:"0.5" example:"0.5" doc:"Only findings with at least this confidence."`
	Limit         int      `json:"limit,omitempty" minimum:"1" maximum:"10000" default:"50" example:"50" doc:"Maximum number of findings."`
}

// StaleResponse is the answer of stale.
type StaleResponse struct {
	query.Basis
	Revision  Revision       `json:"revision" doc:"The revision that was queried."`
	Base      *Revision      `json:"base,omitempty" doc:"The revision compared with, for gone, doc and aged. Absent if no earlier commit has a graph."`
	Findings  []Stale        `json:"findings" nullable:"false" doc:"The findings by kind, then by confidence, highest first."`
	Counts    map[string]int `json:"counts" doc:"The number of findings of each kind."`
	Truncated int            `json:"truncated" example:"0" doc:"The number of findings left out."`
}

// Stale is something that seems to be out of date.
type Stale struct {
	Symbol
	Finding    string  `json:"finding" enum:"gone,doc,unused,aged" example:"unused" doc:"gone: it refers to a removed symbol. doc: its documentation, or a document, names a removed symbol. unused: no known code uses it. aged: it did not change although what it calls did."`
	Of         string  `json:"of,omitempty" example:"kgo.Client.Close" doc:"The symbol that was removed or changed."`
	Site       string  `json:"site" example:"main.go:12" doc:"The place of the evidence."`
	Why        string  `json:"why" example:"no symbol uses it" doc:"The reason as text."`
	Confidence float64 `json:"confidence" example:"0.9" doc:"Confidence, 0 to 1. It is lower for languages without types, and if an unresolved reference could refer to the symbol."`
}

// These are the kinds of findings.
const (
	staleGone   = "gone"
	staleDoc    = "doc"
	staleUnused = "unused"
	staleAged   = "aged"
)

var staleKinds = []string{staleGone, staleDoc, staleUnused, staleAged}

// StaleKinds returns the kinds of findings.
func StaleKinds() []string { return slices.Clone(staleKinds) }

const defaultStaleDays = 90

func (r StaleRequest) check() error {
	for _, k := range r.Kinds {
		if !slices.Contains(staleKinds, k) {
			return &query.RequestError{Field: "kinds", Value: fmt.Sprintf("%q", k), Reason: "want one of " + strings.Join(staleKinds, ", ")}
		}
	}
	switch {
	case r.Days < 0 || r.Days > 36500:
		return &query.RequestError{Field: "days", Value: r.Days, Reason: "want 1 to 36500"}
	case r.Days > 0 && r.Since != "":
		return &query.RequestError{Field: "days", Value: r.Days, Reason: "not allowed with since: give one of them"}
	case len(r.Since) > query.MaxName || len(r.Path) > query.MaxName:
		return &query.RequestError{Field: "since", Value: len(r.Since), Reason: fmt.Sprintf("want at most %d bytes", query.MaxName)}
	}
	return cmp.Or(r.Scope.check(), checkConfidence(r.MinConfidence), checkLimit(r.Limit))
}

// Stales returns what seems to be out of date. It does not read the clock: days count back from the
// revision's commit.
func Stales(ctx context.Context, s Sources, r StaleRequest) (StaleResponse, error) {
	var resp StaleResponse
	a, err := s.open(ctx, r)
	if err != nil {
		return resp, err
	}
	defer a.Close()
	snap, w, err := a.world(r.Scope)
	if err != nil {
		return resp, err
	}
	if r.Kinds == nil {
		r.Kinds = staleKinds
	}
	st := staleness{a: a, w: w, g: w.graphs[0], snap: snap, r: r}
	hint := ""
	if slices.ContainsFunc(r.Kinds, func(k string) bool { return k != staleUnused }) {
		base, note, err := a.before(snap, r.Since, cmp.Or(r.Days, defaultStaleDays))
		if err != nil {
			return resp, err
		}
		hint = note
		if base != nil {
			was := revisionAt(base)
			resp.Base = &was
			if err := st.compare(base); err != nil {
				return resp, err
			}
		}
	}
	if slices.Contains(r.Kinds, staleUnused) {
		if err := st.unused(); err != nil {
			return resp, err
		}
	}
	least := cmp.Or(r.MinConfidence, 0.5)
	resp.Findings = slices.DeleteFunc(st.found, func(f Stale) bool {
		return f.Confidence < least || !slices.Contains(r.Kinds, f.Finding) || !strings.HasPrefix(f.File, r.Path)
	})
	slices.SortStableFunc(resp.Findings, func(x, y Stale) int {
		return cmp.Or(cmp.Compare(slices.Index(staleKinds, x.Finding), slices.Index(staleKinds, y.Finding)), cmp.Compare(y.Confidence, x.Confidence), cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line))
	})
	resp.Counts = map[string]int{}
	for _, k := range r.Kinds {
		resp.Counts[k] = 0
	}
	for _, f := range resp.Findings {
		resp.Counts[f.Finding]++
	}
	total := len(resp.Findings)
	resp.Truncated = cut(&resp.Findings, cmp.Or(r.Limit, DefaultLimit))
	resp.Revision = revisionAt(snap)
	if total == 0 {
		hint = joinHints("nothing out of date was found", hint)
	}
	resp.Basis = a.basis(total == 0, hint, query.AppliedFilter{Field: "min_confidence", Op: "ge", Value: fmt.Sprint(least)})
	return resp, nil
}

// before returns the snapshot to compare with: that of a revision, or of the newest first parent
// that is at least `days` older. If there is none it returns the oldest, with a note that reports
// this.
func (a *session) before(snap *snapshots.Snapshot, since string, days int) (*snapshots.Snapshot, string, error) {
	if since != "" {
		s, err := a.snapshot(snap.Repository, since)
		return s, "", err
	}
	until := snap.GetCommitter().GetTime().AsTime().Add(-time.Duration(days) * 24 * time.Hour)
	if snap.GetCommitter().GetTime() == nil {
		until = snap.GetAuthor().GetTime().AsTime().Add(-time.Duration(days) * 24 * time.Hour)
	}
	var best *recountv1.CodeSnapshot
	c := snap.CodeSnapshot
	for n := 0; len(c.Parents) > 0; n++ {
		if n&0xff == 0 && a.Ctx.Err() != nil {
			return nil, "", a.Ctx.Err()
		}
		p, err := a.view.Commit(snap.Repo(), c.Parents[0])
		if err != nil {
			return nil, "", err
		}
		if p == nil || p.Maps == nil {
			break
		}
		c, best = p, p
		when := p.GetCommitter().GetTime()
		if when == nil {
			when = p.GetAuthor().GetTime()
		}
		if !when.AsTime().After(until) {
			s, err := a.view.Open(p)
			return s, "", err
		}
	}
	if best == nil {
		return nil, "no commit before this one has a graph, so changes are not known; recount import git --history goes further back", nil
	}
	s, err := a.view.Open(best)
	return s, fmt.Sprintf("no commit of %d days earlier has a graph: compared with the oldest, %.12s", days, best.Commit), err
}

// staleness collects the findings.
type staleness struct {
	a     *session
	w     *world
	g     *Graph
	snap  *snapshots.Snapshot
	r     StaleRequest
	found []Stale
	// unresolvedBases are the types with a base, and decorated the symbols with a decorator, that is
	// not known.
	unresolvedBases []int32
	decorated       map[int32]bool
}

func (st *staleness) add(n int32, f Stale) {
	f.Symbol = st.w.symbol(ref{0, n})
	if f.Site == "" {
		f.Site = f.Symbol.Place()
	}
	st.found = append(st.found, f)
}

// compare finds what the changes since base made obsolete.
func (st *staleness) compare(base *snapshots.Snapshot) error {
	all, err := changes(base, st.snap)
	if err != nil {
		return err
	}
	moved := movesOf(all)
	removed := map[string][]change{} // by own name
	changed := map[int32]string{}
	for _, c := range all {
		kind := moved.kind(c)
		switch kind {
		case changeRemoved:
			if c.old.Name != "" && c.key.Chain() != "" {
				removed[c.old.Name] = append(removed[c.old.Name], c)
			}
		case changeSignature, changeBody:
			if n, ok := st.g.find(c.key); ok {
				changed[n] = kind
			}
		case changeAdded:
			if n, ok := st.g.find(c.key); ok {
				changed[n] = kind
			}
		}
	}
	// A name that is still declared was moved rather than removed.
	for i := range st.g.nodes {
		delete(removed, st.g.name(int32(i)))
	}
	st.a.Step(query.Step{Operator: "changes", Inputs: map[string]string{"base": base.Commit}, Counts: map[string]int64{"changed": int64(len(changed)), "names gone": int64(len(removed))}})
	if err := st.gone(removed); err != nil {
		return err
	}
	if err := st.documented(removed); err != nil {
		return err
	}
	st.aged(changed)
	st.a.RecordTime("compare")
	return nil
}

// gone finds unresolved references to a removed name.
func (st *staleness) gone(removed map[string][]change) error {
	m, err := st.snap.Unresolved()
	if err != nil || len(removed) == 0 {
		return err
	}
	st.documentsOf(removed)
	for e, err := range m.All() {
		if err != nil {
			return err
		}
		from, _, rest, ok := snapshots.CutEdge(e.Key)
		path, line, cutOK := strings.Cut(string(rest), "\x00")
		n, known := st.g.find(from)
		if !ok || !cutOK || !known {
			continue
		}
		names := strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".()[]\"?", r) })
		if len(names) == 0 {
			continue
		}
		for _, c := range removed[names[len(names)-1]] {
			if c.old.Language != st.g.language(n) {
				continue
			}
			conf, why := 0.5, "the name was removed"
			if o := lastName(c.old.Owner); o != "" && len(names) > 1 && strings.EqualFold(names[len(names)-2], o) || c.key.Path() == from.Path() {
				conf, why = 0.8, "the name was removed, with its owner or in its file"
			}
			number, _, _ := strings.Cut(line, ":")
			st.add(n, Stale{Finding: staleGone, Of: displayOf(c.key, c.old.Package), Site: from.Path() + ":" + number, Why: why, Confidence: conf})
			break
		}
	}
	return nil
}

// documentsOf finds documents that name something removed.
func (st *staleness) documentsOf(removed map[string][]change) {
	for i := range st.g.outside {
		e := &st.g.outside[i]
		s := st.g.symbols[e.to]
		if !inText(s) || len(st.g.answers(s)) > 0 || apartFromCode(st.g.keys[e.from].Path()) {
			continue
		}
		words := strings.Split(strings.TrimSuffix(s.name, "()"), ".")
		for _, c := range removed[words[len(words)-1]] {
			if !c.old.Exported {
				continue
			}
			conf, why := 0.5, "it names a removed symbol"
			if o := lastName(c.old.Owner); o != "" && len(words) > 1 && words[len(words)-2] == o {
				conf = 0.7
			}
			st.add(e.from, Stale{Finding: staleDoc, Of: displayOf(c.key, c.old.Package), Site: place(st.g.keys[e.from].Path(), e.line), Why: why, Confidence: conf})
			break
		}
	}
}

func lastName(chain string) string { return chain[strings.LastIndexByte(chain, '.')+1:] }

// documented finds documentation that names something removed.
func (st *staleness) documented(removed map[string][]change) error {
	nodes, err := st.snap.Nodes()
	if err != nil || len(removed) == 0 {
		return err
	}
	for i, k := range st.g.keys {
		if st.r.Path != "" && !strings.HasPrefix(k.Path(), st.r.Path) {
			continue
		}
		n, err := nodeIn(nodes, k)
		if err != nil {
			return err
		}
		for _, said := range namesIn(n.GetDoc()) {
			all := removed[lastName(said)]
			if len(all) == 0 {
				continue
			}
			conf, why := 0.5, "its documentation names a removed symbol"
			if strings.Contains(said, ".") {
				conf = 0.7
			}
			st.add(int32(i), Stale{Finding: staleDoc, Of: displayOf(all[0].key, all[0].old.Package), Why: why, Confidence: conf})
			break
		}
	}
	return nil
}

// namesIn returns the words of a text that are written like names in code: with a dot, an
// underscore or inner capitals, before a parenthesis, or between backticks or brackets.
func namesIn(doc string) []string {
	var names []string
	isName := func(r rune) bool {
		return r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 127
	}
	for start := 0; start < len(doc); {
		if !isName(rune(doc[start])) {
			start++
			continue
		}
		end := start
		for end < len(doc) && isName(rune(doc[end])) {
			end++
		}
		word := strings.Trim(doc[start:end], ".")
		quoted := start > 0 && (doc[start-1] == '`' || doc[start-1] == '[' || doc[start-1] == '*')
		called := end < len(doc) && doc[end] == '('
		hump := strings.IndexFunc(word[min(1, len(word)):], func(r rune) bool { return r >= 'A' && r <= 'Z' }) >= 0
		if word != "" && (quoted || called || hump || strings.ContainsAny(strings.Trim(word, "_"), "_.")) {
			names = append(names, word)
		}
		start = end
	}
	return names
}

// aged finds symbols that did not change although what they call did.
func (st *staleness) aged(changed map[int32]string) {
	for i := range st.g.nodes {
		n := int32(i)
		if _, is := changed[n]; is || st.g.nodes[n].test {
			continue
		}
		var first *edge
		behind, signatures := 0, 0
		for e := st.g.out[n]; e < st.g.out[n+1]; e++ {
			of := &st.g.edges[e]
			kind := changed[of.to]
			if !callKinds.has(of.kind) || kind == "" || kind == changeAdded {
				continue
			}
			behind++
			if kind == changeSignature {
				signatures++
			}
			if first == nil || kind == changeSignature && changed[first.to] != changeSignature {
				first = of
			}
		}
		if first == nil {
			continue
		}
		why := fmt.Sprintf("it did not change, but %d of its callees did", behind)
		if signatures > 0 {
			why += fmt.Sprintf(", %d in their signature", signatures)
		}
		st.add(n, Stale{
			Finding: staleAged, Of: st.g.display(first.to), Site: place(st.g.keys[n].Path(), first.line), Why: why,
			Confidence: confidence(first.confidence),
		})
	}
}
