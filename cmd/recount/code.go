package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/evidenceview"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/schemas"
)

// codeFlags select the scope of a question about code and how its answer is printed.
type codeFlags struct {
	scope   code.Scope
	atLeast string
	proof   bool
	limit   int
}

func (f *codeFlags) add(c *cobra.Command, limit int) {
	fl := c.Flags()
	fl.StringVar(&f.scope.Repo, "repo", "", "the repository: its name or the end of it; required if there are several")
	fl.StringVar(&f.scope.At, "at", "", "the revision: a branch, a tag, a commit, HEAD~3 (default HEAD)")
	fl.StringVar(&f.atLeast, "at-least", "", "wait until everything below these offsets is visible: TOPIC/PARTITION:NEXT,…")
	fl.BoolVar(&f.proof, "proof", false, "print the proof: the steps by which the answer was computed")
	if limit > 0 {
		fl.IntVarP(&f.limit, "limit", "n", limit, "maximum number of results")
	}
}

// where returns the scope that the flags describe.
func (f *codeFlags) where() (code.Scope, error) {
	s := f.scope
	s.Now = time.Now().UTC()
	var err error
	if s.AtLeast, err = schemas.ParseWatermark(f.atLeast); err != nil {
		return s, usage.Errorf("--at-least: %w", err)
	}
	return s, nil
}

// answered is an answer with its basis.
type answered interface{ Rests() query.Basis }

// askCode asks a question and prints the answer, for people by show. An empty answer ends with exit
// code 1.
func askCode[Q any, R answered](ctx context.Context, a *app, f *codeFlags, q code.Question[Q, R], request func(code.Scope) Q, show func(R)) error {
	scope, err := f.where()
	if err != nil {
		return err
	}
	return a.WithBackend(ctx, func(b *connect.Backend) error {
		r, err := q.Ask(ctx, b, request(scope))
		a.ClearProgress()
		if err != nil {
			return a.unanswered(err)
		}
		basis := r.Rests()
		if a.JSON {
			if err := a.PrintJSON(r); err != nil {
				return err
			}
		} else {
			show(r)
			if x, ok := any(r).(interface{ Announcements() []query.Announcement }); ok {
				a.announcedIn(x.Announcements(), scope.Now)
			}
			if basis.Hint != "" {
				a.Printf("%s\n", a.Paint(render.Dim, render.OneLine(basis.Hint)))
			}
			if f.proof {
				a.PrintProof(basis.Proof, basis.Watermark.String())
			}
		}
		if basis.Status == query.StatusEmpty {
			return exitError(exitNothing)
		}
		return nil
	})
}

// announcedIn prints in one line who has announced work on symbols of an answer: the newest, and how
// many more there are.
func (a *app) announcedIn(all []query.Announcement, now time.Time) {
	if len(all) == 0 {
		return
	}
	line := "announced: " + evidenceview.Announcement(all[0], now)
	if len(all) > 1 {
		line += fmt.Sprintf("; and %d more: recount announced", len(all)-1)
	}
	a.Printf("%s\n", a.Paint(render.Yellow, line))
}
