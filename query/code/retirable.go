package code

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/query"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

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
	if err := r.check(); err != nil {
		return resp, err
	}
	a, err := s.open(ctx, r.Scope)
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
			return resp, asked(cmp.Or(r.Repo, "code"), err)
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
