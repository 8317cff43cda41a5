package recall

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/recountdb/recount/projections/lexical"
	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// session is one question while it is answered.
type session struct {
	query.Session[query.Step]
	asked     Asked
	workspace string

	// at limits what is visible; now is the time from which ages count.
	at   objects.At
	now  int64
	asOf query.AsOf
	// dates gives dates instead of ages.
	dates bool

	audiences []schemas.AudienceID
	known     func(schemas.ObjectRef) bool

	view    *objects.View
	lexical *lexical.Index

	runs    map[string][]run // of sessions, by session
	without map[string]bool
}

// open opens the projections once at_least is visible. The moment must be normal. An error is a
// *query.NotVisibleError, that of ctx, or that of a projection.
func open(ctx context.Context, asked Asked, m query.Moment, workspace string, without []string, now time.Time) (*session, error) {
	base, err := query.Begin[query.Step](ctx, asked.Set, m.AtLeast, m.WaitMS)
	if err != nil {
		return nil, err
	}
	a := &session{Session: base, asked: asked, workspace: workspace, asOf: m.AsOf, runs: map[string][]run{}, without: map[string]bool{}}
	for _, id := range without {
		a.without[id] = true
	}
	if err := a.acquire(m.AsOf); err != nil {
		a.Close()
		return nil, err
	}
	if !now.IsZero() {
		a.now = now.UnixNano()
	} else if a.now = a.at.Time; a.now == 0 {
		a.now = a.newest()
	}
	a.Step(query.Step{Operator: "visible", Inputs: map[string]string{"below": a.Visible.String(), "workspace": workspace}})
	return a, nil
}

// acquire acquires the projections and determines what is visible in both.
func (a *session) acquire(as query.AsOf) (err error) {
	if a.view, a.lexical, a.at, err = evidence.Acquire(&a.Session, a.asked.Set, as); err != nil {
		return err
	}
	a.Visible = a.at.Below
	a.audiences = []schemas.AudienceID{}
	for _, who := range a.view.Audiences(a.asked.Principal, a.at.Below) {
		if a.workspace == "" || who.Workspace == "" || who.Workspace == a.workspace {
			a.audiences = append(a.audiences, who.ID())
		}
	}
	a.known = a.view.Filter(a.filter())
	return nil
}

// filter selects what is visible to the question.
func (a *session) filter() objects.Filter {
	return objects.Filter{At: a.at, Audiences: a.audiences, Workspace: a.workspace, Without: []recountv1.ObjectType{recountv1.ObjectType_OBJECT_TYPE_RECALL}}
}

// newest returns the time of the newest visible object, 0 if there is none.
func (a *session) newest() int64 {
	refs, err := a.view.Latest(a.Ctx, a.filter(), 1)
	if err != nil || len(refs) == 0 {
		return 0
	}
	nanos, _, _ := a.view.Ranking(refs[0])
	return nanos
}

// object reads an object that is visible; nil if there is none.
func (a *session) object(ref schemas.ObjectRef) (*objects.Stored, error) {
	if !a.known(ref) {
		return nil, nil
	}
	return a.view.Get(ref)
}

// maxRead is how many bytes of the end of a text are read.
const maxRead = 6 << 10

// ending returns the end of an object's text.
func (a *session) ending(o *objects.Stored) (string, error) {
	size := len(o.Text) + o.Rest
	text, err := a.view.Passage(o, size-maxRead, size)
	return strings.ToValidUTF8(text, ""), err
}

// search returns the objects that have most of a text's terms, best first, and the statistics of
// the terms. Only those that pass are hits.
func (a *session) search(text string, k int, pass func(schemas.ObjectRef) bool) ([]lexical.ObjectHit, lexical.ObjectStats, error) {
	hits, stats, err := a.lexical.SearchObjects(a.Ctx, lexical.ObjectQuery{
		Text: text, Audiences: a.audiences, Below: a.at.Below, K: k, Distinct: true, Filter: pass,
	})
	if err == nil {
		a.Step(query.Step{Operator: "search", Inputs: map[string]string{"terms": fmt.Sprint(len(stats.Terms))}, Counts: map[string]int64{"hits": int64(len(hits)), "parts": int64(stats.Parts)}})
		a.RecordTime("search")
	}
	return hits, stats, err
}
