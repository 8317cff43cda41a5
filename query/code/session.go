package code

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/recountdb/recount/projections"
	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Sources are the data that questions about code are answered from.
type Sources struct {
	// Set has the projection code. Required.
	Set *projections.Set
	// Graphs caches the graphs of walks across queries. Required.
	Graphs *Cache
	// Contents yields the contents of files by the positions of the events that brought them
	// (ContentOf), in any order, without those that are not known. Without it renamed symbols are not
	// found.
	Contents func(ctx context.Context, at []schemas.Position, yield func(at schemas.Position, content []byte) error) error
	// Running finds the run-time callers of a symbol; nil if no spans are stored.
	Running Running
}

// Scope selects the repository and revision of a query.
type Scope struct {
	Repo    string            `json:"repo,omitempty" maxLength:"4096" example:"github.com/acme/shop" doc:"The repository: its name, or the part of it after a slash. Not needed if there is only one."`
	At      string            `json:"at,omitempty" maxLength:"1024" example:"main~3" doc:"The revision: a branch, a tag, a commit or a prefix of one, or HEAD, each optionally with ~N or ^N; or worktree. Default HEAD."`
	AtLeast schemas.Watermark `json:"at_least,omitempty" example:"recount.commits/0:42" doc:"Wait until everything below these offsets is visible, to read your own writes. TOPIC/PARTITION:NEXT, comma-separated, as in a response's watermark."`
	WaitMS  int               `json:"wait_ms,omitempty" minimum:"1" maximum:"60000" default:"5000" example:"5000" doc:"The maximum time to wait for at_least, in milliseconds."`
	Now     time.Time         `json:"now,omitzero" example:"2026-11-21T12:00:00Z" doc:"The time to use as now for announced work, which holds for some time only. Default: the time of the newest agents' event that you may see. The clock is not used."`
}

// AskedAt returns the time at which the question is asked, if the request says so.
func (s Scope) AskedAt() time.Time { return s.Now }

// These are the limits of requests. They are part of the API.
const (
	DefaultLimit = 50
	MaxLimit     = 10_000
)

func (s Scope) check() error {
	return cmp.Or(query.CheckName("repo", s.Repo), query.CheckName("at", s.At), query.CheckWait(s.WaitMS))
}

func checkLimit(n int) error { return query.CheckLimit(n, MaxLimit) }

// checkSubject rejects an empty or too long name.
func checkSubject(field, name string) error {
	if name == "" {
		return &query.RequestError{Field: field, Value: `""`, Reason: "want a symbol, a file, or FILE:LINE"}
	}
	return query.CheckName(field, name)
}

func checkConfidence(c float64) error {
	if !(c >= 0 && c <= 1) { // also rejects NaN
		return &query.RequestError{Field: "min_confidence", Value: fmt.Sprint(c), Reason: "want 0 to 1"}
	}
	return nil
}

// session is the state of one query.
type session struct {
	query.Session[query.Step]
	s    Sources
	view *snapshots.View
	// people are the authors of commits as .mailmap names them; nil if it was not read.
	people mailmap
}

// scoped is what a question asks within a scope.
type scoped interface {
	check() error
	scope() Scope
}

func (s Scope) scope() Scope { return s }

// open checks a request and opens a view once at_least is visible. An error is a
// *query.RequestError, a *query.NotVisibleError, that of ctx, or that of the projection.
func (s Sources) open(ctx context.Context, r scoped) (*session, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	sc := r.scope()
	base, err := query.Begin[query.Step](ctx, s.Set, sc.AtLeast, sc.WaitMS)
	if err != nil {
		return nil, err
	}
	a := &session{Session: base, s: s}
	p, err := a.Acquire(s.Set, snapshots.Name)
	if err != nil {
		return nil, err
	}
	if a.view, err = p.(*snapshots.Code).View(); err == nil {
		a.OnClose(a.view.Close)
		a.Visible, err = a.view.Watermark()
	}
	if err != nil {
		a.Close()
		return nil, err
	}
	a.Step(query.Step{Operator: "visible", Inputs: map[string]string{"below": a.Visible.String()}})
	return a, nil
}

// basis returns the basis of an answer.
func (a *session) basis(empty bool, hint string, filters ...query.AppliedFilter) query.Basis {
	return query.BasisOf(&a.Session, empty, hint, append([]query.AppliedFilter{}, filters...))
}

// snapshot opens the snapshot of a scope, and adds it to the proof.
func (a *session) snapshot(repo, rev string) (*snapshots.Snapshot, error) {
	r, err := a.view.Repository(repo)
	if err != nil {
		return nil, askedOfRepo(repo, err)
	}
	s, err := a.view.Snapshot(r, rev)
	if err != nil {
		return nil, asked(cmp.Or(rev, "HEAD"), err)
	}
	a.Step(query.Step{
		Operator: "snapshot",
		Inputs:   map[string]string{"repository": r.Name, "commit": s.Commit, "hash": s.Hash().String()},
		Hits:     []query.Evidence{{Position: schemas.PositionOf(s.Position)}},
	})
	a.RecordTime("snapshot")
	return s, nil
}

// graph returns the graph of a snapshot.
func (a *session) graph(s *snapshots.Snapshot) (*Graph, error) {
	g, err := a.s.Graphs.Get(a.Ctx, s)
	a.RecordTime("graph")
	return g, err
}

// snapshotGraph opens the snapshot of a scope and its graph.
func (a *session) snapshotGraph(sc Scope) (*snapshots.Snapshot, *Graph, error) {
	s, err := a.snapshot(sc.Repo, sc.At)
	if err != nil {
		return nil, nil, err
	}
	g, err := a.graph(s)
	return s, g, err
}

// world returns the graph of a scope, and those of the other repositories at HEAD. If the scope names no
// repository, it is that of the first name that begins with one: REPOSITORY:SYMBOL.
func (a *session) world(sc Scope, names ...string) (*snapshots.Snapshot, *world, error) {
	for _, name := range names {
		if repo, _, ok := strings.Cut(name, ":"); ok && repo != "" && sc.Repo == "" {
			if r, err := a.view.Repository(repo); err == nil {
				sc.Repo = r.Name
			}
		}
	}
	s, err := a.snapshot(sc.Repo, sc.At)
	if err != nil {
		return nil, nil, err
	}
	w, err := a.around(s)
	return s, w, err
}

// maxRepositories is the maximum number of repositories in one walk.
const maxRepositories = 64

// around returns a snapshot's graph, and those of the other repositories at HEAD.
func (a *session) around(s *snapshots.Snapshot) (*world, error) {
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
		g, err := a.s.Graphs.Get(a.Ctx, other)
		if err != nil {
			return nil, err
		}
		w.graphs, w.snaps = append(w.graphs, g), append(w.snaps, other)
		a.Step(query.Step{
			Operator: "beside",
			Inputs:   map[string]string{"repository": r.Name, "commit": other.Commit, "hash": other.Hash().String()},
			Hits:     []query.Evidence{{Position: schemas.PositionOf(other.Position)}},
		})
	}
	a.RecordTime("beside")
	return w, nil
}

// asked converts the projection's errors for names to those of a query.
func asked(ref string, err error) error {
	var ambiguous *snapshots.AmbiguousError
	switch {
	case errors.As(err, &ambiguous):
		e := &AmbiguousNameError{Ref: ref, What: ambiguous.What}
		for _, name := range ambiguous.Candidates {
			e.Candidates = append(e.Candidates, NameCandidate{Name: name})
		}
		return e
	case errors.Is(err, snapshots.ErrUnknown):
		// The text after ErrUnknown is more specific.
		_, why, _ := strings.Cut(err.Error(), snapshots.ErrUnknown.Error())
		kind := query.UnknownRevision
		if errors.Is(err, snapshots.ErrNotImported) {
			kind = query.UnknownImport
		}
		return &query.NotFoundError{Ref: ref, Hint: cmp.Or(strings.TrimLeft(why, ":; "), err.Error()), Kind: kind}
	case errors.Is(err, snapshots.ErrNoGraph):
		return &query.NotFoundError{Ref: ref, Hint: err.Error(), Kind: query.UnknownGraph}
	}
	return err
}

// askedOfRepo is asked for the name of a repository, which a question may leave out: then it names
// nothing that could be missing.
func askedOfRepo(repo string, err error) error {
	err = asked(cmp.Or(repo, "code"), err)
	var missing *query.NotFoundError
	if repo == "" && errors.As(err, &missing) {
		missing.Ref = ""
	}
	return err
}

// revisionAt returns the revision of an answer's snapshot.
func revisionAt(s *snapshots.Snapshot) Revision { return revisionOf(s.CodeSnapshot) }

// Revision is a commit whose graph was queried.
type Revision struct {
	Repo     string           `json:"repo" example:"github.com/acme/shop" doc:"The repository."`
	Commit   string           `json:"commit" example:"9fceb02d0ae598e95dc970b74767f19372d61af8" doc:"The commit."`
	Snapshot schemas.Hash     `json:"snapshot" doc:"The root hash of its graph; zeros if it has none."`
	Position schemas.Position `json:"position" doc:"The event that closed the commit."`
	Subject  string           `json:"subject,omitempty" example:"kgo: retry on timeouts" doc:"The first line of its message."`
	Author   string           `json:"author,omitempty" example:"Ada <ada@example.org>" doc:"The commit's author."`
	Time     time.Time        `json:"time,omitzero" doc:"The time of the commit."`
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

// MaxContent is the size up to which files are compared by their content, in bytes.
const MaxContent = 256 << 10

// ContentOf returns the content of a file from the event that brought it, or nil if the event has
// none or more than limit bytes.
func ContentOf(lr schemas.LogRecord, limit int) ([]byte, error) {
	e, err := lr.Event()
	if err != nil {
		return nil, err
	}
	payload, err := e.DecodePayload()
	if err != nil {
		return nil, err
	}
	m, ok := payload.(*recountv1.SourceRevised)
	if !ok || m.GetSize() > int64(limit) {
		return nil, nil
	}
	if z := m.GetContentZstd(); len(z) > 0 {
		return schemas.Decompress(z, limit)
	}
	return m.GetContent(), nil
}

// content returns the content of a file of a snapshot, or nil if it is not known.
func (a *session) content(s *snapshots.Snapshot, path string) (found []byte, err error) {
	err = a.contents(s, []string{path}, func(_ string, content []byte) { found = content })
	return found, err
}

// contents calls yield with the contents of files of a snapshot, without those that are not known.
func (a *session) contents(s *snapshots.Snapshot, paths []string, yield func(path string, content []byte)) error {
	if a.s.Contents == nil {
		return nil
	}
	var at []schemas.Position
	files := map[schemas.Position][]string{} // files with equal contents have one event
	for _, path := range paths {
		p, err := contentAt(s, path)
		if err = cmp.Or(err, a.Ctx.Err()); err != nil {
			return err
		}
		if p == nil {
			continue
		}
		if files[*p] == nil {
			at = append(at, *p)
		}
		files[*p] = append(files[*p], path)
	}
	err := a.s.Contents(a.Ctx, at, func(p schemas.Position, content []byte) error {
		for _, path := range files[p] {
			yield(path, content)
		}
		return a.Ctx.Err()
	})
	if err != nil {
		return fmt.Errorf("read the contents of files: %w", err)
	}
	return nil
}
