package feedback

import (
	"cmp"
	"context"
	"fmt"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/question"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Request asks how useful subjects were, or what was useful for tasks like one.
type Request struct {
	Subjects   []string          `json:"subjects,omitempty" maxItems:"1000" example:"[\"symbol:shop.Cart.Total\"]" doc:"The subjects: symbol:NAME, file:PATH, object:ID or command:ID. Give subjects or a task."`
	Task       string            `json:"task,omitempty" maxLength:"49152" example:"round totals to cents" doc:"A task: the answer is what was useful for past tasks with similar words."`
	Repository string            `json:"repo,omitempty" maxLength:"4096" example:"github.com/acme/shop" doc:"The repository of symbols and files. For a task: only what belongs to it."`
	Limit      int               `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"50" example:"10" doc:"For a task: maximum number of subjects."`
	AtLeast    schemas.Watermark `json:"at_least,omitempty" example:"recount.facts/0:42" doc:"Wait until everything below these offsets is visible, to read your own writes. TOPIC/PARTITION:NEXT, comma-separated, as in a response's watermark."`
	WaitMS     int               `json:"wait_ms,omitempty" minimum:"1" maximum:"60000" default:"5000" example:"5000" doc:"The maximum time to wait for at_least, in milliseconds."`
}

// Response says how useful subjects were.
type Response struct {
	query.Basis
	Subjects []Judged `json:"subjects" nullable:"false" doc:"The subjects: in the order of the request, or for a task the most useful first."`
}

// Judged is a subject and what is known of its use.
type Judged struct {
	Subject    string `json:"subject" example:"symbol:shop.Cart.Total" doc:"The subject."`
	Repository string `json:"repo,omitempty" example:"github.com/acme/shop" doc:"Its repository."`
	Path       string `json:"path,omitempty" example:"cart/cart.go" doc:"The file of a symbol, if it is known."`
	Usefulness
	ForTask float64 `json:"for_task,omitempty" example:"0.31" doc:"For a task: how useful it was for past tasks, by their likeness and age; below 0 if it was not."`
}

// Question is the question for feedback, as every API offers it.
var Question = question.New("feedback/ratio", "Ask how useful something was",
	"Returns how useful symbols, files, events or commands were according to feedback (feedback.given), or what was useful for past tasks like a given one. Only feedback of the asker's own tenant and workspaces counts.",
	Request.check, Ask)

// Questions has all of them.
var Questions = question.List[Asked]{Question}

func (r Request) check() error {
	switch {
	case (len(r.Subjects) == 0) == (r.Task == ""):
		return &query.RequestError{Field: "subjects", Value: fmt.Sprint(len(r.Subjects)), Reason: "want either subjects or a task"}
	case len(r.Subjects) > 1000:
		return &query.RequestError{Field: "subjects", Value: fmt.Sprint(len(r.Subjects)), Reason: "want at most 1000"}
	case len(r.Task) > 48<<10:
		return &query.RequestError{Field: "task", Value: fmt.Sprintf("%d bytes", len(r.Task)), Reason: "want at most 49152"}
	}
	for _, ref := range r.Subjects {
		if _, err := ParseSubject(ref, r.Repository); err != nil {
			return err
		}
	}
	return cmp.Or(query.CheckName("repo", r.Repository), query.CheckLimit(r.Limit, 1000), query.CheckWait(r.WaitMS))
}

// Ask answers the question. An error is a *query.RequestError, *query.NotVisibleError, that of ctx, or
// that of the projection.
func Ask(ctx context.Context, a Asked, r Request) (Response, error) {
	if err := r.check(); err != nil {
		return Response{}, err
	}
	s, err := Open(ctx, a, r.AtLeast, r.WaitMS)
	if err != nil {
		return Response{}, err
	}
	defer s.Close()
	resp := Response{Subjects: []Judged{}}
	var of []Used
	for _, ref := range r.Subjects {
		subject, err := ParseSubject(ref, r.Repository)
		if err != nil {
			return Response{}, err
		}
		of = append(of, Used{Subject: subject})
	}
	if r.Task != "" {
		if of, err = s.ForTask(r.Task); err != nil {
			return Response{}, err
		}
		of = within(of, r.Repository)
		of = of[:min(len(of), cmp.Or(r.Limit, 50))]
	}
	known := 0
	for _, u := range of {
		j := Judged{Subject: Ref(u.Subject), Repository: u.Subject.Repository, Path: u.Subject.Path, ForTask: u.Score}
		if j.Usefulness, err = s.Of(u.Subject); err != nil {
			return Response{}, err
		}
		known += j.Useful + j.Useless + j.Shown
		resp.Subjects = append(resp.Subjects, j)
	}
	s.base.Step(query.Step{Operator: "votes", Counts: map[string]int64{"subjects": int64(len(of)), "tasks": int64(s.tasks), "votes": int64(known)}})
	hint := ""
	if known == 0 {
		hint = "no feedback is known of this; POST /v1/feedback or an event " + schemas.TypeFeedbackGiven + " gives it"
	}
	resp.Basis = query.BasisOf(&s.base, known == 0, hint, []query.AppliedFilter{})
	return resp, nil
}

// within returns the subjects of a repository, and events.
func within(all []Used, repository string) []Used {
	if repository == "" {
		return all
	}
	var out []Used
	for _, u := range all {
		if k := u.Subject.Kind; u.Subject.Repository == repository ||
			k == recountv1.FeedbackSubjectKind_FEEDBACK_SUBJECT_KIND_OBJECT || k == recountv1.FeedbackSubjectKind_FEEDBACK_SUBJECT_KIND_COMMAND {
			out = append(out, u)
		}
	}
	return out
}
