package code

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/projections/lexical/spelling"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Symbol is a node of the code graph as answers show it.
type Symbol struct {
	Repo     string `json:"repo" example:"github.com/acme/shop" doc:"The repository."`
	Name     string `json:"name" example:"kgo.Client.Produce" doc:"The name, prefixed with the last element of the package; for a file its path."`
	Kind     string `json:"kind" example:"method" doc:"The kind of symbol: function, method, struct, interface, file, route, …"`
	Language string `json:"language,omitempty" example:"go" doc:"The language."`
	Package  string `json:"package,omitempty" example:"github.com/acme/shop/pkg/kgo" doc:"The package's canonical name."`
	File     string `json:"file" example:"pkg/kgo/producer.go" doc:"The file that declares it; for a package the directory."`
	Line     uint32 `json:"line,omitempty" example:"412" doc:"The line of its declaration, from 1."`
	EndLine  uint32 `json:"end_line,omitempty" example:"430" doc:"The line of its end."`
	Exported bool   `json:"exported,omitempty" doc:"Whether other files can name it, by the language's rule."`
	Test     bool   `json:"test,omitempty" doc:"Whether it is a test, or is declared in test code."`
	Variant  string `json:"variant,omitempty" example:"#2" doc:"Distinguishes it from other symbols with the same name."`
}

// subject returns the symbol as agents announce work on it.
func (s Symbol) subject() query.Subject { return query.Subject{Symbol: s.Name, File: s.File} }

// Place returns FILE:LINE, as editors accept it.
func (s Symbol) Place() string {
	if s.Line == 0 {
		return s.File
	}
	return s.File + ":" + strconv.Itoa(int(s.Line))
}

// AmbiguousNameError reports a name that matches several things. The caller can repeat the query with
// one of the candidates.
type AmbiguousNameError struct {
	Ref string `json:"name"`
	// What describes what is ambiguous.
	What string `json:"what"`
	// Candidates can be named instead; More is the number of further ones.
	Candidates []NameCandidate `json:"-"`
	More       int             `json:"more,omitempty"`
}

// NameCandidate is one of the things that an ambiguous name may mean.
type NameCandidate struct {
	// Name means this and nothing else.
	Name string `json:"name"`
	// Is describes it, with its place: "method kgo.Client.Produce at pkg/kgo/producer.go:562". It is
	// empty if the name says everything.
	Is string `json:"is,omitempty"`
}

// OfRepository reports whether the question named no repository and several were imported.
func (e *AmbiguousNameError) OfRepository() bool { return e.What == snapshots.WhichRepository }

func (e *AmbiguousNameError) Error() string {
	s := e.What + " is ambiguous: name one of"
	for _, c := range e.Candidates {
		s += "\n  " + c.Name
		if c.Is != "" {
			s += "  " + c.Is
		}
	}
	if e.More > 0 {
		s += fmt.Sprintf("\n  … %d more", e.More)
	}
	return s
}

// add adds a symbol that the name may mean, and the name to use for it.
func (e *AmbiguousNameError) add(name string, s Symbol) {
	if len(e.Candidates) == maxCandidates {
		e.More++
		return
	}
	e.Candidates = append(e.Candidates, NameCandidate{name, fmt.Sprintf("%s %s at %s", s.Kind, s.Name, s.Place())})
}

// maxCandidates is the maximum number of candidates listed for an ambiguous or unknown name.
const maxCandidates = 10

func (w *world) symbol(r ref) Symbol {
	g := w.graphs[r.g]
	n := &g.nodes[r.n]
	return Symbol{
		Repo: g.repo, Name: g.display(r.n), Kind: kindName(g.kind(r.n)), Language: g.language(r.n), Package: g.pkg(r.n),
		File: g.keys[r.n].Path(), Line: n.line, EndLine: n.end, Exported: n.exported, Test: n.test, Variant: g.keys[r.n].Variant(),
	}
}

// display returns a node's display name.
func (g *Graph) display(n int32) string {
	chain := g.chain(n)
	if chain == "" {
		return g.keys[n].Path()
	}
	if short := shortPackage(g.unversioned(n)); short != "" {
		return short + "." + chain
	}
	return chain
}

func (g *Graph) unversioned(n int32) string { return unversioned(g.pkg(n), g.keys[n].Path()) }

// unversioned returns the name of the package that a file belongs to, without the major version of
// its Go module: code names github.com/go-chi/chi/v5 and gopkg.in/yaml.v3 chi and yaml. A version
// that is a directory (k8s.io/api/autoscaling/v2) is the package's own name.
func unversioned(pkg, file string) string {
	if !strings.HasSuffix(file, ".go") {
		return pkg
	}
	name, test := strings.CutSuffix(pkg, "_test")
	i := strings.LastIndexAny(name, "/.")
	if i < 0 || !majorVersion(name[i+1:]) || strings.HasSuffix(path.Dir("/"+file), "/"+name[i+1:]) {
		return pkg
	}
	if name[i] == '.' && !strings.HasPrefix(name, "gopkg.in/") {
		return pkg
	}
	if test {
		return name[:i] + "_test"
	}
	return name[:i]
}

// majorVersion reports whether an element of a path is a version such as v2.
func majorVersion(s string) bool {
	n, err := strconv.Atoi(strings.TrimPrefix(s, "v"))
	return err == nil && n > 0 && s == "v"+strconv.Itoa(n)
}

// shortPackage returns the last element of a package's name.
func shortPackage(pkg string) string {
	if i := strings.LastIndexByte(pkg, '/'); i >= 0 {
		return pkg[i+1:]
	}
	if i := strings.LastIndexAny(pkg, ".:"); i >= 0 && !strings.Contains(pkg, "/") {
		return pkg[i+1:]
	}
	return pkg
}

func kindName(k recountv1.SymbolKind) string {
	return strings.ToLower(strings.TrimPrefix(k.String(), "SYMBOL_KIND_"))
}

// SymbolKinds returns the names of the kinds of symbols.
func SymbolKinds() []string { return namesOf(recountv1.SymbolKind_value, "SYMBOL_KIND_") }

// EdgeKinds returns the names of the kinds of edges.
func EdgeKinds() []string { return namesOf(recountv1.EdgeKind_value, "EDGE_KIND_") }

func namesOf(values map[string]int32, prefix string) (names []string) {
	for name, v := range values {
		if v != 0 {
			names = append(names, strings.ToLower(strings.TrimPrefix(name, prefix)))
		}
	}
	slices.Sort(names)
	return names
}

func edgeName(k uint8) string {
	return strings.ToLower(strings.TrimPrefix(recountv1.EdgeKind(k).String(), "EDGE_KIND_"))
}

func provenanceName(p uint8) string {
	return strings.ToLower(strings.TrimPrefix(recountv1.Provenance(p).String(), "PROVENANCE_"))
}

// named returns the declaration that a name means, in the first graph, or in that of another repository if
// the name has its prefix. The name of a function means all its overloads. An error is a
// *query.NotFoundError or an *AmbiguousNameError.
func (a *session) named(w *world, name string) ([]ref, error) {
	typed := name
	g := int32(0)
	if repo, rest, ok := strings.Cut(name, ":"); ok && rest != "" {
		meant, err := w.repository(repo)
		if err != nil {
			return nil, err
		}
		if meant >= 0 {
			g, name = meant, rest
		}
	}
	whole := strings.TrimSpace(name)
	name = strings.TrimPrefix(whole, w.graphs[g].repo+"/")
	found, by := w.graphs[g].lookup(name)
	if len(found) == 0 && name != whole { // a package of a Go module with a major version
		found, by = w.graphs[g].lookup(whole)
	}
	functions := w.graphs[g].functions(found)
	if len(functions) != 1 {
		return nil, w.unnamed(g, typed, name, functions)
	}
	one := found[0]
	own := w.graphs[g].keys[one].Variant()
	if by != "line" && (len(found) > 1 || own == "" || !strings.HasSuffix(name, own)) {
		found = w.graphs[g].overloads(one)
	}
	var all []ref
	for _, n := range found {
		all = append(all, ref{g, n})
	}
	a.Step(query.Step{Operator: "name", Inputs: map[string]string{"name": typed, "by": by, "means": w.exact(all[0])}})
	return all, nil
}

// overloads returns the declarations of a function: those of its kind and name in its file. Anything else
// is declared once.
func (g *Graph) overloads(n int32) (all []int32) {
	switch g.kind(n) {
	case recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, recountv1.SymbolKind_SYMBOL_KIND_METHOD, recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR:
	default:
		return []int32{n}
	}
	plain := strings.TrimSuffix(string(g.keys[n]), g.keys[n].Variant())
	i, _ := slices.BinarySearch(g.keys, schemas.NodeKey(plain))
	for ; i < len(g.keys) && strings.HasPrefix(string(g.keys[i]), plain); i++ {
		all = append(all, int32(i))
	}
	return all
}

// functions reduces nodes, in order, to the first of each function.
func (g *Graph) functions(found []int32) []int32 {
	var firsts []int32
	for _, n := range found {
		firsts = append(firsts, g.overloads(n)[0])
	}
	return slices.Compact(firsts)
}

// repository finds a graph by its repository's name or the end of it; it returns -1 if there is
// none.
func (w *world) repository(name string) (int32, error) {
	var found []int32
	for i := range w.graphs {
		switch repo := w.graphs[i].repo; {
		case repo == name:
			return int32(i), nil
		case strings.HasSuffix(repo, "/"+name):
			found = append(found, int32(i))
		}
	}
	switch len(found) {
	case 0:
		return -1, nil
	case 1:
		return found[0], nil
	}
	e := &AmbiguousNameError{Ref: name, What: fmt.Sprintf("repository %q", name)}
	for _, g := range found[:min(len(found), maxCandidates)] {
		e.Candidates = append(e.Candidates, NameCandidate{Name: w.graphs[g].repo})
	}
	e.More = len(found) - len(e.Candidates)
	return -1, e
}

// plainName returns a name joined with dots, whatever the language uses.
func plainName(s string) string { return nameBrackets.Replace(nameJoints.Replace(s)) }

var (
	nameJoints   = strings.NewReplacer("::", ".")
	nameBrackets = strings.NewReplacer("(*", "", ")", "", "(", "")
)

// exact returns a name of a node that can be used in a query. It is unique if the file has no other
// declaration with the name.
func (w *world) exact(r ref) string {
	g := w.graphs[r.g]
	s := g.keys[r.n].Path()
	if chain := g.chain(r.n); chain != "" {
		s += ":" + chain + g.keys[r.n].Variant()
	}
	return s
}

// lookup returns the nodes that a name means, and the kind of match. Worse matches are omitted.
// Paths are used unchanged, since they may contain brackets and colons; names are joined with dots,
// whatever the language uses.
func (g *Graph) lookup(name string) (found []int32, by string) {
	name = strings.TrimPrefix(nameJoints.Replace(name), "./")
	if file, rest, ok := cutLast(name, ':'); ok {
		if line, err := strconv.ParseUint(rest, 10, 32); err == nil {
			// The line may be followed by a column, as compilers print it.
			if before, l, ok := cutLast(file, ':'); ok {
				if n, err := strconv.ParseUint(l, 10, 32); err == nil {
					file, line = before, n
				}
			}
			found, by = g.atLine(file, uint32(line)), "line"
		} else {
			found, by = g.inFile(file, nameBrackets.Replace(rest)), "file and name"
		}
		if len(found) > 0 {
			return found, by
		}
	}
	if found = g.paths(name); len(found) > 0 {
		return found, "path"
	}
	name = nameBrackets.Replace(name)
	var tiers [4][]int32
	lower := strings.ToLower(name)
	for i := range g.nodes {
		n := int32(i)
		chain := g.chain(n)
		if chain == "" {
			continue
		}
		switch {
		case !foldSuffix(name, g.name(n)):
		case chain == name:
			tiers[1] = append(tiers[1], n)
		default:
			qualified := chain
			if p := g.pkg(n); p != "" {
				qualified = p + "." + chain
			}
			switch {
			case qualified == name:
				tiers[0] = append(tiers[0], n)
			case endsAtName(qualified, name), endsAtName(g.unversioned(n)+"."+chain, name):
				tiers[2] = append(tiers[2], n)
			case endsAtName(strings.ToLower(qualified), lower), endsAtName(strings.ToLower(g.unversioned(n)+"."+chain), lower):
				tiers[3] = append(tiers[3], n)
			}
		}
	}
	for _, tier := range tiers {
		if len(tier) > 0 {
			return g.oneOf(g.prefer(tier)), "name"
		}
	}
	if rest, ok := strings.CutPrefix(name, "main."); ok {
		return g.prefer(g.ofPrograms(rest)), "name in package main"
	}
	return nil, "name"
}

// ofPrograms returns what the main packages of Go declare by a name. A package has the name of its
// directory here, and its code calls it main.
func (g *Graph) ofPrograms(name string) (found []int32) {
	programs, named := map[string]bool{}, []int32(nil)
	for i := range g.nodes {
		n := int32(i)
		if strings.HasSuffix(g.keys[n].Path(), ".go") {
			chain := g.chain(n)
			if chain == "main" && g.kind(n) == recountv1.SymbolKind_SYMBOL_KIND_FUNCTION {
				programs[g.pkg(n)] = true
			}
			if chain == name {
				named = append(named, n)
			}
		}
	}
	for _, n := range named {
		if programs[g.pkg(n)] {
			found = append(found, n)
		}
	}
	return found
}

func cutLast(s string, sep byte) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// foldSuffix reports whether s ends with suffix, ignoring case.
func foldSuffix(s, suffix string) bool {
	return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
}

// endsAtName reports whether a qualified name ends with a name that begins after a dot or a slash.
func endsAtName(qualified, name string) bool {
	if !strings.HasSuffix(qualified, name) {
		return false
	}
	before := len(qualified) - len(name)
	return before == 0 || qualified[before-1] == '.' || qualified[before-1] == '/'
}

// prefer removes tests if other nodes remain, and then nodes that are not exported.
func (g *Graph) prefer(all []int32) []int32 {
	for _, better := range []func(n *node) bool{
		func(n *node) bool { return !n.test },
		func(n *node) bool { return n.exported },
	} {
		var kept []int32
		for _, n := range all {
			if better(&g.nodes[n]) {
				kept = append(kept, n)
			}
		}
		if len(kept) > 0 {
			all = kept
		}
	}
	return all
}

// paths returns the files and packages with a path, or with the end of one.
func (g *Graph) paths(name string) []int32 {
	dir := strings.TrimSuffix(name, "/") + "/"
	for _, key := range []schemas.NodeKey{
		schemas.NewNodeKey(name, "", "", recountv1.SymbolKind_SYMBOL_KIND_FILE, ""),
		schemas.NewNodeKey(dir, "", "", recountv1.SymbolKind_SYMBOL_KIND_PACKAGE, ""),
	} {
		if n, ok := g.find(key); ok {
			return []int32{n}
		}
	}
	var ends []int32
	for i := range g.nodes {
		n := int32(i)
		switch g.kind(n) {
		case recountv1.SymbolKind_SYMBOL_KIND_FILE:
			if strings.HasSuffix(g.keys[n].Path(), "/"+name) {
				ends = append(ends, n)
			}
		case recountv1.SymbolKind_SYMBOL_KIND_PACKAGE:
			if g.pkg(n) == name || strings.HasSuffix(g.keys[n].Path(), "/"+dir) {
				ends = append(ends, n)
			}
		}
	}
	return ends
}

// files returns the nodes of the files with a path, or with the end of one.
func (g *Graph) files(path string) []int32 {
	var files []int32
	for _, n := range g.paths(path) {
		if g.kind(n) == recountv1.SymbolKind_SYMBOL_KIND_FILE {
			files = append(files, n)
		}
	}
	return files
}

// below calls use with the nodes of a file.
func (g *Graph) below(file int32, use func(n int32)) {
	path := g.keys[file].Path()
	i, _ := slices.BinarySearch(g.keys, schemas.NodeKey(path+"\x00"))
	for ; i < len(g.keys) && g.keys[i].Path() == path; i++ {
		use(int32(i))
	}
}

// atLine returns the innermost declaration at a line, or the file itself if there is none.
func (g *Graph) atLine(path string, line uint32) []int32 {
	files := g.files(path)
	for i, file := range files {
		best := file
		g.below(file, func(n int32) {
			nd, was := &g.nodes[n], &g.nodes[best]
			if n == file || line < nd.line || line > max(nd.line, nd.end) {
				return
			}
			if best == file || nd.line > was.line || nd.line == was.line && nd.end <= was.end {
				best = n
			}
		})
		files[i] = best
	}
	return files
}

// inFile returns the declarations with a name in a file.
func (g *Graph) inFile(path, name string) []int32 {
	var tiers [2][]int32
	for _, file := range g.files(path) {
		g.below(file, func(n int32) {
			switch chain := g.chain(n) + g.keys[n].Variant(); {
			case chain == name:
				tiers[0] = append(tiers[0], n)
			case g.chain(n) != "" && endsAtName(g.chain(n), name):
				tiers[1] = append(tiers[1], n)
			}
		})
	}
	if len(tiers[0]) > 0 {
		return tiers[0]
	}
	return tiers[1]
}

// unnamed returns the error for a name that means nothing, or several things.
func (w *world) unnamed(g int32, typed, name string, found []int32) error {
	if len(found) > 0 {
		e := &AmbiguousNameError{Ref: typed, What: fmt.Sprintf("symbol %q", typed)}
		for _, n := range found {
			e.add(w.exact(ref{g, n}), w.symbol(ref{g, n}))
		}
		return e
	}
	hint := fmt.Sprintf("%s has no symbol or file of that name at this revision", w.graphs[g].repo)
	if near := w.graphs[g].near(name); len(near) > 0 {
		hint += "; did you mean " + strings.Join(near, ", ") + "?"
	}
	return &query.NotFoundError{Ref: typed, Hint: hint}
}

// near returns the names with the smallest edit distance to what was written.
func (g *Graph) near(name string) []string {
	last := strings.ToLower(name[strings.LastIndexAny(name, "./:")+1:])
	type hit struct {
		name     string
		distance int
		test     bool
	}
	most := max(1, len(last)/3)
	best := map[string]hit{}
	for i := range g.nodes {
		n := int32(i)
		own := strings.ToLower(g.name(n))
		if own == "" || len(own) > len(last)+most || len(last) > len(own)+most {
			continue
		}
		if d := spelling.Distance(last, own, most); d <= most {
			shown := g.display(n)
			best[shown] = hit{shown, d, g.nodes[n].test}
		}
	}
	var hits []hit
	for _, h := range best {
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), compareBool(a.test, b.test), cmp.Compare(len(a.name), len(b.name)), cmp.Compare(a.name, b.name))
	})
	var names []string
	for _, h := range hits[:min(len(hits), 5)] {
		names = append(names, h.name)
	}
	return names
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}

func personName(s *recountv1.Signature) string {
	if s.GetEmail() == "" {
		return s.GetName()
	}
	return strings.TrimSpace(s.Name + " <" + s.Email + ">")
}

// ProvenanceName returns the name of a provenance in answers, such as "types_resolved".
func ProvenanceName(p recountv1.Provenance) string { return provenanceName(uint8(p)) }
