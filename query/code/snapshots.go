package code

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// LogRequest asks for the snapshots of a history.
type LogRequest struct {
	Scope
	Limit int `json:"limit,omitempty" minimum:"1" maximum:"10000" default:"50" example:"20" doc:"Maximum number of snapshots."`
}

// LogResponse is the answer of snapshot-log.
type LogResponse struct {
	query.Basis
	Snapshots []LoggedSnapshot `json:"snapshots" nullable:"false" doc:"The revision and its first parents."`
	Truncated bool             `json:"truncated" doc:"Whether there are more."`
}

// LoggedSnapshot is one commit of a history.
type LoggedSnapshot struct {
	Revision
	Parents []string `json:"parents" nullable:"false" doc:"The commit's parents."`
	Changed int      `json:"changed" example:"3" doc:"The number of files that the commit changed."`
	NoGraph string   `json:"no_graph,omitempty" doc:"Why it has no graph."`
}

func (r LogRequest) check() error { return cmp.Or(r.Scope.check(), checkLimit(r.Limit)) }

// Log lists the snapshots of a revision and its first parents, the newest first.
func Log(ctx context.Context, s Sources, r LogRequest) (LogResponse, error) {
	resp := LogResponse{Snapshots: []LoggedSnapshot{}}
	r.Limit = cmp.Or(r.Limit, DefaultLimit)
	a, err := s.open(ctx, r)
	if err != nil {
		return resp, err
	}
	defer a.Close()
	repo, err := a.view.Repository(r.Repo)
	if err != nil {
		return resp, askedOfRepo(r.Repo, err)
	}
	c, err := a.view.Resolve(repo, r.At)
	if err != nil {
		return resp, asked(cmp.Or(r.At, "HEAD"), err)
	}
	for c != nil {
		if len(resp.Snapshots) == r.Limit {
			resp.Truncated = true
			break
		}
		resp.Snapshots = append(resp.Snapshots, LoggedSnapshot{revisionOf(c), append([]string{}, c.Parents...), int(c.ChangedCount), c.WithoutGraph})
		if len(c.Parents) == 0 {
			break
		}
		if c, err = a.view.Commit(repo, c.Parents[0]); err != nil {
			return resp, err
		}
	}
	a.Step(query.Step{Operator: "history", Inputs: map[string]string{"repository": repo.Name}, Counts: map[string]int64{"commits": int64(len(resp.Snapshots))}})
	resp.Basis = a.basis(false, "")
	return resp, nil
}

// ShowRequest asks for one snapshot.
type ShowRequest struct{ Scope }

// SnapshotResponse is the answer of snapshot-show.
type SnapshotResponse struct {
	query.Basis
	Revision   Revision          `json:"revision" doc:"The revision that was queried."`
	Parents    []string          `json:"parents" nullable:"false" doc:"The commit's parents."`
	Message    string            `json:"message" doc:"The commit's message."`
	Changed    []string          `json:"changed" nullable:"false" doc:"The files that the commit changed, at most 1,000."`
	Roots      map[string]string `json:"roots" doc:"The root hashes of its maps."`
	Files      Counted           `json:"files" doc:"The number of files by language, and of skipped files by reason."`
	Symbols    Counted           `json:"symbols" doc:"The number of symbols by kind."`
	Edges      Counted           `json:"edges" doc:"The number of edges by kind."`
	Outside    Counted           `json:"outside" doc:"The number of edges to symbols outside the repository, by kind."`
	Unresolved int               `json:"unresolved" example:"120" doc:"The number of references that could not be resolved."`
	Partial    []string          `json:"partial" nullable:"false" doc:"The first 20 files that were read only in part."`
}

// Counted is a count with its parts.
type Counted struct {
	Total int            `json:"total" example:"120" doc:"The total."`
	By    map[string]int `json:"by" doc:"The number of each."`
}

func (r ShowRequest) check() error { return r.Scope.check() }

// Show returns the counts of a snapshot's contents.
func Show(ctx context.Context, s Sources, r ShowRequest) (SnapshotResponse, error) {
	var resp SnapshotResponse
	a, err := s.open(ctx, r)
	if err != nil {
		return resp, err
	}
	defer a.Close()
	snap, g, err := a.snapshotGraph(r.Scope)
	if err != nil {
		return resp, err
	}
	files, err := snap.Files()
	if err != nil {
		return resp, err
	}
	resp.Revision, resp.Message, resp.Roots, resp.Partial = revisionAt(snap), snap.Message, rootsOf(snap.Maps), []string{}
	resp.Parents, resp.Changed = append([]string{}, snap.Parents...), append([]string{}, snap.Changed...)
	resp.Files.By = map[string]int{}
	for e, err := range files.All() {
		if err != nil {
			return resp, err
		}
		f := &recountv1.CodeFile{}
		if err := unmarshal(e.Value, f); err != nil {
			return resp, err
		}
		resp.Files.Total++
		if f.Skipped != "" {
			resp.Files.By["skipped: "+f.Skipped]++
		} else {
			resp.Files.By[cmp.Or(f.Language, "other")]++
		}
		if f.Partial && len(resp.Partial) < 20 {
			resp.Partial = append(resp.Partial, string(e.Key)+": "+f.Problem)
		}
	}
	resp.Symbols = Counted{len(g.nodes), map[string]int{}}
	for i := range g.nodes {
		resp.Symbols.By[kindName(g.kind(int32(i)))]++
	}
	resp.Edges, resp.Outside = countEdges(g.edges), countEdges(g.outside)
	unresolved, err := snap.Unresolved()
	if err != nil {
		return resp, err
	}
	resp.Unresolved = int(unresolved.Len())
	resp.Basis = a.basis(false, "")
	return resp, nil
}

func countEdges(edges []edge) Counted {
	c := Counted{len(edges), map[string]int{}}
	for _, e := range edges {
		c.By[edgeName(e.kind)]++
	}
	return c
}

// Most returns the names by descending count.
func (c Counted) Most() []string {
	return slices.SortedFunc(maps.Keys(c.By), func(a, b string) int { return cmp.Or(cmp.Compare(c.By[b], c.By[a]), cmp.Compare(a, b)) })
}

// place returns FILE:LINE, or only the file if line is 0.
func place(path string, line uint32) string {
	if line == 0 {
		return path
	}
	return path + ":" + strconv.Itoa(int(line))
}

// Commits returns the commits of any repository that match names: object ids, or beginnings of
// them. Names that match none or several are omitted. visible is the watermark of the answer.
func Commits(ctx context.Context, s Sources, names []string) (found map[string]Revision, visible schemas.Watermark, err error) {
	a, err := s.open(ctx, Scope{})
	if err != nil {
		return nil, nil, err
	}
	defer a.Close()
	repos, err := a.view.Repositories()
	if err != nil {
		return nil, nil, err
	}
	found = map[string]Revision{}
	for _, name := range names {
		several := false
		for _, r := range repos {
			c, err := a.view.Abbreviated(r, name)
			var ambiguous *snapshots.AmbiguousError
			switch {
			case errors.As(err, &ambiguous):
				several = true
				continue
			case errors.Is(err, snapshots.ErrUnknown):
				continue
			case err != nil:
				return nil, nil, err
			}
			// A copy of a repository has the same commits.
			if first, have := found[name]; have {
				several = several || first.Commit != c.Commit
			} else {
				found[name] = revisionOf(c)
			}
		}
		if several {
			delete(found, name)
		}
	}
	return found, a.Visible, nil
}

// maxNaming is the maximum number of commits per repository that are examined for one issue.
const maxNaming = 256

// Naming returns, for each issue (OWNER/REPO#NUMBER), the newest commits of any repository whose
// messages name it: at most `most` per issue, the newest first.
func Naming(ctx context.Context, s Sources, issues []string, most int) (found map[string][]Revision, visible schemas.Watermark, err error) {
	a, err := s.open(ctx, Scope{})
	if err != nil {
		return nil, nil, err
	}
	defer a.Close()
	repos, err := a.view.Repositories()
	if err != nil {
		return nil, nil, err
	}
	found = map[string][]Revision{}
	for _, issue := range issues {
		var all []Revision
		seen := map[string]bool{}
		for _, r := range repos {
			commits, err := a.view.Naming(r, issue, maxNaming)
			if err != nil {
				return nil, nil, err
			}
			for _, c := range commits {
				if !seen[c.Commit] { // a copy of a repository has the same commits
					seen[c.Commit] = true
					all = append(all, revisionOf(c))
				}
			}
		}
		slices.SortFunc(all, func(x, y Revision) int { return cmp.Or(y.Time.Compare(x.Time), strings.Compare(x.Commit, y.Commit)) })
		if len(all) > 0 {
			found[issue] = all[:min(len(all), most)]
		}
	}
	return found, a.Visible, nil
}

// RetirableRequest asks which graphs a `snapshots.retired` event would remove.
type RetirableRequest struct {
	Scope
	Before   time.Time `json:"before" example:"2026-08-20T00:00:00Z" doc:"Keep graphs of commits made at this time or later."`
	KeepRefs []string  `json:"keep_refs,omitempty" example:"refs/tags/*" doc:"Refs whose graphs are kept whatever their age: full names, or prefixes ending in *. Default: all refs. The graphs of HEAD and the working tree and the newest graph are always kept."`
}

// RetirableResponse is the answer of retirable.
type RetirableResponse struct {
	query.Basis
	Repositories []Retirable `json:"repositories" nullable:"false" doc:"The effect on each repository."`
	Retire       int         `json:"retire" example:"812" doc:"The total number of graphs that would be removed."`
}

// Retirable counts the graphs of one repository that would be removed.
type Retirable struct {
	Repo   string `json:"repo" example:"github.com/acme/shop" doc:"The repository."`
	Retire int    `json:"retire" example:"812" doc:"Graphs that would be removed."`
	Keep   int    `json:"keep" example:"188" doc:"Graphs that would be kept."`
}

func (r RetirableRequest) check() error {
	switch {
	case r.Before.IsZero():
		return &query.RequestError{Field: "before", Value: `""`, Reason: "want a time"}
	case r.At != "":
		return &query.RequestError{Field: "at", Value: r.At, Reason: "not allowed: the rule applies to all commits"}
	case len(r.KeepRefs) > 1000:
		return &query.RequestError{Field: "keep_refs", Value: len(r.KeepRefs), Reason: "want at most 1000"}
	}
	for _, ref := range r.KeepRefs {
		if ref == "" || len(ref) > 1024 {
			return &query.RequestError{Field: "keep_refs", Value: fmt.Sprintf("%q", ref), Reason: "want a ref, as in refs/tags/v1.0.0 or refs/tags/*"}
		}
	}
	return r.Scope.check()
}

// Rule returns the request in the form of the event that removes the graphs.
func (r RetirableRequest) Rule(repo string) *recountv1.SnapshotsRetired {
	return &recountv1.SnapshotsRetired{Repository: repo, Before: timestamppb.New(r.Before), Refs: r.KeepRefs}
}

// Retirables returns which graphs a `snapshots.retired` event would remove, of one repository or of
// all.
func Retirables(ctx context.Context, s Sources, r RetirableRequest) (RetirableResponse, error) {
	resp := RetirableResponse{Repositories: []Retirable{}}
	a, err := s.open(ctx, r)
	if err != nil {
		return resp, err
	}
	defer a.Close()
	repos, err := a.view.Repositories()
	if err != nil {
		return resp, err
	}
	if r.Repo != "" || len(repos) == 0 {
		one, err := a.view.Repository(r.Repo)
		if err != nil {
			return resp, askedOfRepo(r.Repo, err)
		}
		repos = []snapshots.RepoID{one}
	}
	for _, repo := range repos {
		retire, kept, err := a.view.Retirable(repo, r.Rule(repo.Name))
		if err != nil {
			return resp, err
		}
		resp.Repositories = append(resp.Repositories, Retirable{repo.Name, len(retire), kept})
		resp.Retire += len(retire)
	}
	a.Step(query.Step{Operator: "retirable", Inputs: map[string]string{"before": r.Before.UTC().Format(time.RFC3339), "repositories": strconv.Itoa(len(repos))}, Counts: map[string]int64{"retire": int64(resp.Retire)}})
	resp.Basis = a.basis(false, "")
	return resp, nil
}

// RepositoriesRequest asks for repositories. GET /v1/repositories has its fields as query parameters.
type RepositoriesRequest struct {
	Since  time.Time `json:"since,omitzero" query:"since" example:"2026-11-01T00:00:00Z" doc:"Only repositories with a commit at this time or later; the counts and the newest commit cover only those."`
	Until  time.Time `json:"until,omitzero" query:"until" example:"2026-12-01T00:00:00Z" doc:"Only repositories with a commit before this time; the counts and the newest commit cover only those."`
	Author string    `json:"author,omitempty" query:"author" maxLength:"4096" example:"ada" doc:"Only repositories with a commit whose author's name or address contains this, ignoring case; the counts and the newest commit cover only those."`
	Limit  int       `json:"limit,omitempty" query:"limit" minimum:"1" maximum:"10000" default:"50" example:"50" doc:"Maximum number of repositories in a page."`
	After  string    `json:"after,omitempty" query:"after" maxLength:"4096" example:"github.com/acme/shop" doc:"Only the repositories after this one: the value of next in the previous page."`
}

// RepositoriesResponse is the answer of repositories.
type RepositoriesResponse struct {
	query.Basis
	Repositories []KnownRepository `json:"repositories" nullable:"false" doc:"The repositories, the one with the newest commit first."`
	Total        int               `json:"total" example:"3" doc:"The number of repositories on all pages."`
	Truncated    int               `json:"truncated,omitempty" example:"2" doc:"The number of repositories after this page."`
	Next         string            `json:"next,omitempty" example:"github.com/acme/shop" doc:"The value of after for the next page, with the same filters; absent on the last page."`
}

// KnownRepository is a repository in a list.
type KnownRepository struct {
	Repo    string    `json:"repo" example:"github.com/acme/shop" doc:"The repository."`
	Head    *Revision `json:"head,omitempty" doc:"The commit of HEAD; absent if it is not known."`
	Newest  *Revision `json:"newest,omitempty" doc:"The newest commit, on whichever branch."`
	Commits int       `json:"commits" example:"3719" doc:"The number of commits."`
	Graphs  int       `json:"graphs" example:"120" doc:"The number of these that have a graph."`
}

func (r RepositoriesRequest) check() error {
	if !r.Since.IsZero() && !r.Until.IsZero() && !r.Since.Before(r.Until) {
		return &query.RequestError{Field: "since", Value: r.Since.Format(time.RFC3339), Reason: "not before until, so nothing can match"}
	}
	return cmp.Or(query.CheckName("author", r.Author), query.CheckName("after", r.After), checkLimit(r.Limit))
}

// Repositories lists the repositories.
func Repositories(ctx context.Context, s Sources, r RepositoriesRequest) (RepositoriesResponse, error) {
	resp := RepositoriesResponse{Repositories: []KnownRepository{}}
	if err := r.check(); err != nil {
		return resp, err
	}
	a, err := s.open(ctx, Scope{})
	if err != nil {
		return resp, err
	}
	defer a.Close()
	repos, err := a.view.Repositories()
	if err != nil {
		return resp, err
	}
	var all []KnownRepository
	read := 0
	for _, id := range repos {
		known := KnownRepository{Repo: id.Name}
		err := a.view.Commits(id, func(c *recountv1.CodeSnapshot) error {
			read++
			if r.wants(c) {
				known.add(c)
			}
			return ctx.Err()
		})
		if err != nil {
			return resp, err
		}
		if known.Commits == 0 {
			continue
		}
		switch head, err := a.view.Resolve(id, "HEAD"); {
		case err == nil:
			at := revisionOf(head)
			known.Head = &at
		case !errors.Is(err, snapshots.ErrUnknown):
			return resp, err
		}
		all = append(all, known)
	}
	slices.SortStableFunc(all, func(x, y KnownRepository) int {
		return cmp.Or(y.Newest.Time.Compare(x.Newest.Time), strings.Compare(x.Repo, y.Repo))
	})
	resp.Total = len(all)
	if r.After != "" {
		i := slices.IndexFunc(all, func(x KnownRepository) bool { return x.Repo == r.After })
		if i < 0 {
			return resp, &query.RequestError{Field: "after", Value: fmt.Sprintf("%.100q", r.After), Reason: "want the value of next in the previous answer"}
		}
		all = all[i+1:]
	}
	if limit := cmp.Or(r.Limit, DefaultLimit); len(all) > limit {
		resp.Truncated, all = len(all)-limit, all[:limit]
		resp.Next = all[len(all)-1].Repo
	}
	resp.Repositories = append(resp.Repositories, all...)
	a.Step(query.Step{Operator: "repositories", Counts: map[string]int64{"repositories": int64(len(repos)), "commits": int64(read)}})
	hint := ""
	if len(repos) == 0 {
		hint = "no repository was imported yet; run recount import git PATH"
	} else if resp.Total == 0 {
		hint = "no commit passes the filters"
	}
	var filters []query.AppliedFilter
	for _, f := range []query.AppliedFilter{{Field: "since", Op: "ge", Value: timeText(r.Since)}, {Field: "until", Op: "lt", Value: timeText(r.Until)}, {Field: "author", Op: "contains", Value: r.Author}} {
		if f.Value != "" {
			filters = append(filters, f)
		}
	}
	resp.Basis = a.basis(resp.Total == 0, hint, filters...)
	return resp, nil
}

// wants reports whether a commit passes the filters.
func (r RepositoriesRequest) wants(c *recountv1.CodeSnapshot) bool {
	at := revisionOf(c)
	return !c.WorkingTree && (r.Since.IsZero() || !at.Time.Before(r.Since)) && (r.Until.IsZero() || at.Time.Before(r.Until)) &&
		strings.Contains(strings.ToLower(at.Author), strings.ToLower(r.Author))
}

// add counts a commit.
func (k *KnownRepository) add(c *recountv1.CodeSnapshot) {
	k.Commits++
	if len(c.Snapshot) > 0 {
		k.Graphs++
	}
	at := revisionOf(c)
	// Of commits of the same second the one appended last is the newest: a commit is appended after its
	// parents, to the same partition.
	if k.Newest == nil || at.Time.After(k.Newest.Time) || at.Time.Equal(k.Newest.Time) && at.Position.Offset > k.Newest.Position.Offset {
		k.Newest = &at
	}
}

// timeText formats a time for a filter; the zero time gives "".
func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
