package code

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/projections/prolly"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// edgeChange is an edge that was added or removed.
type edgeChange struct {
	gone     bool
	from, to schemas.NodeKey // to is an external name if outside is set
	outside  bool
	kind     recountv1.EdgeKind
	edge     edge
}

// diffEdges reads the difference of the edges. Edges of kind contains are omitted, since the
// symbols show them, and so is what documents name. An edge between symbols that moved is the same edge.
func (d *differing) diffEdges() error {
	read := 0
	for _, w := range []snapshots.Which{snapshots.OutMap, snapshots.ExternalsMap} {
		var all []edgeChange
		came := map[string]int{}
		for c, err := range d.now.Since(d.base, w) {
			if err != nil {
				return err
			}
			read++
			from, kind, to, ok := snapshots.CutEdge(c.Key)
			if !ok || c.Kind == prolly.Changed || kind == eContains {
				continue
			}
			if s, _ := symbolOfElsewhere(to); w == snapshots.ExternalsMap && inText(s) {
				continue
			}
			e := edgeChange{gone: c.Kind == prolly.Deleted, from: from, to: to, outside: w == snapshots.ExternalsMap, kind: kind}
			value := c.New
			if e.gone {
				value = c.Old
			}
			if e.edge, err = decodeEdge(value); err != nil {
				return err
			}
			if !e.gone {
				came[string(c.Key)] = len(all)
			}
			all = append(all, e)
		}
		moved := map[int]bool{}
		for i, e := range all {
			if !e.gone || len(d.moved.to) == 0 {
				continue
			}
			to := e.to
			if !e.outside {
				to = d.moved.now(to)
			}
			if j, ok := came[string(snapshots.EdgeKey(d.moved.now(e.from), e.kind, to))]; ok {
				moved[i], moved[j] = true, true
			}
		}
		for i, e := range all {
			if !moved[i] {
				d.edges = append(d.edges, e)
			}
		}
	}
	d.resp.Counts["edges_added"], d.resp.Counts["edges_removed"] = 0, 0
	slices.SortStableFunc(d.edges, func(x, y edgeChange) int { return compareBool(!x.gone, !y.gone) })
	for _, e := range d.edges {
		d.resp.Counts["edges_"+e.change()]++
		d.resp.Edges = append(d.resp.Edges, EdgeChange{
			Change: e.change(), Edge: edgeName(uint8(e.kind)), Outside: e.outside,
			Provenance: provenanceName(e.edge.provenance), Confidence: confidence(e.edge.confidence),
		})
	}
	d.a.Step(query.Step{Operator: "changes", Inputs: map[string]string{"map": "out, externals"}, Counts: map[string]int64{"entries": int64(read), "edges": int64(len(d.edges))}})
	d.a.RecordTime("edges")
	return nil
}

func (e edgeChange) change() string {
	if e.gone {
		return changeRemoved
	}
	return changeAdded
}

// nameEdges fills in the names of the ends of the listed edges, from the revision that has them.
func (d *differing) nameEdges() error {
	for i := range d.resp.Edges {
		e := d.edges[i]
		nodes, err := d.has(e).Nodes()
		if err != nil {
			return err
		}
		if d.resp.Edges[i].From, err = nameIn(nodes, e.from); err != nil {
			return err
		}
		if d.resp.Edges[i].Site, err = siteFrom(d.has(e), e.from, e.edge); err != nil {
			return err
		}
		if e.outside {
			_, pkg, name := cutOutside(e.to)
			d.resp.Edges[i].To = strings.Trim(pkg+"."+name, ".")
			continue
		}
		if d.resp.Edges[i].To, err = nameIn(nodes, e.to); err != nil {
			return err
		}
	}
	return nil
}

// has returns the revision that has an edge.
func (d *differing) has(e edgeChange) *snapshots.Snapshot {
	if e.gone {
		return d.base
	}
	return d.now
}

func nameIn(nodes *prolly.Map, k schemas.NodeKey) (string, error) {
	n, err := nodeIn(nodes, k)
	return displayOf(k, n.GetPackage()), err
}

// siteFrom returns FILE:LINE of the first site of an edge from a node. The edge must not be of kind
// contains.
func siteFrom(s *snapshots.Snapshot, k schemas.NodeKey, e edge) (string, error) {
	line, err := s.Line(k)
	e.count(line)
	return place(k.Path(), e.line), err
}

// nodeIn returns a node of a map, or nil if there is none.
func nodeIn(nodes *prolly.Map, k schemas.NodeKey) (*recountv1.CodeNode, error) {
	value, ok, err := nodes.Get([]byte(k))
	if err != nil || !ok {
		return nil, err
	}
	n := &recountv1.CodeNode{}
	return n, unmarshal(value, n)
}

// cutOutside splits the name of an external symbol in the keys of edges.
func cutOutside(k schemas.NodeKey) (language, pkg, name string) {
	language, rest, _ := strings.Cut(string(k), "\x00")
	pkg, name, _ = strings.Cut(rest, "\x00")
	return language, pkg, name
}

// dependencies adds the external packages that only one of the revisions uses.
func (d *differing) dependencies() error {
	was, err := d.base.Users()
	if err != nil {
		return err
	}
	is, err := d.now.Users()
	if err != nil {
		return err
	}
	seen := map[[2]string]bool{}
	for _, e := range d.edges {
		if !e.outside {
			continue
		}
		language, pkg, name := cutOutside(e.to)
		id := [2]string{language, pkg}
		other := was
		if e.gone {
			other = is
		}
		if pkg == "" || seen[id] {
			continue
		}
		seen[id] = true
		used, err := hasPrefix(other, language+"\x00"+pkg+"\x00")
		if err != nil {
			return err
		}
		if used {
			continue
		}
		d.resp.Counts["dependencies_"+e.change()]++
		dep := DependencyChange{Change: e.change(), Language: language, Package: pkg}
		if dep.Site, err = siteFrom(d.has(e), e.from, e.edge); err != nil {
			return err
		}
		if dep.Repo, err = d.a.declaredIn(d.now, language, pkg, name); err != nil {
			return err
		}
		d.resp.Dependencies = append(d.resp.Dependencies, dep)
	}
	slices.SortStableFunc(d.resp.Dependencies, func(x, y DependencyChange) int {
		return cmp.Or(cmp.Compare(x.Change, y.Change), cmp.Compare(x.Language, y.Language), cmp.Compare(x.Package, y.Package))
	})
	return nil
}

func hasPrefix(m *prolly.Map, prefix string) (bool, error) {
	for _, err := range m.Prefix([]byte(prefix)) {
		return err == nil, err
	}
	return false, nil
}

// declaredIn returns the known repository that a package belongs to, judged by its name, or "". It
// does not read the repository's graph, which would take too long.
func (a *session) declaredIn(home *snapshots.Snapshot, language, pkg, name string) (string, error) {
	others, err := a.others(home)
	if err != nil {
		return "", err
	}
	for _, o := range others {
		if o.Repository == pkg || strings.HasPrefix(pkg, o.Repository+"/") {
			return o.Repository, nil
		}
	}
	return "", nil
}

// others returns the snapshots of the other repositories at HEAD, up to the limit of one answer.
func (a *session) others(home *snapshots.Snapshot) ([]*snapshots.Snapshot, error) {
	repos, err := a.view.Repositories()
	if err != nil {
		return nil, err
	}
	var all []*snapshots.Snapshot
	for _, r := range repos {
		if r == home.Repo() || len(all) == maxRepositories-1 {
			continue
		}
		o, err := a.view.Snapshot(r, "HEAD")
		if errors.Is(err, snapshots.ErrUnknown) || errors.Is(err, snapshots.ErrNoGraph) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

// elsewhere adds the uses in other repositories of symbols that were removed or renamed, or have
// another signature.
func (d *differing) elsewhere() error {
	d.resp.Counts["used_elsewhere"] = 0
	others, err := d.a.others(d.now)
	if err != nil || len(others) == 0 {
		return err
	}
	for _, c := range d.nodes {
		kind := d.moved.kind(c)
		if to, ok := d.moved.to[c.key]; ok && to.Chain() != c.key.Chain() {
			kind = changeRenamed
		}
		if kind != changeRemoved && kind != changeSignature && kind != changeRenamed || c.old == nil || c.old.Package == "" || c.key.Chain() == "" {
			continue
		}
		for _, o := range others {
			if err := d.usesIn(o, c, kind); err != nil {
				return err
			}
		}
	}
	d.resp.Counts["used_elsewhere"] = len(d.resp.Elsewhere)
	d.a.RecordTime("elsewhere")
	return nil
}

func (d *differing) usesIn(o *snapshots.Snapshot, c change, kind string) error {
	users, err := o.Users()
	if err != nil {
		return err
	}
	of := schemas.NodeKey(c.old.Language + "\x00" + c.old.Package + "\x00" + c.key.Chain())
	for e, err := range users.Prefix(append([]byte(of), 0xff)) {
		if err != nil {
			return err
		}
		_, edgeKind, from, ok := snapshots.CutEdge(e.Key)
		if !ok {
			continue
		}
		use := ElsewhereUse{Change: kind, Of: displayOf(c.key, c.old.Package), Edge: edgeName(uint8(edgeKind))}
		externals, err := o.Externals()
		if err != nil {
			return err
		}
		value, _, err := externals.Get(snapshots.EdgeKey(from, edgeKind, of))
		if err != nil {
			return err
		}
		known, err := decodeEdge(value)
		if err != nil {
			return err
		}
		nodes, err := o.Nodes()
		if err != nil {
			return err
		}
		n, err := nodeIn(nodes, from)
		if err != nil {
			return err
		}
		if n == nil {
			n = &recountv1.CodeNode{}
		}
		if use.Symbol, err = symbolOf(o, from, n); err != nil {
			return err
		}
		if use.Site, err = siteFrom(o, from, known); err != nil {
			return err
		}
		use.Confidence = confidence(known.confidence)
		d.resp.Elsewhere = append(d.resp.Elsewhere, use)
	}
	return nil
}
