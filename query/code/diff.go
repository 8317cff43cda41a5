package code

import (
	"cmp"
	"context"
	"slices"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/query"
)

// GraphDiffRequest asks how the graph differs between two revisions.
type GraphDiffRequest struct {
	Scope
	Diff   string `json:"diff" minLength:"1" maxLength:"2048" example:"main~3..main" doc:"The two revisions, REV..REV; an empty side means HEAD."`
	Impact bool   `json:"impact,omitempty" doc:"Also report what the change reaches, before and after, and what no test reaches. This reads both graphs and those of other repositories completely; without it only the differences are read."`
	FailOn string `json:"fail_on,omitempty" maxLength:"1024" example:"removed>0,impact>50,untested>0" doc:"Thresholds, comma-separated: the name of a count, one of > >= < <= =, and a number. Those that are exceeded are listed in failed. impact, impact_growth, tests and untested imply impact."`
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"10000" default:"50" example:"50" doc:"Maximum number of entries in each list."`
}

// GraphDiffResponse is the answer of diff.
type GraphDiffResponse struct {
	query.Basis
	Base     Revision       `json:"base" doc:"The first revision."`
	Revision Revision       `json:"revision" doc:"The second revision."`
	Counts   map[string]int `json:"counts" doc:"The total number of each, whether listed or not: added, removed, signature, body, renamed and moved symbols; edges_added, edges_removed; files and owners that change; dependencies_added and dependencies_removed; used_elsewhere; and with impact: impact, impact_before, impact_growth, tests, untested."`
	Symbols  []SymbolChange `json:"symbols" nullable:"false" doc:"The symbols that differ: removed, changed signature, changed body, renamed, moved, added. A symbol that is only at another line does not differ."`
	Edges    []EdgeChange   `json:"edges" nullable:"false" doc:"The edges that differ, except contains. Moving a symbol does not change its edges."`
	// Dependencies, Elsewhere and Owners show who is affected.
	Dependencies []DependencyChange `json:"dependencies" nullable:"false" doc:"Packages outside the repository that are newly used or no longer used."`
	Elsewhere    []ElsewhereUse     `json:"elsewhere" nullable:"false" doc:"Uses in other repositories, at their HEAD, of symbols that are removed or renamed, or have a changed signature."`
	Owners       []OwnedChange      `json:"owners" nullable:"false" doc:"The owners of the files that differ, by CODEOWNERS of the second revision."`
	Impact       *ImpactDelta       `json:"impact,omitempty" doc:"What the change reaches."`
	Failed       []Threshold        `json:"failed" nullable:"false" doc:"The thresholds of fail_on that are exceeded."`
	Truncated    int                `json:"truncated" example:"0" doc:"The total number of entries left out of the lists."`
}

// SymbolChange is a symbol that differs.
type SymbolChange struct {
	Symbol
	Change string  `json:"change" enum:"added,removed,signature,body,renamed,moved" example:"signature" doc:"The kind of change. renamed: it has another name, or another owner, and the same or nearly the same text. moved: it is in another file."`
	Before *Before `json:"before,omitempty" doc:"Its previous signature and place, unless it was added."`
	// Similarity is set if the text had to be compared.
	Similarity float64              `json:"similarity,omitempty" example:"0.93" doc:"How much of the text a symbol that was renamed, or moved and changed, has in common with before, 0.7 to 1. Its own name is left out."`
	Difference *SignatureDifference `json:"difference,omitempty" doc:"What differs between the signatures."`
	// Signature is that of the second revision; for a removed symbol, of the first.
	Signature string `json:"signature,omitempty" example:"func (cl *Client) Produce(ctx context.Context, r *Record)" doc:"The head of its declaration."`
}

// Before is the symbol in the first revision.
type Before struct {
	Name      string `json:"name,omitempty" example:"kgo.Client.Send" doc:"Its name, if that was another."`
	Signature string `json:"signature,omitempty" doc:"The head of its declaration."`
	File      string `json:"file" example:"pkg/kgo/client.go" doc:"The file."`
	Line      uint32 `json:"line,omitempty" example:"12" doc:"The line."`
}

// Place returns FILE:LINE.
func (b Before) Place() string { return place(b.File, b.Line) }

// EdgeChange is an edge that differs.
type EdgeChange struct {
	Change     string  `json:"change" enum:"added,removed" example:"added" doc:"The kind of change."`
	From       string  `json:"from" example:"main.run" doc:"The symbol that the edge starts from."`
	Edge       string  `json:"edge" example:"calls" doc:"Its kind."`
	To         string  `json:"to" example:"kgo.Client.Produce" doc:"The symbol that the edge leads to."`
	Outside    bool    `json:"outside,omitempty" doc:"Whether to is outside this repository."`
	Site       string  `json:"site" example:"main.go:12" doc:"Its first place in the code, now or before."`
	Provenance string  `json:"provenance" example:"types_resolved" doc:"How the edge was found."`
	Confidence float64 `json:"confidence" example:"0.98" doc:"Confidence, 0 to 1."`
}

// DependencyChange is an external package that is used in only one of the revisions.
type DependencyChange struct {
	Change   string `json:"change" enum:"added,removed" example:"added" doc:"The kind of change."`
	Language string `json:"language" example:"go" doc:"The language."`
	Package  string `json:"package" example:"net/http" doc:"The package."`
	Repo     string `json:"repo,omitempty" example:"github.com/acme/net" doc:"The imported repository that declares the used symbols, if there is one."`
	Site     string `json:"site" example:"main.go:12" doc:"The first place where it is or was used."`
}

// ElsewhereUse is a use of a changed symbol in another repository.
type ElsewhereUse struct {
	Change     string  `json:"change" enum:"removed,renamed,signature" example:"removed" doc:"The kind of change of the symbol."`
	Of         string  `json:"of" example:"kgo.Client.Produce" doc:"The symbol."`
	Symbol     Symbol  `json:"symbol" doc:"The symbol that uses it."`
	Edge       string  `json:"edge" example:"calls" doc:"The kind of the edge."`
	Site       string  `json:"site" example:"main.go:12" doc:"The place in the code."`
	Confidence float64 `json:"confidence" example:"0.98" doc:"Confidence, 0 to 1."`
}

// OwnedChange has the files of one owner that differ.
type OwnedChange struct {
	Owner string   `json:"owner" example:"@acme/kafka" doc:"The owner; empty for files without an owner."`
	Count int      `json:"count" example:"3" doc:"Number of files."`
	Files []string `json:"files" nullable:"false" doc:"The first files, at most five."`
}

func (r GraphDiffRequest) check() error {
	_, err := parseThresholds(r.FailOn)
	_, _, notRange := splitRange(r.Diff)
	return cmp.Or(r.Scope.check(), notRange, checkLimit(r.Limit), err)
}

// Diff returns how the graph differs between two revisions. Without Impact it reads only the parts
// of the snapshots that differ.
func Diff(ctx context.Context, s Sources, r GraphDiffRequest) (GraphDiffResponse, error) {
	var resp GraphDiffResponse
	thresholds, _ := parseThresholds(r.FailOn)
	a, err := s.open(ctx, r)
	if err != nil {
		return resp, err
	}
	defer a.Close()
	base, now, err := a.pair(r.Scope, r.Diff)
	if err != nil {
		return resp, err
	}
	d := differing{a: a, base: base, now: now, resp: &resp}
	resp.Base, resp.Revision, resp.Counts = revisionAt(base), revisionAt(now), map[string]int{}
	if err := d.all(); err != nil {
		return resp, err
	}
	if r.Impact || slices.ContainsFunc(thresholds, func(t Threshold) bool { return needsImpact[t.Count] }) {
		if err := d.impact(); err != nil {
			return resp, err
		}
	}
	resp.Failed = failed(thresholds, resp.Counts)
	limit := cmp.Or(r.Limit, DefaultLimit)
	for _, n := range []int{
		cut(&resp.Symbols, limit), cut(&resp.Edges, limit), cut(&resp.Dependencies, limit),
		cut(&resp.Elsewhere, limit), cut(&resp.Owners, limit),
	} {
		resp.Truncated += n
	}
	if err := d.nameEdges(); err != nil {
		return resp, err
	}
	hint := ""
	if len(d.nodes)+resp.Counts["files"]+len(resp.Edges) == 0 {
		hint = "the two graphs are equal"
	}
	resp.Basis = a.basis(false, hint)
	return resp, nil
}

// cut truncates a list and returns the number of removed elements.
func cut[E any](list *[]E, limit int) int {
	if *list == nil {
		*list = []E{}
	}
	n := max(0, len(*list)-limit)
	*list = (*list)[:len(*list)-n]
	return n
}

// differing is the state of a diff.
type differing struct {
	a         *session
	base, now *snapshots.Snapshot
	resp      *GraphDiffResponse

	nodes []change
	moved moves
	edges []edgeChange
}

func (d *differing) all() (err error) {
	if d.nodes, err = changes(d.base, d.now); err != nil {
		return err
	}
	d.moved = movesOf(d.nodes)
	if err := d.renames(); err != nil {
		return err
	}
	if err := d.symbols(); err != nil {
		return err
	}
	d.a.Step(query.Step{Operator: "changes", Inputs: map[string]string{"map": "nodes"}, Counts: map[string]int64{"entries": int64(len(d.nodes)), "symbols": int64(len(d.resp.Symbols))}})
	d.a.RecordTime("changes")
	if err := d.diffEdges(); err != nil {
		return err
	}
	if err := d.dependencies(); err != nil {
		return err
	}
	if err := d.elsewhere(); err != nil {
		return err
	}
	return d.owners()
}

// order is the order in which changes are listed: those most likely to break something come first.
var order = []string{changeRemoved, changeSignature, changeBody, changeRenamed, changeMoved, changeAdded}

// symbols adds the changed nodes, except files, packages, and nodes that differ only in their line.
func (d *differing) symbols() error {
	counts := d.resp.Counts
	for _, kind := range order {
		counts[kind] = 0
	}
	for _, c := range d.nodes {
		kind := d.moved.kind(c)
		if kind == changeOther || c.key.Chain() == "" {
			continue
		}
		counts[kind]++
		symbol, err := d.symbol(c)
		if err != nil {
			return err
		}
		s := SymbolChange{Symbol: symbol, Change: kind, Signature: c.known().Signature}
		if was, old := d.moved.before(c); old != nil && kind != changeRemoved {
			line, err := d.base.Line(was)
			if err != nil {
				return err
			}
			s.Before = &Before{Signature: old.Signature, File: was.Path(), Line: line}
			if kind == changeRenamed {
				s.Before.Name = displayOf(was, old.Package)
			}
			s.Similarity, s.Difference = d.moved.similarity[c.key], signatureDifference(old.Signature, s.Signature)
		}
		d.resp.Symbols = append(d.resp.Symbols, s)
	}
	slices.SortStableFunc(d.resp.Symbols, func(x, y SymbolChange) int {
		return cmp.Or(cmp.Compare(slices.Index(order, x.Change), slices.Index(order, y.Change)), compareBool(x.Test, y.Test), compareBool(!x.Exported, !y.Exported))
	})
	return nil
}

// symbol returns the changed symbol in the second revision, or in the first if it was removed.
func (d *differing) symbol(c change) (Symbol, error) {
	if c.new == nil {
		return symbolOf(d.base, c.key, c.old)
	}
	return symbolOf(d.now, c.key, c.new)
}

// owners counts the files that differ by owner.
func (d *differing) owners() error {
	rules, err := d.a.ownerRules(d.now)
	if err != nil {
		return err
	}
	byOwner := map[string]int{}
	for c, err := range d.now.Since(d.base, snapshots.FilesMap) {
		if err != nil {
			return err
		}
		d.resp.Counts["files"]++
		if rules.path == "" {
			continue
		}
		path := string(c.Key)
		var owners []string
		for _, rule := range rules.rulesFor(path) {
			owners = append(owners, rule.owners...)
		}
		if len(owners) == 0 {
			owners = []string{""}
		}
		slices.Sort(owners)
		for _, o := range slices.Compact(owners) {
			i, known := byOwner[o]
			if !known {
				i = len(d.resp.Owners)
				byOwner[o] = i
				d.resp.Owners = append(d.resp.Owners, OwnedChange{Owner: o})
			}
			of := &d.resp.Owners[i]
			if of.Count++; len(of.Files) < 5 {
				of.Files = append(of.Files, path)
			}
		}
	}
	slices.SortStableFunc(d.resp.Owners, func(x, y OwnedChange) int {
		return cmp.Or(compareBool(x.Owner == "", y.Owner == ""), cmp.Compare(y.Count, x.Count), cmp.Compare(x.Owner, y.Owner))
	})
	d.resp.Counts["owners"] = len(byOwner)
	if _, nobody := byOwner[""]; nobody {
		d.resp.Counts["owners"]--
	}
	d.a.RecordTime("owners")
	return nil
}
