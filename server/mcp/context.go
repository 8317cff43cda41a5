package mcp

import (
	"context"

	packing "github.com/recountdb/recount/query/context"
)

type contextIn struct {
	Task   string   `json:"task,omitempty" doc:"a description, an issue, a stack trace"`
	Files  []string `json:"files,omitempty"`
	Base   string   `json:"base,omitempty" doc:"revision before a change"`
	Head   string   `json:"head,omitempty"`
	Budget int      `json:"budget,omitempty" doc:"tokens, default 4000"`
	Tests  string   `json:"tests,omitempty" enum:"only,none"`
	scope
}

func toRead(ctx context.Context, c *call, in contextIn) (a answer, err error) {
	b, err := c.ask(ctx)
	if err != nil {
		return a, err
	}
	at := c.where(ctx, in.scope)
	r := packing.Request{
		Task: in.Task, Base: in.Base, Head: in.Head, Budget: in.Budget, Tests: in.Tests,
		Repository: at.Repo, Revision: at.At, Agent: c.agent(), Session: c.request.Session.ID(),
	}
	for _, f := range in.Files {
		r.Files = append(r.Files, c.path(ctx, f))
	}
	found, err := packing.Question.Ask(ctx, b, r)
	if err != nil {
		return a, err
	}
	text := found.Text()
	found.Hint = "" // the text says it
	basis := found.Basis
	a.add(packing.Question.Path, found, basis, text)
	return a, nil
}
