package evidence

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/recountdb/recount/query"
)

// shortSnippet is what a passage is cut to where that is needed.
const shortSnippet = 80

// fit cuts an answer to the size that it may have: first what tells of events and
// versions far from the hits, then edges, then passages. What is cut is counted. Others'
// events make offsets longer and watermarks name more partitions; what is cut must not
// tell of that, so that these count as if they were of one length (offsetDigits,
// markBytes).
func (w *answer) fit(p *plan) error {
	if len(w.r.Include) > 0 || w.r.Mode == ModeSubgraph || w.r.Mode == ModeContext {
		for _, p := range w.parts {
			w.resp.Provenance = append(w.resp.Provenance, w.event(p))
		}
		return nil
	}
	hits := len(w.resp.Objects)
	budget := max(DefaultBytes, hits*DefaultBytes/DefaultLimit) - reserve
	resp := &w.resp
	objects := 0
	for i := range resp.Objects {
		n, err := size(&resp.Objects[i])
		if err != nil {
			return err
		}
		objects += n
	}
	rest, err := w.besides(p)
	if err != nil {
		return err
	}
	left := budget - rest - objects
	for i := range resp.Objects {
		if left >= edgeShare {
			break
		}
		o := &resp.Objects[len(resp.Objects)-1-i]
		if short := brief(o.Snippet, shortSnippet); len(short) < len(o.Snippet) {
			left += len(o.Snippet) - len(short)
			o.Snippet = short
		}
	}
	edges, err := fitting(resp.Edges, left*6/10, &left)
	if err != nil {
		return err
	}
	if n := len(resp.Edges) - edges; n > 0 {
		w.left().Edges += n
		resp.Edges = resp.Edges[:edges]
	}
	versions, err := fitting(resp.Versions, left/2, &left)
	if err != nil {
		return err
	}
	if n := len(resp.Versions) - versions; n > 0 {
		w.left().Versions += n
		resp.Versions = resp.Versions[:versions]
	}
	for i, p := range w.parts {
		e := w.event(p)
		n, err := size(&e)
		if err != nil {
			return err
		}
		if left -= n; left < 0 {
			w.left().Provenance += len(w.parts) - i
			break
		}
		resp.Provenance = append(resp.Provenance, e)
	}
	return nil
}

// reserve is what the answer has besides: names of fields, timing, and what a door adds.
// edgeShare is what edges and events have at least, passages cut short for it.
const (
	reserve   = 900
	edgeShare = 1200
)

// What counts as if it were of one length, in bytes: an offset in the log, and a
// watermark, which has room for five partitions of a topic. An answer whose watermarks
// name more is as much larger.
const (
	offsetDigits = 10
	markBytes    = 128
)

// besides is the size of what an answer says besides its lists.
func (w *answer) besides(p *plan) (int, error) {
	marks := 1 // the answer's own
	for _, kind := range p.kinds {
		if kind != KindObjects {
			marks++ // of its topics, in the answer's own
		}
	}
	filters, proof := slices.Clone(w.resp.AppliedFilters), slices.Clone(w.proof)
	for i, f := range filters {
		if f.Field == "as_of" && f.Op == "below" {
			marks++
			filters[i].Value = ""
		}
	}
	for i, s := range proof {
		if s.Operator == "visible" {
			marks++
			proof[i].Inputs = nil
		}
	}
	b, err := json.Marshal(struct {
		Filters []query.AppliedFilter
		Proof   []Step
		Hint    string
	}{filters, proof, w.resp.Hint})
	return len(b) + marks*markBytes, err
}

// shorter is how much shorter a place in the log is than it counts.
func shorter(position string) int {
	if position == "" {
		return 0
	}
	return max(0, offsetDigits-len(position[strings.LastIndexByte(position, '/')+1:]))
}

// located is what an answer has a list of; places are those that it names in the log.
type located[T any] interface {
	*T
	places() []string
}

func (o *Object) places() []string {
	all := []string{o.Position}
	if s := o.SupersededBy; s != nil {
		all = append(all, s.Evidence...)
	}
	for _, c := range o.Contradicted {
		all = append(all, c.Evidence...)
	}
	return all
}

func (e *Edge) places() []string    { return append([]string{e.FromVersion, e.ToVersion}, e.Evidence...) }
func (e *Event) places() []string   { return []string{e.Position} }
func (v *Version) places() []string { return []string{v.Position} }

// size is that of an element of a list as JSON, a comma included.
func size[T any, P located[T]](x P) (int, error) {
	b, err := json.Marshal(x)
	n := len(b) + 1
	for _, at := range x.places() {
		n += shorter(at)
	}
	return n, err
}

// fitting is how many of a list, from its first on, fit into a share; what they take is
// taken off what is left.
func fitting[T any, P located[T]](list []T, share int, left *int) (int, error) {
	for i := range list {
		n, err := size(P(&list[i]))
		if err != nil {
			return 0, err
		}
		if n > share {
			return i, nil
		}
		share -= n
		*left -= n
	}
	return len(list), nil
}
