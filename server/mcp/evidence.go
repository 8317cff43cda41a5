package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/evidence"
)

type evidenceIn struct {
	Text   string   `json:"text,omitempty" doc:"empty: the newest"`
	Open   string   `json:"open,omitempty" enum:"remembered,announced" doc:"what is open, or who works on what"`
	About  []string `json:"about,omitempty"`
	Kinds  []string `json:"kinds,omitempty" doc:"objects, commands, commits, symbols, runtime"`
	Agent  string   `json:"agent,omitempty"`
	Since  string   `json:"since,omitempty" doc:"7d, 12h or a time"`
	Here   bool     `json:"here,omitempty" doc:"only this workspace"`
	Tokens int      `json:"tokens,omitempty"`
	Limit  int      `json:"limit,omitempty"`
}

func evidences(ctx context.Context, c *call, in evidenceIn) (a answer, err error) {
	b, err := c.ask(ctx)
	if err != nil {
		return a, err
	}
	if in.Open != "" {
		return c.open(ctx, b, in)
	}
	r := evidence.Request{
		Text: in.Text, Kinds: in.Kinds, Scope: evidence.Scope{Agent: in.Agent},
		Mode: "context", Tokens: cmp.Or(in.Tokens, 1500), Limit: cmp.Or(in.Limit, 8), Include: []string{"proof"},
	}
	if r.Since, err = since("evidence", in.Since); err != nil {
		return a, err
	}
	if in.Here {
		r.Scope.Workspace = c.place(ctx).Workspace
	}
	found, err := evidence.Question.Ask(ctx, b, r)
	if err != nil {
		return a, err
	}
	basis := query.Basis{Status: found.Status, Hint: found.Hint, Watermark: found.Watermark, AppliedFilters: found.AppliedFilters, Timing: found.Timing}
	if proof, err := json.Marshal(found.Proof); err == nil {
		basis.Proof = []query.Step{{Operator: "evidence", Inputs: map[string]string{"trace": string(proof)}}}
	}
	found.Proof = nil
	a.add(evidence.Question.Path, found, basis, found.Context+textOf(struct {
		Edges []evidence.Edge `json:"relations,omitempty"`
	}{marking(found.Edges)}))
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

// open lists what is written down and still holds.
func (c *call) open(ctx context.Context, b gated, in evidenceIn) (a answer, err error) {
	workspace := ""
	if in.Here {
		workspace = c.place(ctx).Workspace
	}
	if in.Open == "announced" {
		r, err := evidence.AnnouncedQuestion.Ask(ctx, b, evidence.AnnouncedRequest{About: in.About, Agent: in.Agent, Workspace: workspace, At: time.Now().UTC(), Limit: cmp.Or(in.Limit, 8)})
		if err != nil {
			return a, err
		}
		a.add(evidence.AnnouncedQuestion.Path, r, r.Basis, textOf(r, "now"))
		return a, nil
	}
	r, err := evidence.RememberedQuestion.Ask(ctx, b, evidence.RememberedRequest{About: in.About, Agent: in.Agent, Workspace: workspace, Limit: cmp.Or(in.Limit, 8)})
	if err != nil {
		return a, err
	}
	a.add(evidence.RememberedQuestion.Path, r, r.Basis, textOf(r, "id", "position"))
	return a, nil
}
