package code

import (
	"cmp"
	"context"
	"iter"

	"google.golang.org/protobuf/proto"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Study is the graph of one revision, opened for a ranking of all its symbols and files (package
// query/context). Symbols are numbered from 0 in key order; files and packages are among them. It is
// used by one goroutine for one query, and closed by its caller.
type Study struct {
	a    *session
	snap *snapshots.Snapshot
	g    *Graph
	w    *world
}

// OpenStudy opens the graph of a scope. An error is one of those of Symbols.
func OpenStudy(ctx context.Context, s Sources, sc Scope) (*Study, error) {
	a, err := s.open(ctx, sc)
	if err != nil {
		return nil, err
	}
	snap, err := a.snapshot(sc.Repo, sc.At)
	if err != nil {
		a.Close()
		return nil, err
	}
	g, err := a.graph(snap)
	if err != nil {
		a.Close()
		return nil, err
	}
	return &Study{a, snap, g, &world{graphs: []*Graph{g}, snaps: []*snapshots.Snapshot{snap}}}, nil
}

// Heads returns what identifies the snapshot at HEAD of each repository that has one.
func Heads(ctx context.Context, s Sources) (map[string]schemas.Hash, error) {
	a, err := s.open(ctx, Scope{})
	if err != nil {
		return nil, err
	}
	defer a.Close()
	all, err := a.view.Repositories()
	if err != nil {
		return nil, err
	}
	heads := map[string]schemas.Hash{}
	for _, r := range all {
		if snap, err := a.view.Snapshot(r, "HEAD"); err == nil {
			heads[r.Name] = snap.Hash()
		}
	}
	return heads, nil
}

// Close releases the study.
func (s *Study) Close() { s.a.Close() }

// Session returns the query's session, for its proof, its times and its answer's basis.
func (s *Study) Session() *query.Session[query.Step] { return &s.a.Session }

// Revision returns the revision that was opened.
func (s *Study) Revision() Revision { return revisionAt(s.snap) }

// Hash identifies the snapshot: equal hashes have equal graphs.
func (s *Study) Hash() schemas.Hash { return s.snap.Hash() }

// Len returns the number of symbols.
func (s *Study) Len() int { return len(s.g.nodes) }

// Symbol returns a symbol as answers show it.
func (s *Study) Symbol(n int32) Symbol { return s.w.symbol(ref{0, n}) }

// Kind, Chain, Name, Path and Lines return parts of a symbol. Chain is its name behind those of its
// owners; it is empty for files and packages.
func (s *Study) Kind(n int32) recountv1.SymbolKind { return s.g.kind(n) }
func (s *Study) Chain(n int32) string              { return s.g.chain(n) }
func (s *Study) Name(n int32) string               { return s.g.name(n) }
func (s *Study) Path(n int32) string               { return s.g.keys[n].Path() }
func (s *Study) Lines(n int32) (from, to int) {
	return int(s.g.nodes[n].line), int(max(s.g.nodes[n].line, s.g.nodes[n].end))
}

// Test and Exported report whether a symbol is in test code, and whether others can name it.
func (s *Study) Test(n int32) bool     { return s.g.nodes[n].test }
func (s *Study) Exported(n int32) bool { return s.g.nodes[n].exported }

// Link is one edge of the graph, seen from one of its ends.
type Link struct {
	To         int32
	Kind       recountv1.EdgeKind
	Confidence float64
}

// Out and Into list the edges that leave and enter a symbol, without those of documents.
func (s *Study) Out(n int32) iter.Seq[Link] {
	return func(yield func(Link) bool) {
		if s.g.isDocument(n) {
			return
		}
		for _, e := range s.g.edges[s.g.out[n]:s.g.out[n+1]] {
			if !yield(Link{e.to, recountv1.EdgeKind(e.kind), confidence(e.confidence)}) {
				return
			}
		}
	}
}

func (s *Study) Into(n int32) iter.Seq[Link] {
	return func(yield func(Link) bool) {
		for _, i := range s.g.into[s.g.in[n]:s.g.in[n+1]] {
			e := &s.g.edges[i]
			if !s.g.isDocument(e.from) && !yield(Link{e.from, recountv1.EdgeKind(e.kind), confidence(e.confidence)}) {
				return
			}
		}
	}
}

// Users returns the number of edges by which others use a symbol.
func (s *Study) Users(n int32) (count int) {
	for _, i := range s.g.into[s.g.in[n]:s.g.in[n+1]] {
		if e := &s.g.edges[i]; usingKinds.has(e.kind) && !s.g.isDocument(e.from) {
			count++
		}
	}
	return count
}

// Scored is a symbol with its score for a description. Behind marks tests, examples and steps of CI.
type Scored struct {
	N      int32
	Score  float64
	Behind bool
}

// Described returns the most symbols, by score, whose names, documentation, signatures or surroundings
// have words of a text, scored as by Symbols.
func (s *Study) Described(text string, most int) ([]Scored, error) {
	x, err := s.a.s.Graphs.texts.indexOf(s.a.Ctx, s.g, s.snap)
	if err != nil {
		return nil, err
	}
	found, spread := x.spread(s.g, text, nil, false)
	// Of those with one score, the order is that in which Symbols has them.
	type placed struct {
		scored
		rest bool
	}
	at := make([]placed, len(found))
	for i, f := range found {
		at[i] = placed{f, i >= spread}
	}
	most = min(most, len(at))
	selectFirst(at, most, func(a, b placed) int {
		return cmp.Or(cmp.Compare(b.score, a.score), compareBool(a.rest, b.rest), better(a.scored, b.scored))
	})
	all := make([]Scored, most)
	for i, f := range at[:most] {
		all[i] = Scored{f.n, f.score, f.behind}
	}
	return all, nil
}

// Named returns the symbols that a name means: qualified or not, a path, or FILE:LINE.
func (s *Study) Named(name string) []int32 {
	found, _ := s.g.lookup(name)
	return found
}

// Detail returns the head of a symbol's declaration and its documentation.
func (s *Study) Detail(n int32) (signature, doc string, err error) {
	full := &recountv1.CodeNode{}
	if _, err := s.snap.Read(snapshots.NodesMap, []byte(s.g.keys[n]), full); err != nil {
		return "", "", err
	}
	return full.Signature, full.Doc, nil
}

// FileState is a file of the revision.
type FileState struct {
	Path, Language string
	// Blob identifies its content.
	Blob string
	// Skipped says why its content is not known.
	Skipped   string
	Generated bool

	file *recountv1.CodeFile
}

// Files returns the files of the revision by path.
func (s *Study) Files() ([]FileState, error) {
	files, err := s.snap.Files()
	if err != nil {
		return nil, err
	}
	var all []FileState
	for e, err := range files.All() {
		if err != nil {
			return nil, err
		}
		f := &recountv1.CodeFile{}
		if err := proto.Unmarshal(e.Value, f); err != nil {
			return nil, err
		}
		all = append(all, FileState{string(e.Key), f.Language, string(f.Blob), f.Skipped, f.Generated, f})
	}
	return all, nil
}

// Facts returns what a file says, with the event that holds its content; nil if it was skipped.
func (s *Study) Facts(f FileState) (*recountv1.FileFacts, schemas.Position, error) {
	facts, err := s.snap.Facts(f.file)
	if err != nil || facts == nil {
		return nil, schemas.Position{}, err
	}
	return facts.Facts, schemas.PositionOf(facts.Position), nil
}

// HasFacts reports whether Facts returns something: what was erased has none any more.
func (s *Study) HasFacts(f FileState) (bool, error) { return s.snap.HasFacts(f.file) }

// PastChange is a commit before the revision, or the revision's own.
type PastChange struct {
	Commit, Message string
	Paths           []string
}

// Past calls yield with the commits up to the revision, the newest first, that are no merges and say
// which files they changed. It visits at most `most` commits.
func (s *Study) Past(most int, yield func(PastChange)) error {
	return s.a.history(s.snap.Repo(), s.snap.CodeSnapshot, most, func(c *recountv1.CodeSnapshot) bool {
		if len(c.Parents) > 1 || c.Scope == recountv1.Scope_SCOPE_FULL && len(c.Parents) > 0 || len(c.Changed) == 0 {
			return true
		}
		yield(PastChange{Commit: c.Commit, Message: c.Message, Paths: c.Changed})
		return true
	})
}

// Differences returns the files that differ between two revisions, and the symbols of this study,
// which should be the newer one, that do.
func (s *Study) Differences(base string) (paths []string, symbols []int32, err error) {
	old, err := s.a.snapshot(s.snap.Repo().Name, base)
	if err != nil {
		return nil, nil, err
	}
	for c, err := range s.snap.Since(old, snapshots.FilesMap) {
		if err != nil {
			return nil, nil, err
		}
		paths = append(paths, string(c.Key))
	}
	all, err := changes(old, s.snap)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range changedSeeds(s.g, all) {
		symbols = append(symbols, r.n)
	}
	return paths, symbols, nil
}
