package feedback

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/feedback"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// HalfLife is the time in which a vote loses half its weight.
const HalfLife = 30 * 24 * time.Hour

// These bound the work of a question.
const (
	maxVotes    = 10_000 // of a subject
	maxPostings = 5_000  // of a word
	maxTasks    = 64     // like a given one
)

// Asked has the projections of a question, and the principal on whose behalf it is asked.
type Asked struct {
	// Set has the projection feedback. Required.
	Set       *projections.Set
	Principal schemas.Principal
}

// Session is an open state of a tenant's feedback.
type Session struct {
	base query.Session[query.Step]
	view *feedback.View
	p    schemas.Principal
	now  time.Time
	// tasks is the number of judged tasks of the tenant.
	tasks uint64
}

// Open opens the feedback that the principal may see, once atLeast is visible. Close the session.
func Open(ctx context.Context, a Asked, atLeast schemas.Watermark, waitMS int) (*Session, error) {
	base, err := query.Begin[query.Step](ctx, a.Set, atLeast, waitMS)
	if err != nil {
		return nil, err
	}
	s := &Session{base: base, p: a.Principal}
	p, err := s.base.Acquire(a.Set, feedback.Name)
	if err != nil {
		return nil, err
	}
	if s.view, err = p.(*feedback.Feedback).View(a.Principal.Tenant); err == nil {
		s.base.OnClose(s.view.Close)
		s.base.Visible, err = s.view.Watermark()
	}
	if err == nil {
		s.now, s.tasks, err = s.view.Newest()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends the session.
func (s *Session) Close() { s.base.Close() }

// Empty reports whether no task was judged.
func (s *Session) Empty() bool { return s.tasks == 0 }

// weight returns the weight of what was said at a time.
func (s *Session) weight(at time.Time) float64 {
	return math.Exp2(-max(0, s.now.Sub(at).Hours()) / HalfLife.Hours())
}

// Usefulness is what is known of the use of a subject.
type Usefulness struct {
	// Useful and Useless count votes, Shown the context calls that returned it.
	Useful  int `json:"useful" example:"3" doc:"The number of votes that it was useful: of each session and task the last counts."`
	Useless int `json:"useless" example:"1" doc:"The number of votes that it was not."`
	Shown   int `json:"shown" example:"9" doc:"How often a context call returned it."`
	// Score is the ratio of useful votes by weight, centred at 0.
	Score float64   `json:"score" minimum:"-1" maximum:"1" example:"0.4" doc:"From -1 (only useless) to 1 (only useful), each vote weighted by its age, and closer to 0 the fewer there are. 0: nothing is known."`
	Last  time.Time `json:"last,omitzero" doc:"The time of the last vote."`
}

// doubt is the weight of the votes, half useful and half not, that every subject begins with.
const doubt = 1.0

// Of returns the usefulness of a subject.
func (s *Session) Of(subject *recountv1.FeedbackSubject) (Usefulness, error) {
	all, err := s.view.Votes(subject, maxVotes)
	if err != nil {
		return Usefulness{}, err
	}
	type by struct{ voter, task schemas.EventID }
	last := map[by]feedback.Vote{}
	var u Usefulness
	for _, v := range all {
		if !s.p.InWorkspace(v.Workspace) {
			continue
		}
		if v.Stand == feedback.Shown {
			u.Shown++
			continue
		}
		k := by{v.Voter, v.Task}
		if have, ok := last[k]; !ok || later(v, have) {
			last[k] = v
		}
	}
	var yes, no float64
	for _, v := range last {
		// Weights are added in whole millionths, so that the order of the votes does not matter.
		w := math.Round(s.weight(v.Time) * 1e6)
		if v.Stand == feedback.Useful {
			u.Useful, yes = u.Useful+1, yes+w
		} else {
			u.Useless, no = u.Useless+1, no+w
		}
		if v.Time.After(u.Last) {
			u.Last = v.Time
		}
	}
	if yes+no > 0 {
		u.Score = (yes - no) / (yes + no + doubt*1e6)
	}
	return u, nil
}

func later(a, b feedback.Vote) bool {
	return cmp.Or(a.Time.Compare(b.Time), a.Position.Compare(b.Position)) > 0
}

// Used is a subject that was judged for tasks like a given one.
type Used struct {
	Subject *recountv1.FeedbackSubject
	// Score is above 0 if it was useful for them, and below if it was not.
	Score float64
}

// ForTask returns what was useful, or not, for past tasks with words of a task: the most useful first. The score
// of a subject is the sum over these tasks of their likeness, squared, times their weight.
func (s *Session) ForTask(task string) ([]Used, error) {
	words := feedback.Words(task)
	likeness := map[schemas.Position]float64{}
	var whole float64
	n := float64(s.tasks)
	for _, w := range words {
		tasks, err := s.view.Tasks(w, maxPostings)
		if err != nil {
			return nil, err
		}
		df := float64(len(tasks))
		idf := math.Log(1 + (n-df+0.5)/(df+0.5))
		whole += idf
		for _, at := range tasks {
			likeness[at] += idf
		}
	}
	if whole == 0 {
		return nil, nil
	}
	at := make([]schemas.Position, 0, len(likeness))
	for p := range likeness {
		at = append(at, p)
	}
	slices.SortFunc(at, func(a, b schemas.Position) int { return cmp.Or(cmp.Compare(likeness[b], likeness[a]), b.Compare(a)) })
	return s.used(at[:min(len(at), maxTasks)], func(p schemas.Position) float64 { return likeness[p] / whole })
}

// used adds up what the events at some positions say.
func (s *Session) used(at []schemas.Position, likeness func(schemas.Position) float64) ([]Used, error) {
	type key struct{ voter, task, subject string }
	type vote struct {
		time  time.Time
		at    schemas.Position
		score float64
		of    *recountv1.FeedbackSubject
	}
	last := map[key]vote{}
	for _, p := range at {
		r, err := s.view.Event(p)
		if err != nil {
			return nil, err
		}
		g := r.GetFeedbackGiven()
		if g == nil || !s.p.InWorkspace(g.Workspace) {
			continue
		}
		when := g.OccurredAt.AsTime()
		l := likeness(p)
		score := l * l * s.weight(when) / math.Log2(1+float64(len(g.Subjects)))
		if !g.Useful {
			score = -score
		}
		voter := "session " + g.Session
		if g.Session == "" {
			voter = "agent " + g.Agent + "\x00" + g.User
		}
		for _, of := range g.Subjects {
			k := key{g.Workspace + "\x00" + voter, g.Task, subjectKey(of)}
			if have, ok := last[k]; !ok || cmp.Or(when.Compare(have.time), p.Compare(have.at)) > 0 {
				last[k] = vote{when, p, score, of}
			}
		}
	}
	sums := map[string]*Used{}
	for k, v := range last {
		u := sums[k.subject]
		if u == nil {
			u = &Used{Subject: proto.CloneOf(v.of)}
			sums[k.subject] = u
		}
		u.Score += math.Round(v.score * 1e9) // whole numbers, so that the order does not matter
		u.Subject.Path = max(u.Subject.Path, v.of.Path)
	}
	all := make([]Used, 0, len(sums))
	for _, u := range sums {
		u.Score /= 1e9
		all = append(all, *u)
	}
	slices.SortFunc(all, func(a, b Used) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(subjectKey(a.Subject), subjectKey(b.Subject)))
	})
	return all, nil
}

func subjectKey(s *recountv1.FeedbackSubject) string {
	return fmt.Sprintf("%d\x00%s\x00%s", s.GetKind(), s.GetRepository(), s.GetName())
}
