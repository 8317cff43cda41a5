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
func (w *answer) fit(p *plan) {
	w.told = w.resp.Edges // as long as they get, for scratch.give
	if len(w.r.Include) > 0 || w.r.Mode == ModeSubgraph || w.r.Mode == ModeContext {
		for _, p := range w.parts {
			w.resp.Provenance = append(w.resp.Provenance, w.event(p))
		}
		return
	}
	hits := len(w.resp.Objects)
	budget := max(DefaultBytes, hits*DefaultBytes/DefaultLimit) - reserve
	resp := &w.resp
	objects := 0
	for i := range resp.Objects {
		objects += size(&resp.Objects[i])
	}
	left := budget - w.besides(p) - objects
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
	edges := fitting(resp.Edges, left*6/10, &left)
	if n := len(resp.Edges) - edges; n > 0 {
		w.left().Edges += n
		resp.Edges = resp.Edges[:edges]
	}
	versions := fitting(resp.Versions, left/2, &left)
	if n := len(resp.Versions) - versions; n > 0 {
		w.left().Versions += n
		resp.Versions = resp.Versions[:versions]
	}
	for i, p := range w.parts {
		e := w.event(p)
		if left -= size(&e); left < 0 {
			w.left().Provenance += len(w.parts) - i
			break
		}
		resp.Provenance = append(resp.Provenance, e)
	}
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
func (w *answer) besides(p *plan) int {
	marks := 1 // the answer's own
	for _, kind := range p.kinds {
		if kind != KindObjects {
			marks++ // of its topics, in the answer's own
		}
	}
	filters, proof := slices.Clone(w.resp.AppliedFilters), slices.Clone(w.Proof)
	for i := range filters {
		if f := &filters[i]; f.Field == "as_of" && f.Op == "below" {
			marks++
			f.Value = ""
		}
	}
	for i := range proof {
		if s := &proof[i]; s.Operator == "visible" {
			marks++
			s.Inputs = nil
		}
	}
	return encodedSize(struct {
		Filters []query.AppliedFilter
		Proof   []Step
		Hint    string
	}{filters, proof, w.resp.Hint}) + marks*markBytes
}

// encodedSize returns the size of a value as JSON, in bytes. A value that cannot be
// encoded is reported where the answer is sent.
func encodedSize(v any) int {
	var n counter
	_ = json.NewEncoder(&n).Encode(v)
	return int(n) - len("\n")
}

// counter counts the bytes written to it.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// shorter is how much shorter places in the log are than they count.
func shorter(positions ...string) (n int) {
	for _, at := range positions {
		if at != "" {
			n += max(0, offsetDigits-len(at[strings.LastIndexByte(at, '/')+1:]))
		}
	}
	return n
}

// located is an element of one of the answer's lists: shorter returns how many bytes the
// positions that it names are shorter than they count.
type located[T any] interface {
	*T
	shorter() int
}

func (o *Object) shorter() int {
	n := shorter(o.Position)
	if s := o.SupersededBy; s != nil {
		n += shorter(s.Evidence...)
	}
	for _, c := range o.Contradicted {
		n += shorter(c.Evidence...)
	}
	return n
}

func (x *Edge) shorter() int    { return shorter(x.FromVersion, x.ToVersion) + shorter(x.Evidence...) }
func (x *Event) shorter() int   { return shorter(x.Position) }
func (v *Version) shorter() int { return shorter(v.Position) }

// size returns the size of a list's element as JSON, a comma included.
func size[T any, P located[T]](x P) int { return encodedSize(x) + 1 + x.shorter() }

// fitting returns how many of a list, from its first on, fit into a share; their size is
// subtracted from left.
func fitting[T any, P located[T]](list []T, share int, left *int) int {
	for i := range list {
		n := size(P(&list[i]))
		if n > share {
			return i
		}
		share -= n
		*left -= n
	}
	return len(list)
}
