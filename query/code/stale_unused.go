package code

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// unused finds functions and methods that no edge leads to, in languages whose references are
// resolved. It is conservative and omits exported functions, those that a runtime or a framework
// calls by name or decorator, those that an interface or a base class requires or may require
// because it is outside the repository, and those in tests, examples, generated code or inside a
// function. Outside Go, whose edges come from a type checker, a function is also omitted if
// anything else mentions its name, and if its file was not read completely.
func (st *staleness) unused() error {
	names, err := st.unresolvedNames()
	if err != nil {
		return err
	}
	files, err := st.files()
	if err != nil {
		return err
	}
	surest := st.resolved()
	among := st.amongTests()
	types := st.typeNames()
	type home struct{ pkg, chain string }
	homes := map[home]int{}
	for i := range st.g.nodes {
		homes[home{st.g.pkg(int32(i)), st.g.chain(int32(i))}]++
	}
	var found []candidate
	looked := 0
	for i := range st.g.nodes {
		n := int32(i)
		nd := &st.g.nodes[n]
		path := st.g.keys[n].Path()
		if surest[nd.lang] == 0 || nd.test || nd.exported || files[path].GetGenerated() || !runs(st.g, n) || entryPoint(st.g.name(n)) || st.asked(n) || among[path] || apartFromCode(path) || st.inFunction(n) || st.fitsElsewhere(n) || st.mayOverride(n, types) {
			continue
		}
		looked++
		inner, tests, others := st.usesOf(n)
		if others > 0 || homes[home{st.g.pkg(n), st.g.chain(n)}] > 1 { // the others may be for another platform
			continue
		}
		found = append(found, candidate{n, inner, tests})
	}
	mentions, err := st.mentionsOf(found, files, among)
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(c candidate) bool {
		return names[st.g.name(c.n)] == 0 && mentions.mayUse(st.g, c) || files[st.g.keys[c.n].Path()].GetPartial() && st.g.language(c.n) != checked
	})
	inTexts, err := st.namedInTexts(found, files, among, mentions)
	if err != nil {
		return err
	}
	for _, c := range found {
		unknown := names[st.g.name(c.n)]
		if unknown == 0 && inTexts[c.n] {
			continue
		}
		conf, why := min(0.9, float64(surest[st.g.nodes[c.n].lang])/1000), "no symbol uses it"
		switch {
		case c.tests > 0:
			why = fmt.Sprintf("only tests use it: %d", c.tests)
			conf = min(conf, 0.7)
		case c.inner > 0:
			why = "only it itself uses it"
		}
		if st.g.language(c.n) == "rust" {
			// Arguments of most macros are not read; the compiler warns of dead code itself.
			conf, why = min(conf, 0.4), why+"; macros may"
		}
		if unknown > 0 {
			conf, why = 0.3, why+fmt.Sprintf("; %d unresolved references have its name", unknown)
		}
		st.add(c.n, Stale{Finding: staleUnused, Why: why, Confidence: conf})
	}
	st.a.Step(query.Step{Operator: "unused", Counts: map[string]int64{"looked at": int64(looked)}})
	st.a.RecordTime("unused")
	return nil
}

// candidate is a function that no other symbol uses, and how many symbols inside it and how many
// tests do.
type candidate struct {
	n            int32
	inner, tests int
}

// amongTests returns the paths of files that contain tests.
func (st *staleness) amongTests() map[string]bool {
	paths := map[string]bool{}
	for i := range st.g.nodes {
		if st.g.nodes[i].test {
			paths[st.g.keys[i].Path()] = true
		}
	}
	return paths
}

// inFunction reports whether a node is declared inside a function.
func (st *staleness) inFunction(n int32) bool {
	owner := st.g.owner(n)
	if owner == "" {
		return false
	}
	for _, kind := range []recountv1.SymbolKind{recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, recountv1.SymbolKind_SYMBOL_KIND_METHOD} {
		if _, ok := st.g.find(schemas.NewNodeKey(st.g.keys[n].Path(), "", owner, kind, "")); ok {
			return true
		}
	}
	return false
}

// resolved returns the highest confidence of each language's calls, in thousandths; 0 if none are
// resolved.
func (st *staleness) resolved() map[uint16]uint16 {
	surest := map[uint16]uint16{}
	for i := range st.g.edges {
		e := &st.g.edges[i]
		if recountv1.EdgeKind(e.kind) == eCalls {
			l := st.g.nodes[e.from].lang
			surest[l] = max(surest[l], e.confidence)
		}
	}
	return surest
}

// usesOf counts the symbols that lead to a node: the node itself and what is inside it, tests, and
// others, including those of other repositories.
func (st *staleness) usesOf(n int32) (inner, tests, others int) {
	by := rules{against: ^kindsOf(eContains, recountv1.EdgeKind_EDGE_KIND_UNSPECIFIED), along: kindsOf(eHandles, eServes)}
	st.w.from(ref{0, n}, &by, func(to ref, _ link) {
		switch {
		case to.g == 0 && (to.n == n || st.g.keys[to.n].Path() == st.g.keys[n].Path() && st.g.owner(to.n) == st.g.chain(n)):
			inner++
		case st.w.graphs[to.g].nodes[to.n].test:
			tests++
		default:
			others++
		}
	})
	return inner, tests, others
}

// asked reports whether a node is required without being called: by an interface that it
// implements, a method that it overrides, or a decorator.
func (st *staleness) asked(n int32) bool {
	return st.decorated[n] || st.leads(n, kindsOf(eImplements, eOverrides, eDecorates, eHandles, eServes))
}

// leads reports whether an edge of one of the kinds begins at a node, also one that leaves the
// repository.
func (st *staleness) leads(n int32, wanted kinds) bool {
	for i := st.g.out[n]; i < st.g.out[n+1]; i++ {
		if wanted.has(st.g.edges[i].kind) {
			return true
		}
	}
	for i := st.g.outStart[n]; i < st.g.outStart[n+1]; i++ {
		if wanted.has(st.g.outside[i].kind) {
			return true
		}
	}
	return false
}

// fitsElsewhere reports whether a method may implement an external interface: in Go, any exported
// method of any type.
func (st *staleness) fitsElsewhere(n int32) bool {
	first, _ := utf8.DecodeRuneInString(st.g.name(n))
	return st.g.language(n) == "go" && isMethod(st.g.kind(n)) && unicode.IsUpper(first)
}

// entryPoint reports whether a name is one that a runtime or, for an operator, an expression calls.
func entryPoint(name string) bool {
	switch name {
	case "main", "Main", "init", "_", "constructor", "toString", "default", "exports",
		"GetEnumerator", "GetAsyncEnumerator", "GetAwaiter", "GetPinnableReference", "Deconstruct": // statements of C# call these
		return true
	}
	return strings.HasPrefix(name, "operator ") || strings.HasPrefix(name, "__") && strings.HasSuffix(name, "__") || strings.HasPrefix(name, "<") || strings.HasPrefix(name, "~")
}

// unresolvedNames counts the last names of references that were not resolved, or only in part, and
// collects the declarations with an unresolved base or decorator.
func (st *staleness) unresolvedNames() (map[string]int, error) {
	m, err := st.snap.Unresolved()
	if err != nil {
		return nil, err
	}
	names := map[string]int{}
	st.decorated = map[int32]bool{}
	for e, err := range m.All() {
		if err != nil {
			return nil, err
		}
		from, kind, rest, ok := snapshots.CutEdge(e.Key)
		path, _, cutOK := strings.Cut(string(rest), "\x00")
		if !ok || !cutOK {
			continue
		}
		switch n, known := st.g.find(from); {
		case !known:
		case baseKinds.has(uint8(kind)):
			st.unresolvedBases = append(st.unresolvedBases, n)
		case kind == eDecorates:
			st.decorated[n] = true
		}
		path = strings.TrimRight(path, "()[]")
		names[path[strings.LastIndexAny(path, ".)]?")+1:]]++
	}
	return names, nil
}

// files returns the files of the snapshot by path.
func (st *staleness) files() (map[string]*recountv1.CodeFile, error) {
	files, err := st.snap.Files()
	if err != nil {
		return nil, err
	}
	all := map[string]*recountv1.CodeFile{}
	for e, err := range files.All() {
		if err != nil {
			return nil, err
		}
		f := &recountv1.CodeFile{}
		if err := unmarshal(e.Value, f); err != nil {
			return nil, err
		}
		all[string(e.Key)] = f
	}
	return all, nil
}
