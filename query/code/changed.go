package code

import (
	"fmt"
	"slices"
	"strings"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/projections/prolly"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// change is the difference of one node between two snapshots.
type change struct {
	key      schemas.NodeKey
	old, new *recountv1.CodeNode // nil if it does not exist
}

// known returns the node in the newer snapshot, or in the older one if it was removed.
func (c change) known() *recountv1.CodeNode {
	if c.new == nil {
		return c.old
	}
	return c.new
}

// These are the kinds of changes of a symbol.
const (
	changeAdded     = "added"
	changeRemoved   = "removed"
	changeSignature = "signature"
	changeBody      = "body"
	changeOther     = "shifted"
)

// kind returns the kind of the change. A node that differs only in its line is changeOther.
func (c change) kind() string {
	switch {
	case c.old == nil:
		return changeAdded
	case c.new == nil:
		return changeRemoved
	case c.old.Signature != c.new.Signature || c.old.Exported != c.new.Exported:
		return changeSignature
	case c.old.BodyHash != c.new.BodyHash:
		return changeBody
	}
	return changeOther
}

// changes returns the nodes that differ between two snapshots, in key order.
func changes(base, now *snapshots.Snapshot) ([]change, error) {
	var all []change
	for c, err := range now.Since(base, snapshots.NodesMap) {
		if err != nil {
			return nil, err
		}
		ch := change{key: schemas.NodeKey(c.Key)}
		if c.Kind != prolly.Added {
			ch.old = &recountv1.CodeNode{}
			if err := unmarshal(c.Old, ch.old); err != nil {
				return nil, err
			}
		}
		if c.Kind != prolly.Deleted {
			ch.new = &recountv1.CodeNode{}
			if err := unmarshal(c.New, ch.new); err != nil {
				return nil, err
			}
		}
		all = append(all, ch)
	}
	return all, nil
}

// changedSeeds returns the nodes of a graph that a change touches directly: declarations that are
// new or differ, without the files and packages that merely enclose them. If a declaration was
// removed, its callers have either changed too or no longer resolve.
func changedSeeds(g *Graph, all []change) (seeds []ref) {
	touched := map[int32]bool{}
	for _, c := range all {
		if c.kind() == changeOther {
			continue
		}
		if n, ok := g.find(c.key); ok {
			touched[n] = true
		}
	}
	for n := range touched {
		if !g.enclosesTouched(n, touched) {
			seeds = append(seeds, ref{0, n})
		}
	}
	slices.SortFunc(seeds, func(a, b ref) int { return int(a.n) - int(b.n) })
	return seeds
}

// enclosesTouched reports whether a node is only the file or package of something that differs.
func (g *Graph) enclosesTouched(n int32, touched map[int32]bool) bool {
	switch g.kind(n) {
	case recountv1.SymbolKind_SYMBOL_KIND_FILE, recountv1.SymbolKind_SYMBOL_KIND_PACKAGE:
	default:
		return false
	}
	for _, e := range g.edges[g.out[n]:g.out[n+1]] {
		if recountv1.EdgeKind(e.kind) == eContains && touched[e.to] {
			return true
		}
	}
	return false
}

// splitRange parses REV..REV; an empty side is HEAD.
func splitRange(s string) (from, to string, err error) {
	from, to, ok := strings.Cut(s, "..")
	if !ok || strings.HasPrefix(to, ".") || from == "" && to == "" {
		return "", "", &query.RequestError{Field: "diff", Value: fmt.Sprintf("%q", s), Reason: "want REV..REV, as in main~3..main"}
	}
	return from, to, nil
}

// pair opens the two snapshots of a range.
func (a *session) pair(sc Scope, diff string) (base, now *snapshots.Snapshot, err error) {
	from, to, err := splitRange(diff)
	if err != nil {
		return nil, nil, err
	}
	if sc.At != "" {
		return nil, nil, &query.RequestError{Field: "at", Value: sc.At, Reason: "not allowed with diff, which names its revisions itself"}
	}
	if base, err = a.snapshot(sc.Repo, from); err != nil {
		return nil, nil, err
	}
	now, err = a.snapshot(sc.Repo, to)
	return base, now, err
}

// SignatureDifference is what two signatures do not share.
type SignatureDifference struct {
	Before string `json:"before" example:"… , timeout int)" doc:"The part of the previous signature that the new one lacks, with a few words around it. … stands for what both have."`
	After  string `json:"after" example:"… , timeout time.Duration, retries int)" doc:"The part of the new signature that the previous one lacks, likewise."`
}

const (
	// wholeSignature is up to which length signatures are shown whole.
	wholeSignature = 100
	// aroundDifference is how many tokens of what both have are shown on each side.
	aroundDifference = 4
)

// signatureDifference returns the difference of two signatures, nil if there is none.
func signatureDifference(before, after string) *SignatureDifference {
	if before == after || before == "" || after == "" {
		return nil
	}
	if len(before) <= wholeSignature && len(after) <= wholeSignature {
		return &SignatureDifference{before, after}
	}
	was, is := spacedTokens(before), spacedTokens(after)
	first := 0
	for first < min(len(was), len(is)) && was[first] == is[first] {
		first++
	}
	last := 0
	for last < min(len(was), len(is))-first && was[len(was)-1-last] == is[len(is)-1-last] {
		last++
	}
	return &SignatureDifference{between(was, first, last), between(is, first, last)}
}

// spacedTokens returns the tokens of a signature, each with the white space before it.
func spacedTokens(s string) (all []string) {
	at := 0
	for token := range sourceTokens(s) {
		end := at + strings.Index(s[at:], token) + len(token)
		all = append(all, s[at:end])
		at = end
	}
	return all
}

// between returns what is left of tokens without the first and last ones that both signatures have,
// with a few of these.
func between(tokens []string, first, last int) string {
	from, to := max(0, first-aroundDifference), min(len(tokens), len(tokens)-last+aroundDifference)
	s := strings.Join(tokens[from:to], "")
	if from > 0 {
		s = "… " + strings.TrimSpace(s)
	}
	if to < len(tokens) {
		s += " …"
	}
	return s
}
