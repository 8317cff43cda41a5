package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/query/recall"
)

type evidenceIn struct {
	Text   string   `json:"text,omitempty" doc:"empty: the newest"`
	View   string   `json:"view,omitempty" enum:"open,announced,brief,recall,failed" doc:"recall: what bears on text; failed: failures alike"`
	About  []string `json:"about,omitempty"`
	Kinds  []string `json:"kinds,omitempty" doc:"objects, commands, commits, symbols, runtime"`
	Agent  string   `json:"agent,omitempty"`
	Since  string   `json:"since,omitempty" doc:"7d or time"`
	Here   *bool    `json:"here,omitempty" doc:"this workspace (open: yes)"`
	Tokens int      `json:"tokens,omitempty"`
	Limit  int      `json:"limit,omitempty"`
}

func evidences(ctx context.Context, c *call, in evidenceIn) (a answer, err error) {
	b, err := c.ask(ctx)
	if err != nil {
		return a, err
	}
	switch in.View {
	case "open", "announced":
		return c.open(ctx, b, in)
	case "brief", "recall", "failed":
		return c.recall(ctx, b, in)
	}
	r := evidence.Request{
		Text: in.Text, Kinds: in.Kinds, Scope: evidence.Scope{Agent: in.Agent},
		Mode: "context", Tokens: cmp.Or(in.Tokens, 1500), Limit: cmp.Or(in.Limit, 8), Include: []string{"proof"},
	}
	if r.Since, err = since("evidence", in.Since); err != nil {
		return a, err
	}
	r.Scope.Workspace = c.here(ctx, in, false)
	found, err := evidence.Question.Ask(ctx, b, r)
	if err != nil {
		return a, err
	}
	basis := query.Basis{Status: found.Status, Hint: found.Hint, Watermark: found.Watermark, AppliedFilters: found.AppliedFilters, Timing: found.Timing}
	if proof, err := json.Marshal(found.Proof); err == nil {
		basis.Proof = []query.Step{{Operator: "evidence", Inputs: map[string]string{"trace": string(proof)}}}
	}
	found.Proof = nil
	a.addText(evidence.Question.Path, found, basis, found.Context)
	if marks := marking(found.Edges); len(marks) > 0 {
		a.add("relations", struct {
			Edges []evidence.Edge `json:"relations"`
		}{marks}, query.Basis{Status: query.StatusOK, Watermark: found.Watermark})
	}
	return a, nil
}

// marking are the edges that say that an object is not to be relied on.
func marking(edges []evidence.Edge) (some []evidence.Edge) {
	for _, e := range edges {
		switch e.Kind {
		case "contradicts", "supersedes":
			some = append(some, e)
		}
	}
	return some
}

// recall answers with what to be reminded of, as the hooks with recall give it: the text is the
// question's own, whose quoted lines begin with "> ".
func (c *call) recall(ctx context.Context, b gated, in evidenceIn) (a answer, err error) {
	workspace := c.here(ctx, in, in.View == "brief")
	var r recall.Response
	q := recall.RecallQuestion.Path
	switch in.View {
	case "brief":
		q = recall.BriefQuestion.Path
		r, err = recall.BriefQuestion.Ask(ctx, b, recall.BriefRequest{Workspace: workspace, Agent: in.Agent, Tokens: in.Tokens, Now: time.Now().UTC()})
	case "recall":
		r, err = recall.RecallQuestion.Ask(ctx, b, recall.Request{Text: in.Text, Workspace: workspace, Agent: in.Agent, Tokens: in.Tokens, Now: time.Now().UTC()})
	default:
		command, output, _ := strings.Cut(in.Text, "\n")
		r, err = recall.RecallQuestion.Ask(ctx, b, recall.Request{On: recall.OnFailure, Command: command, Output: output, Workspace: workspace, Agent: in.Agent, Tokens: in.Tokens, Now: time.Now().UTC()})
	}
	if err != nil {
		return a, err
	}
	a.addText(q, r, r.Basis, r.Text)
	return a, nil
}

// open lists what is written down and still holds.
func (c *call) open(ctx context.Context, b gated, in evidenceIn) (a answer, err error) {
	workspace := c.here(ctx, in, true)
	if in.View == "announced" {
		asked := evidence.AnnouncedRequest{About: in.About, Agent: in.Agent, Workspace: workspace, At: time.Now().UTC(), Limit: cmp.Or(in.Limit, 8)}
		asked.About = evidence.Around(ctx, b, c.place(ctx).Repo, asked)
		r, err := evidence.AnnouncedQuestion.Ask(ctx, b, asked)
		if err != nil {
			return a, err
		}
		a.add(evidence.AnnouncedQuestion.Path, r, r.Basis, "now")
		return a, nil
	}
	r, err := evidence.RememberedQuestion.Ask(ctx, b, evidence.RememberedRequest{About: in.About, Agent: in.Agent, Workspace: workspace, Limit: cmp.Or(in.Limit, 8)})
	if err != nil {
		return a, err
	}
	for i := range r.Items { // a title that begins the text says nothing more
		if x := &r.Items[i]; strings.HasPrefix(x.Text, strings.TrimSuffix(x.Title, "…")) {
			x.Title = ""
		}
	}
	a.add(evidence.RememberedQuestion.Path, r, r.Basis, "id", "position")
	return a, nil
}

// here returns the client's workspace if the question is about it, "" if it is about all. usual is whether it is if the
// client says nothing.
func (c *call) here(ctx context.Context, in evidenceIn, usual bool) string {
	if in.Here != nil {
		usual = *in.Here
	}
	if !usual {
		return ""
	}
	return c.place(ctx).memory()
}
