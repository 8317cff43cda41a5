package main

import (
	"context"
	"path/filepath"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
	"github.com/recountdb/recount/server/runs"
)

// replays returns what executes plans for the agent.
func (a *app) replays(cfg node.Config, lender *connect.Lender) (*runs.Runs, error) {
	redactor, err := connect.Redactor(cfg)
	if err != nil {
		return nil, err
	}
	data, err := filepath.Abs(cfg.DataDir)
	if err != nil {
		return nil, err
	}
	state, err := a.StateDir("recount-replays")
	if err != nil {
		return nil, err
	}
	return runs.New(runs.Options{Log: lentLog{lender}, Redact: redactor, State: state, Hide: []string{data}, Getenv: a.Getenv}), nil
}

// lentLog is the log of whatever backend is lent at the time: a run asks for it step by step, so that other
// verbs can use the data directory while a step runs.
type lentLog struct{ lender *connect.Lender }

func (l lentLog) Answer(ctx context.Context, path string, request, response any) error {
	b, release, err := l.lender.Borrow(ctx, false)
	if err != nil {
		return err
	}
	defer release()
	return b.Answer(ctx, path, request, response)
}

func (l lentLog) Append(ctx context.Context, events []schemas.Event) ([]api.Appended, error) {
	b, release, err := l.lender.Borrow(ctx, true)
	if err != nil {
		return nil, err
	}
	defer release()
	return b.Append(ctx, events)
}

func (l lentLog) Show(ctx context.Context, ref string) (commands.ShowResponse, error) {
	b, release, err := l.lender.Borrow(ctx, false)
	if err != nil {
		return commands.ShowResponse{}, err
	}
	defer release()
	return b.Show(ctx, ref)
}
