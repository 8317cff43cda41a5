package node

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	packing "github.com/recountdb/recount/query/context"
	"github.com/recountdb/recount/query/feedback"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// contextSource is the source of the events that record what context calls returned.
const contextSource = "recount-context"

// context answers a question for context with what was useful for similar tasks, and records what an
// agent or a session was given (context.returned).
func (n *Node) context(ctx context.Context, path string, request, response any) error {
	asked, err := n.feedback(ctx)
	if err != nil {
		return err
	}
	s := n.packingSources()
	s.Memory = func(ctx context.Context, task, repository string) ([]packing.Used, error) {
		return remembered(ctx, asked, task, repository)
	}
	if err := packing.Questions.Answer(ctx, s, path, request, response); err != nil {
		return err
	}
	r, asks := request.(packing.Request)
	given, answers := response.(*packing.Response)
	if !asks || !answers || r.Agent == "" && r.Session == "" || r.Task == "" {
		return nil
	}
	e, err := feedback.Returned(returned(asked.Principal, r, given), timestamppb.New(time.Now()), contextSource)
	if err == nil {
		_, err = n.Append(context.WithoutCancel(ctx), []schemas.Event{e})
	}
	if err != nil {
		n.cfg.Logger.Warn("the context that was returned is not recorded", "err", err)
	}
	return nil
}

// remembered returns the files and symbols of a repository that were judged for similar tasks.
func remembered(ctx context.Context, asked feedback.Asked, task, repository string) ([]packing.Used, error) {
	s, err := feedback.Open(ctx, asked, nil, 0)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if s.Empty() {
		return nil, nil
	}
	all, err := s.ForTask(task)
	if err != nil {
		return nil, err
	}
	var used []packing.Used
	for _, u := range all {
		switch k := u.Subject.Kind; {
		case u.Subject.Repository != repository:
		case k == recountv1.FeedbackSubjectKind_FEEDBACK_SUBJECT_KIND_FILE:
			used = append(used, packing.Used{Path: u.Subject.Name, Score: u.Score})
		case k == recountv1.FeedbackSubjectKind_FEEDBACK_SUBJECT_KIND_SYMBOL && u.Subject.Path != "":
			used = append(used, packing.Used{Path: u.Subject.Path, Symbol: u.Subject.Name, Score: u.Score})
		}
	}
	return used, nil
}

// returned is the payload that records an answer.
func returned(p schemas.Principal, r packing.Request, given *packing.Response) *recountv1.ContextReturned {
	m := &recountv1.ContextReturned{Tenant: p.Tenant, Agent: schemas.Clip(r.Agent, 256), Session: schemas.Clip(r.Session, 256), Task: schemas.Clip(r.Task, 48<<10)}
	if p.Agent != "" {
		m.Agent = p.Agent
	}
	if len(p.Workspaces) == 1 && p.Workspaces[0] != "*" {
		m.Workspace = p.Workspaces[0]
	}
	repository := given.Revision.Repo
	for _, i := range given.Items {
		if i.Symbol != nil {
			m.Subjects = append(m.Subjects, &recountv1.FeedbackSubject{Kind: recountv1.FeedbackSubjectKind_FEEDBACK_SUBJECT_KIND_SYMBOL, Repository: repository, Name: schemas.Clip(i.Symbol.Name, 4096), Path: schemas.Clip(i.Path, 4096)})
		}
	}
	for _, f := range given.Files {
		m.Subjects = append(m.Subjects, &recountv1.FeedbackSubject{Kind: recountv1.FeedbackSubjectKind_FEEDBACK_SUBJECT_KIND_FILE, Repository: repository, Name: schemas.Clip(f.Path, 4096)})
	}
	m.Subjects = m.Subjects[:min(len(m.Subjects), 2000)]
	return m
}
