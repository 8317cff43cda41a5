package mcp

import (
	"cmp"
	"context"
	"fmt"

	packing "github.com/recountdb/recount/query/context"
)

type contextIn struct {
	Task   string   `json:"task,omitempty" doc:"description, issue, stack trace"`
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
	budget := cmp.Or(in.Budget, packing.DefaultBudget)
	if budget < minBudget || budget > packing.MaxBudget {
		return a, &argumentError{"context", fmt.Sprintf("budget: %d tokens: want %d to %d", budget, minBudget, packing.MaxBudget)}
	}
	r.Budget = budget
	return pack(ctx, b, r, budget)
}

// minBudget is the minimum budget of a context in tokens: the text also explains itself.
const minBudget = 256

// pack asks with the budget of r. The budget of the call is that of the text as it is sent.
func pack(ctx context.Context, b gated, r packing.Request, budget int) (a answer, err error) {
	found, err := packing.Question.Ask(ctx, b, r)
	if err != nil {
		return a, err
	}
	a.add(packing.Question.Path, found, found.Basis)
	a.budget = budget
	a.again = func(smaller int) (answer, error) {
		r.Budget = smaller
		return pack(ctx, b, r, budget)
	}
	return a, nil
}
