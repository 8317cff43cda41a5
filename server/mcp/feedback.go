package mcp

import (
	"context"
	"strings"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/feedback"
	"github.com/recountdb/recount/schemas"
)

type feedbackIn struct {
	Useful  []string `json:"useful,omitempty" doc:"symbols, files, command:ID or object:ID"`
	Useless []string `json:"useless,omitempty"`
	Task    string   `json:"task,omitempty"`
	About   []string `json:"about,omitempty" doc:"ask"`
	Repo    string   `json:"repo,omitempty"`
}

// judge records what was useful and what was not, or asks for what was recorded.
func judge(ctx context.Context, c *call, in feedbackIn) (a answer, err error) {
	gives := len(in.Useful)+len(in.Useless) > 0
	switch {
	case !gives && len(in.About) == 0 && strings.TrimSpace(in.Task) == "":
		return a, &argumentError{"feedback", "want useful or useless, to say it; about or task, to ask"}
	case gives && len(in.About) > 0, !gives && len(in.About) > 0 && in.Task != "":
		return a, &argumentError{"feedback", "about asks: give it alone"}
	}
	b, err := c.ask(ctx)
	if err != nil {
		return a, err
	}
	repo := in.Repo
	if repo == "" {
		repo = c.place(ctx).Repo
	}
	// The feedback is kept by the repository's whole name. A token without code has to give it.
	if shown, err := code.ShowQuestion.Ask(ctx, b, code.ShowRequest{Scope: code.Scope{Repo: repo}}); err == nil {
		repo = shown.Revision.Repo
	}
	if !gives {
		r := feedback.Request{Task: in.Task, Repository: repo, Subjects: c.judged(ctx, b, in.About)}
		found, err := feedback.Question.Ask(ctx, b, r)
		if err != nil {
			return a, err
		}
		a.add(feedback.Question.Path, found, found.Basis)
		return a, nil
	}
	var events []schemas.Event
	var missing []string
	for _, x := range []struct {
		subjects []string
		useful   bool
	}{{in.Useful, true}, {in.Useless, false}} {
		if len(x.subjects) == 0 {
			continue
		}
		subjects := c.judged(ctx, b, x.subjects)
		e, err := feedback.Given{
			Workspace: c.place(ctx).memory(), Agent: c.agent(), Session: c.request.Session.ID(),
			Task: in.Task, Repository: repo, Useful: x.useful, Subjects: subjects,
		}.Event(source)
		if err != nil {
			return a, err
		}
		events = append(events, e)
		missing = append(missing, code.Missing(ctx, b, repo, subjects)...)
	}
	done, err := b.append(ctx, "POST /v1/feedback", events)
	if err != nil {
		return a, err
	}
	basis := query.Basis{Status: query.StatusOK, Watermark: schemas.Watermark{}, Hint: strings.Join(missing, "\nnote: ")}
	for _, d := range done {
		basis.Watermark[d.Position.TP()] = d.Position.Offset + 1
	}
	a.addText("feedback", struct {
		Events any `json:"events"`
	}{done}, basis, "recorded")
	return a, nil
}

// judged returns the subjects of feedback: names of symbols and paths may stand for themselves.
func (c *call) judged(ctx context.Context, b gated, names []string) (all []string) {
	for _, name := range names {
		if kind, _, ok := strings.Cut(name, ":"); ok && (kind == "object" || kind == "command") {
			all = append(all, name)
			continue
		}
		all = append(all, c.subject(ctx, b, name))
	}
	return all
}
