package code

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/projections/prolly"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// builder builds the snapshot of one commit.
type builder struct {
	*fold
	repo   string
	memory *repository
	staged *prolly.Staged
	maps   *prolly.DB
}

// build fills in the snapshot's maps. If the parent has no graph, the commit gets none either.
//
// The maps are built from those of the snapshot built last, whichever commit it was of: the work is
// proportional to the difference of the two trees of files. That is small even for the first commit
// of a branch, and the resulting maps do not depend on the base.
func (b *builder) build(ctx context.Context, m *recountv1.CommitRecorded, s *recountv1.CodeSnapshot) error {
	var parent *recountv1.CodeSnapshot
	if m.Scope != recountv1.Scope_SCOPE_FULL && len(m.Parents) > 0 {
		var err error
		if parent, err = b.parent(m.Repository, m.Parents[0]); err != nil {
			return err
		}
		if parent == nil || parent.Maps == nil {
			s.WithoutGraph = fmt.Sprintf("the graph of its parent %s is not known: import with that parent as the base", m.Parents[0])
			return nil
		}
	}
	before, old, err := b.treeOf(parent)
	if err != nil {
		return err
	}
	changes, err := b.changes(m.Changes)
	if err != nil {
		return err
	}
	after := before.with(changes)
	if last := b.memory.last; last != nil && last != before {
		last.load = b.load
		before, old, changes = last, b.memory.roots, after.differs(last)
	}
	change := resolve.Change{Paths: slices.Sorted(maps.Keys(changes))}
	if before.root != prolly.Empty {
		change.Base = before
	}
	graphs, err := b.resolve(ctx, after, change)
	if err != nil {
		return err
	}
	roots, err := b.write(old, changes, graphs)
	if err != nil {
		return err
	}
	after.root = roots.files
	s.Maps = roots.encode()
	hash := snapshotHash(s, roots)
	s.Snapshot = hash[:]
	b.memory.last, b.memory.roots = after, roots
	return nil
}

// treeOf returns the files and the map roots of a snapshot; both are empty for nil.
func (b *builder) treeOf(s *recountv1.CodeSnapshot) (*tree, roots, error) {
	if s == nil {
		return &tree{repo: b.repo, root: prolly.Empty, load: b.load}, emptyRoots(), nil
	}
	all, err := decodeRoots(s.Maps)
	if err != nil {
		return nil, all, b.c.Damaged(err)
	}
	if last := b.memory.last; last != nil && b.memory.roots == all {
		last.load = b.load
		return last, all, nil
	}
	m, err := b.maps.In(FilesMap.space()).Map(all.files)
	if err != nil {
		return nil, all, err
	}
	t, err := readTree(b.repo, m, b.load)
	return t, all, err
}

// load reads facts that must be stored.
func (b *builder) load(blob []byte, language string) (*recountv1.StoredFacts, error) {
	f, err := b.find(blob, language)
	if err == nil && f == nil {
		err = b.c.Damaged(fmt.Errorf("no facts of blob %x as %q", blob, language))
	}
	return f, err
}

// find reads facts, or returns nil if they are not stored.
func (b *builder) find(blob []byte, language string) (*recountv1.StoredFacts, error) {
	id := factsID{string(blob), language}
	if f := b.memory.facts.get(id); f != nil {
		return f, nil
	}
	value, ok, err := b.get(factsKey(b.t.Shard(), b.repo, blob, language))
	if err != nil || !ok {
		return nil, err
	}
	f, size, err := decodeFacts(value)
	if err != nil {
		return nil, b.c.Damaged(err)
	}
	b.memory.facts.add(id, f, size)
	return f, nil
}

// changes returns the files that a commit changed, by path; nil marks a deleted file.
func (b *builder) changes(all []*recountv1.FileChange) (map[string]*recountv1.CodeFile, error) {
	changed := map[string]*recountv1.CodeFile{}
	for _, c := range all {
		if c.Status == recountv1.ChangeStatus_CHANGE_STATUS_RENAMED && c.OldPath != "" {
			if _, also := changed[c.OldPath]; !also {
				changed[c.OldPath] = nil
			}
		}
	}
	for _, c := range all {
		if c.Status == recountv1.ChangeStatus_CHANGE_STATUS_DELETED {
			if changed[c.Path] == nil {
				changed[c.Path] = nil
			}
			continue
		}
		file, err := b.file(c)
		if err != nil {
			return nil, err
		}
		changed[c.Path] = file
	}
	return changed, nil
}

// file returns the entry of a path in the snapshot, with the facts of its content or the reason why
// it has none.
func (b *builder) file(c *recountv1.FileChange) (*recountv1.CodeFile, error) {
	blob, err := objectID(c.Blob)
	if err != nil {
		return nil, &badRecord{fmt.Errorf("%s: %w", c.Path, err)}
	}
	f := &recountv1.CodeFile{Blob: blob, Mode: c.Mode, Skipped: c.Skipped}
	if bytes.IndexByte([]byte(c.Path), 0) >= 0 {
		return nil, badf("path %q: it has a zero byte", c.Path)
	}
	if f.Skipped == "" && len(c.Path) > maxPath {
		f.Skipped = fmt.Sprintf("path of %d bytes, the limit is %d", len(c.Path), maxPath)
	}
	if f.Skipped != "" {
		return f, nil
	}
	language := b.c.opts.Language(c.Path)
	s, err := b.find(blob, language)
	if err != nil {
		return nil, err
	}
	if s == nil {
		f.Skipped = "its content is not on the log"
		return f, nil
	}
	facts := s.GetFacts()
	f.Language, f.Size = facts.Language, facts.Size
	f.Skipped, f.Partial, f.Problem, f.Generated = facts.Skipped, facts.Partial, facts.Problem, facts.Generated
	return f, nil
}

// maxPath is the maximum length of a path that gets nodes: an edge's key contains two.
const maxPath = 1000

// resolve runs every resolver and returns the graphs that may have changed, by path. Files of
// languages without a resolver get the nodes that their facts give.
func (b *builder) resolve(ctx context.Context, t *tree, c resolve.Change) (map[string]resolve.FileGraph, error) {
	graphs := map[string]resolve.FileGraph{}
	taken := map[string]bool{}
	for _, r := range b.memory.resolvers {
		for _, l := range r.Languages() {
			taken[l] = true
		}
		all, err := resolveBy(ctx, r, t, c)
		if err != nil {
			return nil, fmt.Errorf("resolve %s by %s: %w", t.repo, r.Name(), err)
		}
		for _, g := range all {
			graphs[g.Path] = g
		}
	}
	for _, path := range c.Paths {
		i, ok := t.find(path)
		if !ok {
			graphs[path] = resolve.FileGraph{Path: path}
			continue
		}
		f := t.entries[i].resolved()
		if _, done := graphs[path]; done || taken[f.Language] && f.Skipped == "" {
			continue
		}
		facts, err := t.Facts(f)
		if err != nil {
			return nil, err
		}
		g := resolve.Base(f, facts, facts.GetPackage())
		g.Normalize()
		graphs[path] = g
	}
	return graphs, nil
}

// resolveBy runs one resolver. A panic in it is a bug in Recount that recurs whenever the same
// files come, so the commit is rejected with the panic's message, and one repository does not stop
// the others.
func resolveBy(ctx context.Context, r resolve.Resolver, t *tree, c resolve.Change) (all []resolve.FileGraph, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = badf("it failed: %v", p)
		}
	}()
	return r.Resolve(ctx, t, c)
}

// write derives the maps of the new snapshot from old ones.
func (b *builder) write(old roots, changes map[string]*recountv1.CodeFile, graphs map[string]resolve.FileGraph) (roots, error) {
	e := &edits{b: b, old: old}
	for _, path := range slices.Sorted(maps.Keys(changes)) {
		if err := e.file(path, changes[path]); err != nil {
			return roots{}, err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(graphs)) {
		if err := e.graph(graphs[path]); err != nil {
			return roots{}, err
		}
	}
	return e.apply()
}

// edits collects the differences between a snapshot's maps and the new ones.
type edits struct {
	b   *builder
	old roots

	files, nodes, out, in, externals, users, unresolved, lines []prolly.Edit
}

func (e *edits) file(path string, f *recountv1.CodeFile) error {
	if f == nil {
		e.files = append(e.files, prolly.Edit{Key: []byte(path), Delete: true})
		return nil
	}
	value, err := marshal(f)
	e.files = append(e.files, prolly.Edit{Key: []byte(path), Value: value})
	return err
}

// graph replaces the entries under a path. Entries that are too long for a map are recorded as
// unresolved.
func (e *edits) graph(g resolve.FileGraph) error {
	unresolved := make([]prolly.Entry, 0, len(g.Unresolved))
	add := func(to *[]prolly.Entry, entry prolly.Entry, kind recountv1.EdgeKind, name string, at *recountv1.Place) {
		if len(entry.Key) <= prolly.MaxKey && len(entry.Value) <= prolly.MaxValue {
			*to = append(*to, entry)
			return
		}
		unresolved = append(unresolved, prolly.Entry{Key: unresolvedKey(resolve.Unresolved{
			From: schemas.NewNodeKey(g.Path, "", "", ownKind(g.Path), ""), Kind: kind, Path: tooLong(name), At: at,
		})})
	}
	nodes := make([]prolly.Entry, 0, len(g.Nodes))
	for _, n := range g.Nodes {
		value, err := marshal(lineless(n.Node))
		if err != nil {
			return err
		}
		add(&nodes, prolly.Entry{Key: []byte(n.Key), Value: value}, recountv1.EdgeKind_EDGE_KIND_CONTAINS, n.Key.Chain(), n.Node.GetStart())
	}
	inOrder(&nodes)
	lines := firstLines(g)
	out := make([]prolly.Entry, 0, len(g.Edges))
	for _, edge := range g.Edges {
		value, err := marshal(relative(edge.Edge, lines[Anchor(edge.From, edge.Kind, edge.To)]))
		if err != nil {
			return err
		}
		add(&out, prolly.Entry{Key: edgeKey(edge.From, edge.Kind, edge.To), Value: value}, edge.Kind, edge.To.Chain(), firstSite(edge.Edge))
	}
	externals := make([]prolly.Entry, 0, len(g.Externals))
	for _, x := range g.Externals {
		value, err := marshal(relative(x.Edge, lines[x.From]))
		if err != nil {
			return err
		}
		add(&externals, prolly.Entry{Key: externalKey(x), Value: value}, x.Kind, x.Package+"."+x.Name, firstSite(x.Edge))
	}
	for _, u := range g.Unresolved {
		add(&unresolved, prolly.Entry{Key: unresolvedKey(u)}, u.Kind, u.Path, u.At)
	}
	inOrder(&out)
	inOrder(&externals)
	inOrder(&unresolved)
	under := append([]byte(g.Path), 0)
	for _, m := range []struct {
		which Which
		root  prolly.Hash
		now   []prolly.Entry
		edits *[]prolly.Edit
		// mirror collects the edits of the map in the other direction, or is nil if there is none.
		mirror *[]prolly.Edit
	}{
		{NodesMap, e.old.nodes, nodes, &e.nodes, nil},
		{OutMap, e.old.out, out, &e.out, &e.in},
		{ExternalsMap, e.old.externals, externals, &e.externals, &e.users},
		{UnresolvedMap, e.old.unresolved, unresolved, &e.unresolved, nil},
		{LinesMap, e.old.lines, lineEntries(g.Path, nodes, lines), &e.lines, nil},
	} {
		was, err := e.b.maps.In(m.which.space()).Map(m.root)
		if err != nil {
			return err
		}
		if err := replace(was.Prefix(under), m.now, m.edits, m.mirror); err != nil {
			return err
		}
	}
	return nil
}

// ownKind returns the kind of the node of a path itself; the path of a package ends in a slash.
func ownKind(path string) recountv1.SymbolKind {
	if strings.HasSuffix(path, "/") {
		return recountv1.SymbolKind_SYMBOL_KIND_PACKAGE
	}
	return recountv1.SymbolKind_SYMBOL_KIND_FILE
}

// tooLong returns a name for an omitted entry. The length distinguishes names with the same
// beginning.
func tooLong(name string) string {
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(name[:min(len(name), 80)], ""), len(name))
}

func firstSite(e *recountv1.CodeEdge) *recountv1.Place {
	if len(e.GetSites()) == 0 {
		return nil
	}
	return e.Sites[0]
}

// inOrder sorts entries by key and removes duplicates.
func inOrder(all *[]prolly.Entry) {
	slices.SortFunc(*all, func(a, b prolly.Entry) int { return bytes.Compare(a.Key, b.Key) })
	*all = slices.CompactFunc(*all, func(a, b prolly.Entry) bool { return bytes.Equal(a.Key, b.Key) })
}

// replace appends the edits that turn the entries `was` into `now`. Both are in key order.
func replace(was iter.Seq2[prolly.Entry, error], now []prolly.Entry, to, mirror *[]prolly.Edit) error {
	edit := func(e prolly.Edit) {
		*to = append(*to, e)
		if from, kind, target, ok := cutEdge(e.Key); ok && mirror != nil {
			*mirror = append(*mirror, prolly.Edit{Key: edgeKey(target, kind, from), Delete: e.Delete})
		}
	}
	i := 0
	for old, err := range was {
		if err != nil {
			return err
		}
		for i < len(now) && bytes.Compare(now[i].Key, old.Key) < 0 {
			edit(prolly.Edit{Key: now[i].Key, Value: now[i].Value})
			i++
		}
		if i < len(now) && bytes.Equal(now[i].Key, old.Key) {
			if !bytes.Equal(now[i].Value, old.Value) {
				// The map in the other direction has no values, so it does not change.
				*to = append(*to, prolly.Edit{Key: now[i].Key, Value: now[i].Value})
			}
			i++
			continue
		}
		edit(prolly.Edit{Key: bytes.Clone(old.Key), Delete: true})
	}
	for ; i < len(now); i++ {
		edit(prolly.Edit{Key: now[i].Key, Value: now[i].Value})
	}
	return nil
}

func (e *edits) apply() (roots, error) {
	next := e.old
	edits := [len(allMaps)][]prolly.Edit{e.files, e.nodes, e.out, e.in, e.externals, e.users, e.unresolved, e.lines}
	for i, root := range next.all() {
		changed, _, err := e.b.maps.In(allMaps[i].space()).Apply(*root, edits[i])
		if err != nil {
			return roots{}, err
		}
		*root = changed
	}
	return next, nil
}

// roots are the roots of a snapshot's maps.
type roots struct{ files, nodes, out, in, externals, users, unresolved, lines prolly.Hash }

func emptyRoots() roots {
	var r roots
	for _, root := range r.all() {
		*root = prolly.Empty
	}
	return r
}

func (r *roots) all() []*prolly.Hash {
	return []*prolly.Hash{&r.files, &r.nodes, &r.out, &r.in, &r.externals, &r.users, &r.unresolved, &r.lines}
}

func (r roots) encode() *recountv1.CodeMaps {
	return &recountv1.CodeMaps{
		Files: r.files[:], Nodes: r.nodes[:], Out: r.out[:], In: r.in[:],
		Externals: r.externals[:], Users: r.users[:], Unresolved: r.unresolved[:], Lines: r.lines[:],
	}
}

func decodeRoots(m *recountv1.CodeMaps) (roots, error) {
	var r roots
	for i, b := range [][]byte{m.GetFiles(), m.GetNodes(), m.GetOut(), m.GetIn(), m.GetExternals(), m.GetUsers(), m.GetUnresolved(), m.GetLines()} {
		if len(b) != len(prolly.Hash{}) {
			return r, fmt.Errorf("snapshot: root %d has %d bytes", i, len(b))
		}
		*r.all()[i] = prolly.Hash(b)
	}
	return r, nil
}

// snapshotHash returns the hash of a commit's whole graph. It is a function of the commit alone:
// parents are included by their commit ids, so a history that begins later gives the same hash.
func snapshotHash(s *recountv1.CodeSnapshot, r roots) schemas.Hash {
	c := schemas.NewCanon("recount/snapshot/3").String(s.Repository).String(s.Commit).Int(int64(len(s.Parents)))
	for _, p := range s.Parents {
		c.String(p)
	}
	for _, h := range r.all() {
		c.Bytes(h[:])
	}
	return c.Sum()
}
