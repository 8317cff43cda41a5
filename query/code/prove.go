package code

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/projections/prolly"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// ProveRequest asks for a proof that a snapshot has an edge, or does not have it.
type ProveRequest struct {
	Scope
	From   string `json:"from" minLength:"1" maxLength:"4096" example:"main.run" doc:"The symbol that the edge starts from."`
	To     string `json:"to" minLength:"1" maxLength:"4096" example:"kgo.Client.Produce" doc:"The symbol that the edge leads to, in the repository or outside as callees lists it (net/http.Client.Do)."`
	Edge   string `json:"edge,omitempty" default:"calls" example:"calls" doc:"The kind of the edge: calls, may_call, references, implements, …"`
	Absent bool   `json:"absent,omitempty" doc:"Prove that there is no such edge."`
}

// ProveResponse is the answer of prove.
type ProveResponse struct {
	query.Basis
	Revision Revision  `json:"revision" doc:"The revision that was queried."`
	Claim    string    `json:"claim" example:"main.go:run calls pkg/kgo/client.go:Client.Produce" doc:"The proved statement as text."`
	Evidence EdgeProof `json:"evidence" doc:"The proof: verify-proof checks it with nothing but the snapshot's hash."`
}

// EdgeProof proves a claim about one edge of a snapshot. Every field matters: VerifyProof rejects
// the proof if any of them is changed.
//
// The chain is as follows. The claim is the leaf that Path shows in the map (package prolly). The
// roots of the maps, the repository, the commit and its parents give the snapshot's hash.
type EdgeProof struct {
	Version    int               `json:"recount_proof" example:"2" doc:"The version of this format."`
	Snapshot   schemas.Hash      `json:"snapshot" doc:"The root hash of the snapshot."`
	Repository string            `json:"repository" example:"github.com/acme/shop" doc:"The repository."`
	Commit     string            `json:"commit" doc:"The commit."`
	Parents    []string          `json:"parents" nullable:"false" doc:"The commit's parents."`
	Maps       map[string]string `json:"maps" doc:"The roots of the snapshot's eight maps."`
	From       NodeName          `json:"from" doc:"The symbol that the edge starts from."`
	Edge       string            `json:"edge" example:"calls" doc:"The kind of the edge."`
	To         *NodeName         `json:"to,omitempty" doc:"The symbol that the edge leads to, if it is in the repository."`
	Outside    *OutsideName      `json:"outside,omitempty" doc:"The symbol that the edge leads to, if it is outside the repository."`
	Absent     bool              `json:"absent,omitempty" doc:"The proof shows that there is no such edge."`
	Ends       *ProvenEnds       `json:"ends,omitempty" doc:"Proof that the snapshot has both ends; present exactly if absent is set."`
	Value      []byte            `json:"value,omitempty" doc:"The stored edge: a CodeEdge in protobuf, base64."`
	Digest     schemas.Hash      `json:"claim" doc:"The hash of the claim: the snapshot, the statement as text, the map, the key, the value, whether it is absent, and the stored values of the ends."`
	Path       json.RawMessage   `json:"path" doc:"The proof of the entry in the map, in the format of projections/prolly."`
}

// ProvenEnds proves that both ends of an absent edge are in the snapshot. Without it a proof of
// absence would be worthless, since no edge begins or ends at something that does not exist.
type ProvenEnds struct {
	From ProvenEnd `json:"from" doc:"Proof that the snapshot has the node that the edge would start from."`
	To   ProvenEnd `json:"to" doc:"Proof that the snapshot has the node that the edge would lead to, or, if that is outside the repository, that some edge leads to it."`
}

// ProvenEnd proves that a snapshot has a node, or an edge that leads to an external symbol.
type ProvenEnd struct {
	By    *NodeName       `json:"by,omitempty" doc:"The node from which an edge leads to the symbol outside."`
	Edge  string          `json:"edge,omitempty" doc:"The kind of that edge."`
	Value []byte          `json:"value" doc:"The stored value: a CodeNode, or with by a CodeEdge, in protobuf, base64."`
	Path  json.RawMessage `json:"path" doc:"The proof of the entry in the map nodes, or with by in the map externals."`
}

// NodeName has the parts of a node's key.
type NodeName struct {
	File    string `json:"file" example:"pkg/kgo/client.go" doc:"The file."`
	Name    string `json:"name" example:"Client.Produce" doc:"The name, prefixed with the names of its owners."`
	Kind    string `json:"kind" example:"method" doc:"The kind of symbol."`
	Variant string `json:"variant,omitempty" doc:"Distinguishes it from other symbols with the same name."`
}

// OutsideName identifies an external symbol.
type OutsideName struct {
	Language string `json:"language" example:"go" doc:"The language."`
	Package  string `json:"package" example:"net/http" doc:"The package."`
	Name     string `json:"name" example:"Client.Do" doc:"The name."`
}

const (
	// proofVersion is 3 since the claim names the kinds of both ends, absence proves that the ends
	// exist, and the file has only one form. It became 2 when snapshots got the map lines.
	proofVersion = 3
	// MaxProof is the maximum size of a file that VerifyProof reads, in bytes.
	MaxProof = 1 << 20
)

// ErrNotProved is in the chain of every error of VerifyProof.
var ErrNotProved = errors.New("not proved")

func (r ProveRequest) check() error {
	_, err := parseEdge(cmp.Or(r.Edge, "calls"))
	return cmp.Or(r.Scope.check(), checkSubject("from", r.From), checkSubject("to", r.To), err)
}

func parseEdge(name string) (recountv1.EdgeKind, error) {
	k, ok := recountv1.EdgeKind_value["EDGE_KIND_"+strings.ToUpper(name)]
	if !ok || k == 0 || name != strings.ToLower(name) {
		var all []string
		for i := 1; i < len(recountv1.EdgeKind_name); i++ {
			all = append(all, edgeName(uint8(i)))
		}
		return 0, &query.RequestError{Field: "edge", Value: fmt.Sprintf("%q", name), Reason: "want one of " + strings.Join(all, ", ")}
	}
	return recountv1.EdgeKind(k), nil
}

// Prove proves an edge, or its absence.
func Prove(ctx context.Context, s Sources, r ProveRequest) (ProveResponse, error) {
	var resp ProveResponse
	kind, _ := parseEdge(cmp.Or(r.Edge, "calls"))
	a, err := s.open(ctx, r)
	if err != nil {
		return resp, err
	}
	defer a.Close()
	snap, g, err := a.snapshotGraph(r.Scope)
	if err != nil {
		return resp, err
	}
	w := &world{graphs: []*Graph{g}}
	from, err := a.declared(w, r.From)
	if err != nil {
		return resp, err
	}
	p := EdgeProof{
		Version: proofVersion, Snapshot: snap.Hash(), Repository: snap.Repository, Commit: snap.Commit,
		Parents: append([]string{}, snap.Parents...), Maps: rootsOf(snap.Maps), From: nodeName(g.keys[from.n]), Edge: edgeName(uint8(kind)), Absent: r.Absent,
	}
	if err := a.proveTo(&p, w, from.n, kind, r.To); err != nil {
		return resp, err
	}
	which, key, err := p.key()
	if err != nil {
		return resp, err
	}
	claim, proof, err := snap.Prove(which, key)
	if err != nil {
		return resp, err
	}
	resp.Revision, resp.Claim = revisionAt(snap), p.Claim()
	if claim.Absent != r.Absent {
		if claim.Absent {
			return resp, &query.NotFoundError{Ref: resp.Claim, Hint: "the snapshot has no such edge; absent (--absent) proves that"}
		}
		return resp, &query.NotFoundError{Ref: resp.Claim, Hint: "the snapshot has that edge; without absent (--absent) it is proved"}
	}
	p.Value = claim.Value
	if p.Path, err = encodePath(proof); err != nil {
		return resp, err
	}
	if p.Absent {
		if p.Ends, err = g.proveEnds(snap, p); err != nil {
			return resp, err
		}
	}
	p.Digest = p.digest(which, key)
	resp.Evidence = p
	a.Step(query.Step{Operator: "prove", Inputs: map[string]string{"map": string(which), "claim": resp.Claim}, Counts: map[string]int64{"entries": int64(proof.Count)}})
	a.RecordTime("prove")
	resp.Basis = a.basis(false, "")
	return resp, nil
}

// declared returns the one declaration that a name means: an edge begins and ends at one of several
// overloads.
func (a *session) declared(w *world, name string) (ref, error) {
	all, err := a.named(w, name)
	if err != nil {
		return ref{}, err
	}
	if len(all) == 1 {
		return all[0], nil
	}
	e := &AmbiguousNameError{Ref: name, What: fmt.Sprintf("symbol %q", name)}
	for _, r := range all {
		s := w.symbol(r)
		e.add(s.Place(), s)
	}
	return ref{}, e
}

// proveTo determines the edge's target: an external symbol if the node leads to one with the name,
// else a symbol of the repository, else an external symbol to which any edge leads.
func (a *session) proveTo(p *EdgeProof, w *world, from int32, kind recountv1.EdgeKind, name string) error {
	g := w.graphs[0]
	if s, ok := g.leadsOutside(from, kind, name); ok {
		p.Outside = &OutsideName{s.language, s.pkg, s.name}
		return nil
	}
	to, err := a.declared(w, name)
	if err == nil {
		n := nodeName(g.keys[to.n])
		p.To = &n
		return nil
	}
	var unknown *query.NotFoundError
	if !errors.As(err, &unknown) {
		return err
	}
	var found []symbol
	for _, s := range g.symbols {
		if endsAtName(s.pkg+"."+s.name, name) {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 0:
		return err
	case 1:
		p.Outside = &OutsideName{found[0].language, found[0].pkg, found[0].name}
		return nil
	}
	return &query.RequestError{Field: "to", Value: fmt.Sprintf("%q", name), Reason: fmt.Sprintf("%d symbols outside the repository have that name, such as %s and %s: give more of the name", len(found), OutsideName{"", found[0].pkg, found[0].name}.plain(), OutsideName{"", found[1].pkg, found[1].name}.plain())}
}

// leadsOutside returns the external symbol to which a node leads, by the end of its name.
func (g *Graph) leadsOutside(n int32, kind recountv1.EdgeKind, name string) (symbol, bool) {
	for _, e := range g.outside[g.outStart[n]:g.outStart[n+1]] {
		s := g.symbols[e.to]
		if recountv1.EdgeKind(e.kind) == kind && endsAtName(s.pkg+"."+s.name, name) {
			return s, true
		}
	}
	return symbol{}, false
}

// proveEnds proves that the snapshot has both ends of an edge.
func (g *Graph) proveEnds(snap *snapshots.Snapshot, p EdgeProof) (*ProvenEnds, error) {
	var ends ProvenEnds
	if p.Outside != nil {
		s := symbol{p.Outside.Language, p.Outside.Package, p.Outside.Name}
		i := slices.Index(g.symbols, s)
		if i < 0 || g.userStart[i] == g.userStart[i+1] {
			return nil, fmt.Errorf("no edge leads to %s", p.Outside)
		}
		e := g.outside[g.users[g.userStart[i]]]
		by := nodeName(g.keys[e.from])
		ends.To = ProvenEnd{By: &by, Edge: edgeName(e.kind)}
	}
	for _, end := range []struct {
		of   *ProvenEnd
		node *NodeName
	}{{&ends.From, &p.From}, {&ends.To, p.To}} {
		which, key, err := end.of.key(end.node, p.Outside)
		if err != nil {
			return nil, err
		}
		claim, proof, err := snap.Prove(which, key)
		switch {
		case err != nil:
			return nil, err
		case claim.Absent:
			return nil, fmt.Errorf("%s: the snapshot has no such entry", p.Claim())
		}
		end.of.Value = claim.Value
		if end.of.Path, err = encodePath(proof); err != nil {
			return nil, err
		}
	}
	return &ends, nil
}

// encodePath returns the canonical form of a path in a file.
func encodePath(p *prolly.Proof) (json.RawMessage, error) {
	b, err := p.MarshalBinary()
	if err != nil {
		return nil, err
	}
	var same prolly.Proof // decoding makes every list non-nil
	if err := same.UnmarshalBinary(b); err != nil {
		return nil, err
	}
	return json.Marshal(&same)
}

func nodeName(k schemas.NodeKey) NodeName {
	return NodeName{k.Path(), k.Chain(), kindName(k.Kind()), k.Variant()}
}

// hasSeparator reports whether a text has a byte that separates parts of keys.
func hasSeparator(s string) bool {
	return strings.IndexByte(s, 0) >= 0 || strings.IndexByte(s, 0xff) >= 0
}

// key returns the node's key. Names with separators are rejected, as they would be other names in
// the key.
func (n NodeName) key() (schemas.NodeKey, error) {
	kind, ok := recountv1.SymbolKind_value["SYMBOL_KIND_"+strings.ToUpper(n.Kind)]
	if !ok || n.Kind != strings.ToLower(n.Kind) || hasSeparator(n.File+n.Name+n.Variant) {
		return "", fmt.Errorf("%+v is not the name of a node", n)
	}
	return schemas.NewNodeKey(n.File, "", n.Name, recountv1.SymbolKind(kind), n.Variant), nil
}

// String returns a name of the node that is unique in the snapshot.
func (n NodeName) String() string {
	s := quoteName(n.File)
	if n.Name != "" || n.Variant != "" {
		s += ":" + quoteName(n.Name)
	}
	if n.Variant != "" {
		s += "~" + quoteName(n.Variant)
	}
	return s + " (" + n.Kind + ")"
}

// String returns the name of the symbol with its language.
func (o OutsideName) String() string {
	return o.plain() + " (" + quoteName(o.Language) + ", elsewhere)"
}

func (o OutsideName) plain() string { return quoteName(o.Package) + "." + quoteName(o.Name) }

// quoteName returns a part of a name as a claim shows it: in quotes if it contains spaces, quotes,
// separators or characters that do not print.
func quoteName(s string) string {
	odd := func(r rune) bool {
		return r == ' ' || r == '"' || r == ':' || r == '~' || r == utf8.RuneError || !strconv.IsPrint(r)
	}
	if s == "" || strings.ContainsFunc(s, odd) {
		return strconv.QuoteToGraphic(s)
	}
	return s
}

// Claim describes what is proved: everything that identifies the edge and its ends.
func (p EdgeProof) Claim() string {
	to := ""
	switch {
	case p.To != nil:
		to = p.To.String()
	case p.Outside != nil:
		to = p.Outside.String()
	}
	if p.Absent {
		return fmt.Sprintf("%s has no edge %s to %s", p.From, p.Edge, to)
	}
	return fmt.Sprintf("%s %s %s", p.From, p.Edge, to)
}

// key returns the map in which the edge is, or would be, and its key.
func (p EdgeProof) key() (snapshots.Which, []byte, error) {
	from, err := p.From.key()
	if err != nil {
		return "", nil, err
	}
	kind, err := parseEdge(p.Edge)
	switch {
	case err != nil:
		return "", nil, err
	case (p.To == nil) == (p.Outside == nil):
		return "", nil, errors.New("want either to or outside")
	case p.Outside != nil:
		key, err := p.Outside.key(from, kind)
		return snapshots.ExternalsMap, key, err
	}
	to, err := p.To.key()
	return snapshots.OutMap, snapshots.EdgeKey(from, kind, to), err
}

// key returns the key of an edge to the symbol in the map externals.
func (o OutsideName) key(from schemas.NodeKey, kind recountv1.EdgeKind) ([]byte, error) {
	if hasSeparator(o.Language + o.Package + o.Name) {
		return nil, fmt.Errorf("%+v is not the name of a symbol outside the repository", o)
	}
	return snapshots.ExternalKey(from, kind, o.Language, o.Package, o.Name), nil
}

// key returns the map and the key of the entry that shows the end: a node, or an edge to an
// external symbol.
func (e ProvenEnd) key(node *NodeName, outside *OutsideName) (snapshots.Which, []byte, error) {
	if node != nil {
		if e.By != nil || e.Edge != "" {
			return "", nil, errors.New("a node is proved by its own entry: want neither by nor edge")
		}
		key, err := node.key()
		return snapshots.NodesMap, []byte(key), err
	}
	if e.By == nil || outside == nil {
		return "", nil, errors.New("a symbol outside the repository is proved by an edge: want by and edge")
	}
	by, err := e.By.key()
	if err != nil {
		return "", nil, err
	}
	kind, err := parseEdge(e.Edge)
	if err != nil {
		return "", nil, err
	}
	key, err := outside.key(by, kind)
	return snapshots.ExternalsMap, key, err
}

// digest returns the hash of the claim. A proof of absence is valid for every key between two
// entries; the digest determines which one was requested.
func (p EdgeProof) digest(which snapshots.Which, key []byte) schemas.Hash {
	absent := int64(0)
	if p.Absent {
		absent = 1
	}
	c := schemas.NewCanon("recount/claim/2").Bytes(p.Snapshot[:]).String(p.Claim()).String(string(which)).Bytes(key).Bytes(p.Value).Int(absent)
	if p.Ends != nil {
		c = c.Bytes(p.Ends.From.Value).Bytes(p.Ends.To.Value)
	}
	return c.Sum()
}

func rootsOf(m *recountv1.CodeMaps) map[string]string {
	roots := map[string]string{}
	for which, b := range mapFields(m) {
		roots[string(which)] = prolly.Hash(*b).String()
	}
	return roots
}

func mapFields(m *recountv1.CodeMaps) map[snapshots.Which]*[]byte {
	return map[snapshots.Which]*[]byte{
		snapshots.FilesMap: &m.Files, snapshots.NodesMap: &m.Nodes, snapshots.OutMap: &m.Out, snapshots.InMap: &m.In,
		snapshots.ExternalsMap: &m.Externals, snapshots.UsersMap: &m.Users, snapshots.UnresolvedMap: &m.Unresolved, snapshots.LinesMap: &m.Lines,
	}
}
