package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/cmd/internal/verbs"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/terminalsearch"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/question"
)

func (a *app) searchCmd() *cobra.Command { return verbs.Search(a.Terminal, searcher{a}, a.Getenv) }

func (a *app) answerCmd() *cobra.Command { return verbs.Answer(a.Terminal, searcher{a}) }

// searcher gives who answers a search: the server, or the data directory, which is opened when there
// is a question and given back a second after the last.
type searcher struct{ *app }

// Asker implements verbs.Searcher.
func (s searcher) Asker(quiet bool) (terminalsearch.Asker, func(), error) {
	cfg, err := s.NodeConfig()
	if err != nil {
		return nil, nil, err
	}
	con := *s.Connector
	if quiet {
		t := *con.Terminal
		t.Err, t.Interactive = io.Discard, false
		con.Terminal = &t
	}
	lender := connect.NewLender(&con, cfg)
	return lentAsker{s.app, lender}, func() { _ = lender.Close() }, nil // nothing was written
}

// lentAsker asks a backend that is lent.
type lentAsker struct {
	*app
	lender *connect.Lender
}

// Search implements terminalsearch.Asker.
func (l lentAsker) Search(ctx context.Context, r commands.SearchRequest) (commands.SearchResponse, error) {
	return askLent(ctx, l, commands.SearchQuestion, r)
}

// Around implements terminalsearch.Asker.
func (l lentAsker) Around(ctx context.Context, r commands.AroundRequest) (commands.AroundResponse, error) {
	return askLent(ctx, l, commands.AroundQuestion, r)
}

// askLent asks a question. A server that does not answer is not asked again: the next question looks
// for another one.
func askLent[Q, R any](ctx context.Context, l lentAsker, q question.Question[commands.Sources, Q, R], r Q) (resp R, err error) {
	b, release, err := l.lender.Borrow(ctx, false)
	if err != nil {
		return resp, err
	}
	resp, err = q.Ask(ctx, b, r)
	release()
	var wrong *query.RequestError
	var missing *query.NotFoundError
	if err == nil || ctx.Err() != nil || b.Local != nil || errors.As(err, &wrong) || errors.As(err, &missing) {
		return resp, err
	}
	_ = l.lender.Alone(ctx, func() error { return nil })
	return resp, fmt.Errorf("%w: %w", terminalsearch.ErrAway, err)
}

// Verb implements terminalsearch.Asker.
func (l lentAsker) Verb(ctx context.Context, args ...string) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	return verbs.VerbOutput(ctx, program, append(verbs.GlobalFlags(l.DataDir, l.Config, l.Server), args...)...)
}
