package code

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	snapshots "github.com/recountdb/recount/projections/graph/code"
	"github.com/recountdb/recount/projections/graph/prolly"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// ProveRequest asks for a proof that a snapshot has an edge, or that it has not.
type ProveRequest struct {
	Scope
	From   string `json:"from" minLength:"1" maxLength:"4096" example:"main.run" doc:"Where the edge begins."`
	To     string `json:"to" minLength:"1" maxLength:"4096" example:"kgo.Client.Produce" doc:"Where it ends: a symbol, or one of elsewhere as callees lists it (net/http.Client.Do)."`
	Edge   string `json:"edge,omitempty" default:"calls" example:"calls" doc:"Its kind: calls, may_call, references, implements, …"`
	Absent bool   `json:"absent,omitempty" doc:"Prove that there is no such edge."`
}

// ProveResponse is the answer of prove.
type ProveResponse struct {
	query.Basis
	Revision Revision  `json:"revision" doc:"What was asked."`
	Claim    string    `json:"claim" example:"main.go:run calls pkg/kgo/client.go:Client.Produce" doc:"What is proved, in words."`
	Evidence EdgeProof `json:"evidence" doc:"The proof: verify-proof checks it, with nothing but the snapshot's hash."`
}

// EdgeProof proves a claim about one edge of a snapshot. Nothing in it is beside
// the point: VerifyProof refuses it if any field is other than it was.
//
// The chain is: the claim is the leaf that Path shows in the map (package prolly);
// the roots of the maps, the repository, the commit and its parents have the
// snapshot's hash.
type EdgeProof struct {
	Version    int               `json:"recount_proof" example:"2" doc:"The version of this form."`
	Snapshot   schemas.Hash      `json:"snapshot" doc:"The hash that stands for the snapshot."`
	Repository string            `json:"repository" example:"github.com/acme/shop" doc:"The repository."`
	Commit     string            `json:"commit" doc:"The commit."`
	Parents    []string          `json:"parents" nullable:"false" doc:"The commit's parents."`
	Maps       map[string]string `json:"maps" doc:"The roots of the snapshot's eight maps."`
	From       NodeName          `json:"from" doc:"Where the edge begins."`
	Edge       string            `json:"edge" example:"calls" doc:"Its kind."`
	To         *NodeName         `json:"to,omitempty" doc:"Where it ends, in the repository."`
	Outside    *OutsideName      `json:"outside,omitempty" doc:"Where it ends, elsewhere."`
	Absent     bool              `json:"absent,omitempty" doc:"There is no such edge."`
	Value      []byte            `json:"value,omitempty" doc:"What the snapshot stores of the edge: a CodeEdge in protobuf, base64."`
	Digest     schemas.Hash      `json:"claim" doc:"The hash of what is claimed: the snapshot, the map, the key, the value, and whether it is absent."`
	Path       json.RawMessage   `json:"path" doc:"The proof of the entry in the map, as projections/graph/prolly has it."`
}

// NodeName is a node's key, in parts.
type NodeName struct {
	File    string `json:"file" example:"pkg/kgo/client.go" doc:"The file."`
	Name    string `json:"name" example:"Client.Produce" doc:"The name with its owners'."`
	Kind    string `json:"kind" example:"method" doc:"What it is."`
	Variant string `json:"variant,omitempty" doc:"What tells it apart from others of its name."`
}

// OutsideName names what is elsewhere.
type OutsideName struct {
	Language string `json:"language" example:"go" doc:"The language."`
	Package  string `json:"package" example:"net/http" doc:"The package."`
	Name     string `json:"name" example:"Client.Do" doc:"The name."`
}

const (
	// proofVersion is 2 since a snapshot has a map of lines.
	proofVersion = 2
	// MaxProof bounds what VerifyProof reads.
	MaxProof = 1 << 20
)

// ErrNotProved is in the chain of every error of VerifyProof.
var ErrNotProved = errors.New("not proved")

func (r ProveRequest) check() error {
	_, err := parseEdge(cmp.Or(r.Edge, "calls"))
	return cmp.Or(r.Scope.check(), checkName("from", r.From), checkName("to", r.To), err)
}

func parseEdge(name string) (recountv1.EdgeKind, error) {
	k, ok := recountv1.EdgeKind_value["EDGE_KIND_"+strings.ToUpper(name)]
	if !ok || k == 0 || name != strings.ToLower(name) {
		var all []string
		for i := 1; i < len(recountv1.EdgeKind_name); i++ {
			all = append(all, edgeName(uint8(i)))
		}
		return 0, &query.RequestError{Field: "edge", Value: fmt.Sprintf("%q", name), Reason: "want of " + strings.Join(all, ", ")}
	}
	return recountv1.EdgeKind(k), nil
}

// Prove proves an edge, or its absence.
func Prove(ctx context.Context, s Sources, r ProveRequest) (ProveResponse, error) {
	var resp ProveResponse
	if err := r.check(); err != nil {
		return resp, err
	}
	kind, _ := parseEdge(cmp.Or(r.Edge, "calls"))
	a, err := s.ask(ctx, r.Scope)
	if err != nil {
		return resp, err
	}
	defer a.close()
	snap, err := a.snapshot(r.Repo, r.At)
	if err != nil {
		return resp, err
	}
	g, err := a.graph(snap)
	if err != nil {
		return resp, err
	}
	w := &world{graphs: []*Graph{g}}
	from, err := a.named(w, r.From)
	if err != nil {
		return resp, err
	}
	p := EdgeProof{
		Version: proofVersion, Snapshot: snap.Hash(), Repository: snap.Repository, Commit: snap.Commit,
		Parents: append([]string{}, snap.Parents...), Maps: rootsOf(snap.Maps), From: nodeName(g.keys[from.n]), Edge: edgeName(uint8(kind)), Absent: r.Absent,
	}
	if sym, ok := g.leadsOutside(from.n, kind, r.To); ok {
		p.Outside = &OutsideName{sym.language, sym.pkg, sym.name}
	} else {
		to, err := a.named(w, r.To)
		if err != nil {
			return resp, err
		}
		name := nodeName(g.keys[to.n])
		p.To = &name
	}
	which, key, err := p.key()
	if err != nil {
		return resp, err
	}
	claim, proof, err := snap.Prove(which, key)
	if err != nil {
		return resp, err
	}
	resp.Revision, resp.Claim = at(snap), p.Claim()
	if claim.Absent != r.Absent {
		if claim.Absent {
			return resp, &query.NotFoundError{Ref: resp.Claim, Hint: "the snapshot has no such edge; absent proves that"}
		}
		return resp, &query.NotFoundError{Ref: resp.Claim, Hint: "the snapshot has that edge; without absent it is proved"}
	}
	p.Value = claim.Value
	p.Digest = p.digest(which, key)
	if p.Path, err = json.Marshal(proof); err != nil {
		return resp, err
	}
	resp.Evidence = p
	a.step(query.Step{Operator: "prove", Inputs: map[string]string{"map": string(which), "claim": resp.Claim}, Counts: map[string]int64{"entries": int64(proof.Count)}})
	a.lap("prove")
	resp.Basis = a.basis(false, "")
	return resp, nil
}

// leadsOutside finds what a node leads to elsewhere by the end of its name.
func (g *Graph) leadsOutside(n int32, kind recountv1.EdgeKind, name string) (symbol, bool) {
	for _, e := range g.outside[g.outStart[n]:g.outStart[n+1]] {
		s := g.symbols[e.to]
		if recountv1.EdgeKind(e.kind) == kind && endsAtName(s.pkg+"."+s.name, name) {
			return s, true
		}
	}
	return symbol{}, false
}

func nodeName(k schemas.NodeKey) NodeName {
	return NodeName{k.Path(), k.Chain(), kindName(k.Kind()), k.Variant()}
}

// hasSeparator reports whether a text has one of the bytes that keys are cut at.
func hasSeparator(s string) bool {
	return strings.IndexByte(s, 0) >= 0 || strings.IndexByte(s, 0xff) >= 0
}

// key is the node's key. Names with a zero byte would be other names.
func (n NodeName) key() (schemas.NodeKey, error) {
	kind, ok := recountv1.SymbolKind_value["SYMBOL_KIND_"+strings.ToUpper(n.Kind)]
	if !ok || n.Kind != strings.ToLower(n.Kind) || hasSeparator(n.File+n.Name+n.Variant) {
		return "", fmt.Errorf("%+v is no name of a node", n)
	}
	return schemas.NewNodeKey(n.File, "", n.Name, recountv1.SymbolKind(kind), n.Variant), nil
}

func (n NodeName) String() string {
	if n.Name == "" {
		return n.File
	}
	return n.File + ":" + n.Name + n.Variant
}

func (o OutsideName) String() string { return o.Package + "." + o.Name }

// Claim is what is proved, in words.
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

// key is where the edge stands, or would: in which map, under which key.
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
		return "", nil, errors.New("want to or outside, and one of them")
	case p.Outside != nil:
		if strings.ContainsAny(p.Outside.Language+p.Outside.Package+p.Outside.Name, "\x00") {
			return "", nil, errors.New("outside has a zero byte")
		}
		return snapshots.ExternalsMap, snapshots.ExternalKey(from, kind, p.Outside.Language, p.Outside.Package, p.Outside.Name), nil
	}
	to, err := p.To.key()
	return snapshots.OutMap, snapshots.EdgeKey(from, kind, to), err
}

// digest is the hash of the claim. A proof of absence holds for all that would stand
// between two entries; which of them was asked for, the digest says.
func (p EdgeProof) digest(which snapshots.Which, key []byte) schemas.Hash {
	absent := int64(0)
	if p.Absent {
		absent = 1
	}
	return schemas.NewCanon("recount/claim/1").Bytes(p.Snapshot[:]).String(string(which)).Bytes(key).Bytes(p.Value).Int(absent).Sum()
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

// Verified is what a proof shows.
type Verified struct {
	EdgeProof
	// Known is what the snapshot stores of the edge; nil where it is absent.
	Known *recountv1.CodeEdge
}

// VerifyProof checks a proof, as Prove made it and JSON carries it, and reads
// nothing else. It proves its claim of the snapshot it names; who wants it of a
// certain one gives that one's hash. Errors are ErrNotProved.
func VerifyProof(file []byte, snapshot *schemas.Hash) (Verified, error) {
	v, err := verifyProof(file, snapshot)
	if err != nil {
		return Verified{}, fmt.Errorf("%w: %w", ErrNotProved, err)
	}
	return v, nil
}

func verifyProof(file []byte, snapshot *schemas.Hash) (v Verified, err error) {
	if len(file) > MaxProof {
		return v, fmt.Errorf("%d bytes: a proof has at most %d", len(file), MaxProof)
	}
	p := &v.EdgeProof
	if err := strictJSON(file, p); err != nil {
		return v, fmt.Errorf("not a proof: %w", err)
	}
	if p.Version != proofVersion {
		return v, fmt.Errorf("a proof of form %d: this program knows form %d; prove it again, or verify it with the program that made it", p.Version, proofVersion)
	}
	maps := &recountv1.CodeMaps{}
	fields := mapFields(maps)
	if len(p.Maps) != len(fields) {
		return v, fmt.Errorf("%d maps, want %d", len(p.Maps), len(fields))
	}
	roots := map[snapshots.Which]prolly.Hash{}
	for which, field := range fields {
		var h prolly.Hash
		if err := h.UnmarshalText([]byte(p.Maps[string(which)])); err != nil {
			return v, fmt.Errorf("map %s: %w", which, err)
		}
		roots[which], *field = h, h[:]
	}
	hash, err := snapshots.HashOf(&recountv1.CodeSnapshot{Repository: p.Repository, Commit: p.Commit, Parents: p.Parents, Maps: maps})
	switch {
	case err != nil:
		return v, err
	case hash != p.Snapshot:
		return v, fmt.Errorf("repository, commit, parents and maps have the snapshot %s, not %s", hash, p.Snapshot)
	case snapshot != nil && hash != *snapshot:
		return v, fmt.Errorf("it is about snapshot %s, not %s", hash, snapshot)
	}
	which, key, err := p.key()
	if err != nil {
		return v, err
	}
	if digest := p.digest(which, key); digest != p.Digest {
		return v, fmt.Errorf("the claim has the hash %s, not %s", digest, p.Digest)
	}
	var path prolly.Proof
	if err := strictJSON(p.Path, &path); err != nil {
		return v, fmt.Errorf("path: %w", err)
	}
	if err := prolly.Verify(roots[which], prolly.Claim{Key: key, Value: p.Value, Absent: p.Absent}, &path); err != nil {
		return v, err
	}
	if !p.Absent {
		v.Known = &recountv1.CodeEdge{}
		return v, unmarshal(p.Value, v.Known)
	}
	return v, nil
}

// strictJSON reads one JSON value that has no field unknown, and nothing behind it.
func strictJSON(b []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something stands behind it")
	}
	return nil
}
