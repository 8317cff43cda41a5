package code

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/projections"
	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Sources are what questions about code are asked of.
type Sources struct {
	// Set holds the projection code. Required.
	Set *projections.Set
	// Graphs keeps what walks run over from one question to the next. Required.
	Graphs *Cache
	// Running finds who really calls a symbol; nil where no spans are kept.
	Running Running
}

// Scope says what a question is asked of.
type Scope struct {
	Repo    string            `json:"repo,omitempty" maxLength:"4096" example:"github.com/acme/shop" doc:"The repository: its name, or the end of it from behind a slash. May be left out where there is only one."`
	At      string            `json:"at,omitempty" maxLength:"1024" example:"main~3" doc:"The revision: a branch, a tag, a commit or the beginning of one, HEAD, each with ~N or ^N; worktree. Default HEAD."`
	AtLeast schemas.Watermark `json:"at_least,omitempty" example:"recount.commits/0:42" doc:"Wait until everything below these offsets is visible: read your writes. TOPIC/PARTITION:NEXT, comma-separated, as in a response's watermark."`
	WaitMS  int               `json:"wait_ms,omitempty" minimum:"1" maximum:"60000" default:"5000" example:"5000" doc:"How long at_least may wait, in milliseconds."`
}

// Limits of requests. They are part of the API.
const (
	DefaultLimit = 50
	MaxLimit     = 10_000
	// MaxName is the longest name or revision in bytes.
	MaxName = 4096
)

func (s Scope) check() error {
	switch {
	case len(s.Repo) > MaxName:
		return &query.RequestError{Field: "repo", Value: fmt.Sprintf("%d bytes", len(s.Repo)), Reason: fmt.Sprintf("want at most %d", MaxName)}
	case len(s.At) > MaxName:
		return &query.RequestError{Field: "at", Value: fmt.Sprintf("%d bytes", len(s.At)), Reason: fmt.Sprintf("want at most %d", MaxName)}
	case s.WaitMS < 0 || s.WaitMS > int(query.MaxWait/time.Millisecond):
		return &query.RequestError{Field: "wait_ms", Value: s.WaitMS, Reason: fmt.Sprintf("want 1 to %d", query.MaxWait/time.Millisecond)}
	}
	return nil
}

func checkLimit(n int) error {
	if n < 0 || n > MaxLimit {
		return &query.RequestError{Field: "limit", Value: n, Reason: fmt.Sprintf("want 1 to %d", MaxLimit)}
	}
	return nil
}

func checkName(field, name string) error {
	switch {
	case name == "":
		return &query.RequestError{Field: field, Value: `""`, Reason: "want a symbol, a file, or FILE:LINE"}
	case len(name) > MaxName:
		return &query.RequestError{Field: field, Value: fmt.Sprintf("%d bytes", len(name)), Reason: fmt.Sprintf("want at most %d", MaxName)}
	}
	return nil
}

func checkConfidence(c float64) error {
	if !(c >= 0 && c <= 1) { // also not a number
		return &query.RequestError{Field: "min_confidence", Value: fmt.Sprint(c), Reason: "want 0 to 1"}
	}
	return nil
}

// asking is one question being answered: a view of the projection, and the proof
// as it grows.
type asking struct {
	ctx     context.Context
	s       Sources
	view    *snapshots.View
	release func()
	visible schemas.Watermark

	proof  []query.Step
	timing query.Timing

	start, clock time.Time
}

// ask opens a view, once at_least is visible. An error is a
// *query.NotVisibleError, the context's, or the projection's.
func (s Sources) ask(ctx context.Context, sc Scope) (*asking, error) {
	now := time.Now()
	wait := cmp.Or(time.Duration(sc.WaitMS)*time.Millisecond, query.DefaultWait)
	if err := query.AwaitVisible(ctx, s.Set, sc.AtLeast, wait); err != nil {
		return nil, err
	}
	p, release, err := s.Set.Acquire(snapshots.Name)
	if err != nil {
		return nil, err
	}
	a := &asking{ctx: ctx, s: s, release: release, start: now, clock: now}
	if a.view, err = p.(*snapshots.Code).View(); err == nil {
		if a.visible, err = a.view.Watermark(); err != nil {
			a.view.Close()
		}
	}
	if err != nil {
		release()
		return nil, err
	}
	a.step(query.Step{Operator: "visible", Inputs: map[string]string{"below": a.visible.String()}})
	return a, nil
}

func (a *asking) close() {
	a.view.Close()
	a.release()
}

func (a *asking) step(s query.Step) { a.proof = append(a.proof, s) }

// lap notes how long a step took.
func (a *asking) lap(operator string) {
	now := time.Now()
	a.timing.Steps = append(a.timing.Steps, query.StepTiming{Operator: operator, US: now.Sub(a.clock).Microseconds()})
	a.clock = now
}

// basis is what an answer says of itself.
func (a *asking) basis(empty bool, hint string, filters ...query.AppliedFilter) query.Basis {
	b := query.Basis{Status: query.StatusOK, Hint: hint, Watermark: a.visible, AppliedFilters: append([]query.AppliedFilter{}, filters...), Proof: a.proof}
	if empty {
		b.Status = query.StatusEmpty
	}
	a.timing.TotalUS = time.Since(a.start).Microseconds()
	b.Timing = a.timing
	return b
}

// snapshot opens the snapshot of a scope, and says so in the proof.
func (a *asking) snapshot(repo, rev string) (*snapshots.Snapshot, error) {
	r, err := a.view.Repository(repo)
	if err != nil {
		return nil, asked(cmp.Or(repo, "code"), err)
	}
	s, err := a.view.Snapshot(r, rev)
	if err != nil {
		return nil, asked(cmp.Or(rev, "HEAD"), err)
	}
	a.step(query.Step{
		Operator: "snapshot",
		Inputs:   map[string]string{"repository": r.Name, "commit": s.Commit, "hash": s.Hash().String()},
		Hits:     []query.Evidence{{Position: schemas.PositionOf(s.Position)}},
	})
	a.lap("snapshot")
	return s, nil
}

// graph is what a walk over a snapshot runs on.
func (a *asking) graph(s *snapshots.Snapshot) (*Graph, error) {
	g, err := a.s.Graphs.Get(a.ctx, s)
	a.lap("graph")
	return g, err
}

// world is the graph of a scope, and those of the other repositories at HEAD.
func (a *asking) world(sc Scope) (*snapshots.Snapshot, *world, error) {
	s, err := a.snapshot(sc.Repo, sc.At)
	if err != nil {
		return nil, nil, err
	}
	w, err := a.around(s)
	return s, w, err
}

// maxRepositories is how many repositories one walk spans.
const maxRepositories = 64

// around is a snapshot's graph, with those of the other repositories at HEAD.
func (a *asking) around(s *snapshots.Snapshot) (*world, error) {
	home, err := a.graph(s)
	if err != nil {
		return nil, err
	}
	w := &world{graphs: []*Graph{home}, snaps: []*snapshots.Snapshot{s}}
	repos, err := a.view.Repositories()
	if err != nil {
		return nil, err
	}
	for _, r := range repos {
		if r == s.Repo() {
			continue
		}
		if len(w.graphs) == maxRepositories {
			w.left = len(repos) - maxRepositories
			break
		}
		other, err := a.view.Snapshot(r, "HEAD")
		if errors.Is(err, snapshots.ErrUnknown) || errors.Is(err, snapshots.ErrNoGraph) {
			continue
		}
		if err != nil {
			return nil, err
		}
		g, err := a.s.Graphs.Get(a.ctx, other)
		if err != nil {
			return nil, err
		}
		w.graphs, w.snaps = append(w.graphs, g), append(w.snaps, other)
		a.step(query.Step{
			Operator: "beside",
			Inputs:   map[string]string{"repository": r.Name, "commit": other.Commit, "hash": other.Hash().String()},
			Hits:     []query.Evidence{{Position: schemas.PositionOf(other.Position)}},
		})
	}
	a.lap("beside")
	return w, nil
}

// asked makes the errors of the projection's names those of a question.
func asked(ref string, err error) error {
	var ambiguous *snapshots.AmbiguousError
	switch {
	case errors.As(err, &ambiguous):
		return &AmbiguousError{Ref: ref, What: ambiguous.What, Candidates: slices.Clone(ambiguous.Candidates)}
	case errors.Is(err, snapshots.ErrUnknown):
		// What is behind the word says more than that it is unknown.
		_, why, _ := strings.Cut(err.Error(), snapshots.ErrUnknown.Error())
		return &query.NotFoundError{Ref: ref, Hint: cmp.Or(strings.TrimLeft(why, ":; "), err.Error())}
	case errors.Is(err, snapshots.ErrNoGraph):
		return &query.NotFoundError{Ref: ref, Hint: err.Error()}
	}
	return err
}

// at is where an answer's snapshot stands.
func at(s *snapshots.Snapshot) Revision { return revisionOf(s.CodeSnapshot) }

// Revision is a commit whose graph was asked.
type Revision struct {
	Repo     string           `json:"repo" example:"github.com/acme/shop" doc:"The repository."`
	Commit   string           `json:"commit" example:"9fceb02d0ae598e95dc970b74767f19372d61af8" doc:"The commit."`
	Snapshot schemas.Hash     `json:"snapshot" doc:"The hash that stands for its whole graph; zeros where it has none."`
	Position schemas.Position `json:"position" doc:"The event that closed the commit."`
	Subject  string           `json:"subject,omitempty" example:"kgo: retry on timeouts" doc:"The first line of its message."`
	Author   string           `json:"author,omitempty" example:"Ada <ada@example.org>" doc:"Who wrote it."`
	Time     time.Time        `json:"time,omitzero" doc:"When it was written."`
}

func revisionOf(s *recountv1.CodeSnapshot) Revision {
	r := Revision{Repo: s.Repository, Commit: s.Commit, Position: schemas.PositionOf(s.Position), Subject: firstLine(s.Message)}
	copy(r.Snapshot[:], s.Snapshot)
	if w := s.Author; w != nil {
		r.Author = personName(w)
		if w.Time != nil {
			r.Time = w.Time.AsTime()
		}
	}
	return r
}
