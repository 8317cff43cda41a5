package evidence

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/lexical"
	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/projections/vector"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/runtime"
	"github.com/recountdb/recount/schemas"
)

// Sources are the data that questions for evidence are answered from.
type Sources struct {
	// Set has the projections objects, lexical and vector. Required.
	Set *projections.Set
	// Embedder embeds the question; it must be the one that embedded the objects. Nil disables the
	// path dense.
	Embedder commands.Embedder
	// Commands, Code and Runtime are the sources of things of other kinds; one is omitted if its
	// Set is nil.
	Commands commands.Sources
	Code     code.Sources
	Runtime  runtime.Sources
	// Since is when agents' events begin to be known, because retention removed those that came in
	// before; zero if it removed none.
	Since time.Time
	// Weights are the weights of the ranking; the zero Weights mean DefaultWeights.
	Weights Weights
	// Turns limits the number of queries that run concurrently, in order of arrival: on few cores
	// many concurrent queries slow each other down, some far more than others. Nil sets no limit.
	Turns *semaphore.Weighted
}

// session is the state of one query: the projections that it reads and what is visible in them.
type session struct {
	query.Session[Step]
	s Sources
	p schemas.Principal
	r Request
	w Weights
	// refs are the names in the request's text, once answer has read them.
	refs refs

	// at limits what is visible; moment is the time that counts as now, in nanoseconds since 1970.
	at     objects.At
	moment int64

	// audiences are those of the principal. known reports whether an object is visible, regardless
	// of the request's filters.
	audiences []schemas.Audience
	known     func(schemas.ObjectRef) bool

	// These are the live generations, which are held until Close.
	view    *objects.View
	lexical *lexical.Index
	vector  *vector.Projection

	*scratch
	// relations caches the audiences over which claims of a workspace are compared.
	relations map[[2]string][]schemas.AudienceID

	filters []query.AppliedFilter
}

// open opens the projections for a query once at_least is visible. The request must be normalised.
// An error is a *query.NotVisibleError, that of ctx, or that of one of the projections.
func (s Sources) open(ctx context.Context, p schemas.Principal, r Request) (*session, error) {
	base, err := query.Begin[Step](ctx, s.Set, r.AtLeast, r.WaitMS)
	if err != nil {
		return nil, err
	}
	a := &session{
		Session: base, s: s, p: p, r: r, w: s.Weights.orDefault(),
		scratch:   scratches.Get().(*scratch),
		relations: map[[2]string][]schemas.AudienceID{},
		filters:   []query.AppliedFilter{},
	}
	a.OnClose(a.give)
	if s.Turns != nil {
		if err := s.Turns.Acquire(ctx, 1); err != nil {
			a.Close()
			return nil, err
		}
		a.OnClose(func() { s.Turns.Release(1) })
		a.RecordTime("turn")
	}
	if err := a.acquire(); err != nil {
		a.Close()
		return nil, err
	}
	a.Step(Step{Operator: "visible", Inputs: map[string]string{"below": a.at.Below.String()}})
	return a, nil
}

// Acquire acquires objects and their texts until the question is closed, and returns what is visible
// in both.
func Acquire[S any](s *query.Session[S], set *projections.Set, as query.AsOf) (view *objects.View, text *lexical.Index, at objects.At, err error) {
	p, err := s.Acquire(set, objects.Name)
	if err != nil {
		return nil, nil, at, err
	}
	if view, err = p.(*objects.Objects).View(); err != nil {
		return nil, nil, at, fmt.Errorf("view of objects: %w", err)
	}
	s.OnClose(func() { _ = view.Close() })
	if p, err = s.Acquire(set, lexical.Name); err != nil {
		return nil, nil, at, err
	}
	at.Below = query.Below(view.Watermark().Min(p.Watermark()), as)
	if !as.Time.IsZero() {
		at.Time = schemas.UnixNano(as.Time)
	}
	return view, p.(*lexical.Index), at, nil
}

// acquire acquires the projections and determines what is visible in all of them.
func (a *session) acquire() (err error) {
	if a.view, a.lexical, a.at, err = Acquire(&a.Session, a.s.Set, a.r.AsOf); err != nil {
		return err
	}
	p, err := a.Session.Acquire(a.s.Set, vector.Name)
	if err != nil {
		return err
	}
	a.vector = p.(*vector.Projection)
	a.at.Below = a.at.Below.Min(p.Watermark())
	a.audiences = a.view.Audiences(a.p, a.at.Below)
	f := objects.Filter{At: a.at}
	if !a.p.Operator { // an operator sees all audiences
		f.Audiences = ids(a.audiences)
	}
	a.known = a.view.Filter(f)
	return nil
}

// ids returns the ids of audiences; never nil, which would mean all.
func ids(all []schemas.Audience) []schemas.AudienceID {
	out := make([]schemas.AudienceID, len(all))
	for i, who := range all {
		out[i] = who.ID()
	}
	return out
}

// bound returns the limits of visibility, with a maximum number of results; 0 is no limit.
func (a *session) bound(limit int) objects.Bound {
	return objects.Bound{At: a.at, Visible: a.known, Limit: limit}
}

// object reads a version of an object; it returns nil if none is visible.
func (a *session) object(ref schemas.ObjectRef) (*objects.Stored, error) {
	if o, read := a.read[ref]; read {
		return o, nil
	}
	var o *objects.Stored
	if a.known(ref) {
		var err error
		if o, err = a.view.Get(ref); err != nil {
			return nil, err
		}
	}
	a.read[ref] = o
	return o, nil
}

// keep caches objects that were read within the bound, so that each object has one *Stored.
func (a *session) keep(list []*objects.Stored) []*objects.Stored {
	for i, o := range list {
		if was := a.read[o.Ref]; was != nil {
			list[i] = was
		} else {
			a.read[o.Ref] = o
		}
	}
	return list
}
