package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/cmd/internal/verbs"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render/runtimeview"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/runtime"
)

// narrator answers the verbs about narratives.
type narrator struct{ *app }

// Asking implements verbs.Narrator: by is the server, or the data directory.
func (n narrator) Asking(ctx context.Context, fn func(by verbs.Answers) error) error {
	return n.WithBackend(ctx, func(b *connect.Backend) error { return n.unanswered(fn(answers{b, n.app})) })
}

// answers is a backend whose progress disappears when it has answered.
type answers struct {
	*connect.Backend
	app *app
}

// Answer implements verbs.Answers.
func (a answers) Answer(ctx context.Context, path string, request, response any) error {
	defer a.app.ClearProgress()
	return a.Backend.Answer(ctx, path, request, response)
}

// Show implements verbs.Answers.
func (a answers) Show(ctx context.Context, ref string) (commands.ShowResponse, error) {
	defer a.app.ClearProgress()
	return a.Backend.Show(ctx, ref)
}

// command finds the command that a verb is about.
func (a *app) command() verbs.Subject { return verbs.Subject{Getenv: a.Getenv, Note: a.Note} }

// ref returns the reference in args, or the last failure.
func (a *app) ref(ctx context.Context, b *connect.Backend, args []string) (string, error) {
	s := a.command()
	return s.Ref(ctx, answers{b, a}, args, query.Moment{})
}

func (a *app) showCmd() *cobra.Command {
	c := verbs.Show(a.Terminal, narrator{a}, a.showObject)
	c.ValidArgsFunction = a.completeIDs("", 1)
	return c
}

func (a *app) whyCmd() *cobra.Command {
	c := verbs.Why(a.Terminal, narrator{a}, a.command(), a.whySpan)
	c.ValidArgsFunction = a.completeIDs("fail", 1)
	return c
}

func (a *app) stitchCmd() *cobra.Command {
	c := verbs.Stitch(a.Terminal, narrator{a}, a.command())
	c.ValidArgsFunction = a.completeIDs("", 1)
	return c
}

func (a *app) insightsCmd() *cobra.Command {
	c := verbs.Insights(a.Terminal, narrator{a})
	_ = c.RegisterFlagCompletionFunc("after", a.completeIDs("", 1))
	return c
}

// whySpan prints what led to a failing span if the reference names no command and has the form of a
// trace's or span's id; otherwise mine is false.
func (a *app) whySpan(ctx context.Context, by verbs.Answers, w *verbs.WalkFlags, ref string, limit int, asked error) (mine bool, err error) {
	var missing *query.NotFoundError
	if !errors.As(asked, &missing) || !runtime.NamesSpan(ref) {
		return false, nil
	}
	if w.OfCommands() {
		return true, usage.Errorf("--dot, --mermaid and --as-of: only for commands, but %q names a span", ref)
	}
	r, err := runtime.WhyQuestion.Ask(ctx, by, runtime.SpanWhyRequest{Window: runtime.Window{At: time.Now().UTC()}, Ref: ref, Limit: limit})
	a.ClearProgress()
	if errors.As(err, &missing) && len(ref) == 16 { // a trace's id is no beginning of a command's
		missing.Hint += "; and no command's id starts with it"
	}
	if err != nil {
		return true, a.unanswered(err)
	}
	return true, a.printAnswer(r, r.Basis, w.Proof, func() {
		runtimeview.Why(a.Terminal, r)
		a.hint(r.Basis)
	})
}
