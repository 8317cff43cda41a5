package code

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/languages"
	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/query"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// MaxDepth is the maximum depth of a walk over calls.
const MaxDepth = 64

// CallsRequest asks for the callers of a symbol, or for what it calls.
type CallsRequest struct {
	Scope
	Symbol        string  `json:"symbol" minLength:"1" maxLength:"4096" example:"Client.Produce" doc:"The symbol: Client.Produce, kgo.Client.Produce or pkg/kgo/client.go:123. A type includes what it declares."`
	Depth         int     `json:"depth,omitempty" minimum:"1" maximum:"64" default:"1" example:"3" doc:"Maximum number of calls from the symbol."`
	MinConfidence float64 `json:"min_confidence,omitempty" minimum:"0" maximum:"1" example:"0.8" doc:"Follow only edges with at least this confidence."`
	Limit         int     `json:"limit,omitempty" minimum:"1" maximum:"10000" default:"50" example:"50" doc:"Maximum number of symbols."`
	// Runtime applies to callers only.
	Runtime *RuntimeWindow `json:"runtime,omitempty" doc:"For callers only: also list services that called the symbol, or its callers within depth, according to spans."`
}

// CallsResponse is the answer of callers and callees.
type CallsResponse struct {
	query.Basis
	query.Announced
	Revision  Revision  `json:"revision" doc:"The revision that was queried."`
	Symbol    Symbol    `json:"symbol" doc:"The symbol that the name refers to."`
	Calls     []Call    `json:"calls" nullable:"false" doc:"The calls, by distance, then by confidence (highest first), then by place."`
	Outside   []Foreign `json:"outside,omitempty" doc:"For callees: called symbols that no imported repository declares."`
	Total     int       `json:"total" example:"12" doc:"Total number of symbols."`
	Truncated int       `json:"truncated" example:"0" doc:"The number of them left out of the list."`
	// Runtime is separate, since calls seen at run time are not edges of the code.
	Runtime *RuntimeUse `json:"runtime,omitempty" doc:"Observed callers, if runtime was set."`
}

// Subjects returns the symbol and the symbols that call it or that it calls.
func (r *CallsResponse) Subjects() []query.Subject {
	all := []query.Subject{r.Symbol.subject()}
	for _, c := range r.Calls {
		all = append(all, c.subject())
	}
	return all
}

// Call is a symbol that a walk over calls reached.
type Call struct {
	Symbol
	Depth      int     `json:"depth" example:"1" doc:"Distance in calls."`
	Via        string  `json:"via,omitempty" example:"kgo.Client.flush" doc:"The preceding symbol on the path."`
	Edge       string  `json:"edge" example:"calls" doc:"The kind of the last edge."`
	Provenance string  `json:"provenance" example:"types_resolved" doc:"How the last edge was found."`
	Confidence float64 `json:"confidence" example:"0.98" doc:"The lowest confidence on the best of the shortest paths."`
	Site       string  `json:"site,omitempty" example:"pkg/kgo/sink.go:88" doc:"The first place in the code of the last edge."`
	// Sites and Origin are read for edges one call away.
	Sites     []string `json:"sites,omitempty" example:"[\"pkg/kgo/sink.go:88:4\"]" doc:"All places of the edge, with line (from 1) and column (from 0, in bytes), at most 16; only at depth 1."`
	SiteCount int      `json:"site_count,omitempty" example:"3" doc:"The number of places, also of those left out of sites."`
	Origin    *Origin  `json:"origin,omitempty" doc:"What the edge was made of; only at depth 1."`
}

// Origin names what an edge was made of.
type Origin struct {
	Commit   string `json:"commit" example:"9fceb02d0ae598e95dc970b74767f19372d61af8" doc:"The commit whose graph has the edge."`
	File     string `json:"file" example:"257cc5642cb1a054f08cc83f2d943e56fd3ebe99" doc:"git's object id of the content of the file with the sites."`
	Resolver string `json:"resolver" example:"python/2" doc:"The resolver that made the edge, with its version."`
}

// Foreign is a symbol of no known repository.
type Foreign struct {
	Language string  `json:"language" example:"go" doc:"The language."`
	Package  string  `json:"package" example:"net/http" doc:"The package."`
	Name     string  `json:"name" example:"Client.Do" doc:"The name."`
	By       string  `json:"by" example:"kgo.Client.flush" doc:"The symbol that uses it."`
	Edge     string  `json:"edge" example:"calls" doc:"The kind of the edge."`
	Site     string  `json:"site,omitempty" example:"pkg/kgo/sink.go:88" doc:"The place in the code."`
	Conf     float64 `json:"confidence" example:"0.98" doc:"Confidence of the edge, 0 to 1."`
}

// Callers returns the callers of a symbol.
func Callers(ctx context.Context, s Sources, r CallsRequest) (CallsResponse, error) {
	return calls(ctx, s, r, "callers", toCallers)
}

// Callees returns what a symbol calls.
func Callees(ctx context.Context, s Sources, r CallsRequest) (CallsResponse, error) {
	return calls(ctx, s, r, "callees", toCallees)
}

func (r CallsRequest) check() error {
	if r.Depth < 0 || r.Depth > MaxDepth {
		return &query.RequestError{Field: "depth", Value: r.Depth, Reason: fmt.Sprintf("want 1 to %d", MaxDepth)}
	}
	return cmp.Or(r.Scope.check(), r.Runtime.check(), checkSubject("symbol", r.Symbol), checkConfidence(r.MinConfidence), checkLimit(r.Limit))
}

func calls(ctx context.Context, s Sources, r CallsRequest, operator string, by rules) (CallsResponse, error) {
	var resp CallsResponse
	r.Depth, r.Limit = cmp.Or(r.Depth, 1), cmp.Or(r.Limit, DefaultLimit)
	a, err := s.open(ctx, r)
	if err != nil {
		return resp, err
	}
	defer a.Close()
	snap, w, err := a.world(r.Scope, r.Symbol)
	if err != nil {
		return resp, err
	}
	roots, err := a.named(w, r.Symbol)
	if err != nil {
		return resp, err
	}
	if r.Runtime != nil && by.along.has(uint8(eCalls)) {
		return resp, &query.RequestError{Field: "runtime", Value: "{…}", Reason: "only for callers"}
	}
	root := roots[0]
	by.min = permille(r.MinConfidence)
	seeds := w.seeds(roots)
	all := w.levels(seeds, &by, r.Depth)
	found := slices.Clone(all)
	found = slices.DeleteFunc(found, func(x reached) bool { return x.depth == 0 })
	slices.SortStableFunc(found, w.order)
	a.Step(query.Step{
		Operator: operator,
		Inputs:   map[string]string{"from": w.exact(root), "depth": strconv.Itoa(r.Depth), "min_confidence": fmt.Sprint(r.MinConfidence)},
		Counts:   map[string]int64{"seeds": int64(len(seeds)), "found": int64(len(found))},
	})
	a.RecordTime(operator)
	resp.Revision, resp.Symbol, resp.Calls, resp.Total = revisionAt(snap), w.symbol(root), []Call{}, len(found)
	resp.Truncated = max(0, len(found)-r.Limit)
	for _, x := range found[:min(len(found), r.Limit)] {
		resp.Calls = append(resp.Calls, w.call(all, x))
	}
	if err := w.addSites(snap, resp.Calls, found); err != nil {
		return resp, err
	}
	if by.along.has(uint8(eCalls)) {
		resp.Outside = w.foreign(all, r.Depth, &by, r.Limit)
	}
	if resp.Runtime, err = a.running(r.Runtime, w, all, r.Limit); err != nil {
		return resp, err
	}
	hint := w.leftOut()
	if len(found)+len(resp.Outside) == 0 {
		unread, err := a.unreadHint(w, root)
		if err != nil {
			return resp, err
		}
		none := "none is known; unresolved references are not edges"
		if r.MinConfidence > 0 {
			none = "none is known with that confidence; unresolved references are not edges"
		}
		hint = cmp.Or(unread, w.unresolvedHint(root), none)
	}
	empty := len(found)+len(resp.Outside) == 0 && (resp.Runtime == nil || resp.Runtime.Total == 0)
	resp.Basis = a.basis(empty, hint, append(confidenceFilter(r.MinConfidence), runtimeFilters(r.Runtime)...)...)
	return resp, nil
}

// leftOut reports the repositories that exceed the limit of a world, or returns "".
func (w *world) leftOut() string {
	if w.left == 0 {
		return ""
	}
	return fmt.Sprintf("%d more repositories were not searched: an answer covers at most %d", w.left, maxRepositories)
}

func confidenceFilter(c float64) []query.AppliedFilter {
	if c == 0 {
		return nil
	}
	return []query.AppliedFilter{{Field: "min_confidence", Op: "ge", Value: strconv.FormatFloat(c, 'g', -1, 64)}}
}

func permille(c float64) uint16 { return uint16(c*1000 + 0.5) }

func confidence(c uint16) float64 { return float64(c) / 1000 }

// order compares the results of a walk for an answer: the nearest first, then the highest
// confidence, then by place.
func (w *world) order(a, b reached) int {
	return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(b.confidence, a.confidence), cmp.Compare(a.g, b.g), cmp.Compare(a.n, b.n))
}

func (w *world) call(all []reached, x reached) Call {
	c := Call{
		Symbol: w.symbol(x.ref), Depth: int(x.depth), Edge: edgeName(x.by.kind), Provenance: provenanceName(x.by.provenance),
		Confidence: confidence(x.confidence), Site: w.site(x.by),
	}
	if x.via >= 0 && x.depth > 1 {
		before := all[x.via]
		c.Via = w.graphs[before.g].display(before.n)
	}
	return c
}

// site returns FILE:LINE of an edge, or only the file if there is no line.
func (w *world) site(l link) string {
	path := w.graphs[l.site.g].keys[l.site.n].Path()
	if l.line == 0 {
		return path
	}
	return path + ":" + strconv.Itoa(int(l.line))
}

// foreign returns the calls from the reached symbols that leave all known repositories, up to the
// walk's depth.
func (w *world) foreign(all []reached, depth int, by *rules, limit int) []Foreign {
	var out []Foreign
	for _, x := range all {
		g := w.graphs[x.g]
		if int(x.depth) >= depth {
			continue
		}
		for i := g.outStart[x.n]; i < g.outStart[x.n+1]; i++ {
			e := &g.outside[i]
			if s := g.symbols[e.to]; !by.along.has(e.kind) || e.confidence < by.min || w.knows(x.g, s) {
				continue
			}
			if len(out) == limit {
				return out
			}
			s := g.symbols[e.to]
			l := link{site: x.ref, line: e.line}
			out = append(out, Foreign{s.language, s.pkg, s.name, g.display(x.n), edgeName(e.kind), w.site(l), confidence(e.confidence)})
		}
	}
	return out
}

// knows reports whether a repository declares a symbol that the repository `from` refers to. `from`
// itself counts only for names that languages share.
func (w *world) knows(from int32, s symbol) bool {
	for o, g := range w.graphs {
		if (int32(o) != from || joined(s)) && len(g.answers(s)) > 0 {
			return true
		}
	}
	return false
}

func unmarshal(b []byte, m proto.Message) error {
	if err := proto.Unmarshal(b, m); err != nil {
		return fmt.Errorf("stored %s: %w", m.ProtoReflect().Descriptor().Name(), err)
	}
	return nil
}

// addSites adds to calls one away all sites of their edges, and what the edges were made of. found
// has the results of the walk, in the order of the calls.
func (w *world) addSites(snap *snapshots.Snapshot, calls []Call, found []reached) error {
	open := map[int32]*snapshots.Snapshot{}
	for i := range calls {
		x := found[i]
		if x.depth != 1 {
			continue
		}
		g := w.graphs[x.by.site.g]
		s := open[x.by.site.g]
		if s == nil {
			var err error
			if s, err = snap.Beside(g.of); err != nil {
				return err
			}
			open[x.by.site.g] = s
		}
		if err := calls[i].addSites(s, g, x.by); err != nil {
			return err
		}
	}
	return nil
}

func (c *Call) addSites(s *snapshots.Snapshot, g *Graph, l link) error {
	from := g.keys[l.site.n]
	which, key := snapshots.OutMap, []byte(nil)
	if l.outside {
		to := g.symbols[l.to]
		which, key = snapshots.ExternalsMap, snapshots.OutsideKey(from, recountv1.EdgeKind(l.kind), to.language, to.pkg, to.name)
	} else {
		key = snapshots.EdgeKey(from, recountv1.EdgeKind(l.kind), g.keys[l.to])
	}
	edge := &recountv1.CodeEdge{}
	if found, err := s.Read(which, key, edge); err != nil || !found {
		return err // an edge that was joined from others is in no map
	}
	anchor := g.nodes[l.site.n].line
	for _, at := range edge.Sites {
		c.Sites = append(c.Sites, fmt.Sprintf("%s:%d:%d", from.Path(), at.Line+anchor, at.Column))
	}
	c.SiteCount = int(edge.SiteCount)
	file := &recountv1.CodeFile{}
	if _, err := s.Read(snapshots.FilesMap, []byte(from.Path()), file); err != nil {
		return err
	}
	c.Origin = &Origin{Commit: g.of.Commit, File: hex.EncodeToString(file.Blob), Resolver: resolvers()[file.Language]}
	return nil
}

// resolvers returns the name of the resolver of each language, with its version. A state that
// other resolvers made is not read: it is rebuilt.
var resolvers = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	for _, r := range languages.Resolvers() {
		for _, l := range r.Languages() {
			names[l] = r.Name()
		}
	}
	return names
})
