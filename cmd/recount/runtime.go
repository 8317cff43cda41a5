package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/runtime"
	"github.com/recountdb/recount/schemas"
)

func (a *app) runtimeCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "runtime",
		Short: "Ask what runs: traffic, calls, traces, joined to the code behind them",
		Long: `Ask what spans (OTLP) and access logs show of a running system, joined to the code that
was imported: who calls whom, how often and how well, which code handles it, and who
changed that last.`,
	}
	c.AddCommand(a.runtimeTrafficCmd(), a.runtimeEdgesCmd(), a.runtimeServicesCmd(), a.runtimeDeadRoutesCmd(), a.runtimeStatsCmd(), a.runtimeTraceCmd())
	return c
}

// windowFlags select the spans of a question and the state to answer from.
type windowFlags struct {
	since, from, to, at, atLeast string
	proof                        bool
	limit                        int
}

func (w *windowFlags) add(c *cobra.Command, limit int) {
	w.addRange(c)
	f := c.Flags()
	f.StringVar(&w.at, "at", "", "the moment that is now, for confidence and for --since: a time (default now)")
	f.StringVar(&w.atLeast, "at-least", "", "wait until everything below these offsets is visible: TOPIC/PARTITION:NEXT,…")
	f.BoolVar(&w.proof, "proof", false, "print how the answer came about")
	if limit > 0 {
		f.IntVarP(&w.limit, "limit", "n", limit, "how many at most")
	}
}

// addRange adds only the flags for the time range.
func (w *windowFlags) addRange(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&w.since, "since", "", "only what happened since then: 24h, 7d, 2026-11-20, or RFC 3339")
	f.StringVar(&w.from, "from", "", "the same as --since")
	f.StringVar(&w.to, "to", "", "only what happened before this time")
}

// window returns the window that the flags describe; relative times count back from now.
func (w *windowFlags) window(now time.Time) (r runtime.Window, err error) {
	if w.since != "" && w.from != "" {
		return r, usagef("--since and --from: give one of them")
	}
	if r.At, err = parseWhen(now, w.at); err != nil {
		return r, usagef("--at %q: %w", w.at, err)
	}
	if r.At.IsZero() {
		r.At = now.UTC()
	}
	for _, f := range []struct {
		name, text string
		into       *time.Time
	}{{"since", w.since, &r.From}, {"from", w.from, &r.From}, {"to", w.to, &r.To}} {
		if f.text == "" {
			continue
		}
		if *f.into, err = parseWhen(r.At, f.text); err != nil {
			return r, usagef("--%s %q: %w", f.name, f.text, err)
		}
	}
	if r.AtLeast, err = schemas.ParseWatermark(w.atLeast); err != nil {
		return r, usagef("--at-least: %w", err)
	}
	return r, nil
}

// askRuntime asks a question and prints the answer, for people by show. An empty answer ends with
// exit code 1.
func askRuntime[Q any, R answered](ctx context.Context, a *app, f *windowFlags, q runtime.Question[Q, R], request func(runtime.Window) Q, show func(R)) error {
	w, err := f.window(time.Now())
	if err != nil {
		return err
	}
	return a.withBackend(ctx, func(b *backend) error {
		r, err := q.Ask(ctx, b, request(w))
		a.ClearProgress()
		if err != nil {
			return a.unanswered(err)
		}
		return a.answerRuntime(f.proof, r, r.Rests(), func() { show(r) })
	})
}

// answerRuntime prints an answer in the requested form, and fails if the answer is empty.
func (a *app) answerRuntime(proof bool, answer any, basis query.Basis, show func()) error {
	if a.JSON {
		if err := a.PrintJSON(answer); err != nil {
			return err
		}
	} else {
		show()
		if basis.Hint != "" {
			a.Printf("%s\n", a.Paint(render.Dim, render.OneLine(basis.Hint)))
		}
		if proof {
			a.PrintProof(basis.Proof, basis.Watermark.String())
		}
	}
	if basis.Status == query.StatusEmpty {
		return exitError(exitNothing)
	}
	return nil
}

// completeServices completes the names of services that send spans.
func (a *app) completeServices(c *cobra.Command) {
	offer := a.complete(1, func(ctx context.Context, b *backend, _ *cobra.Command, typed string) ([]cobra.Completion, error) {
		r, err := runtime.ServicesQuestion.Ask(ctx, b, runtime.ServicesRequest{})
		if err != nil {
			return nil, err
		}
		var out []cobra.Completion
		for _, s := range r.Services {
			if strings.HasPrefix(s.Name, typed) && !s.Outside {
				out = append(out, cobra.CompletionWithDesc(s.Name, render.Thousands(int64(s.Spans))+" spans"))
			}
		}
		return out, nil
	})
	_ = c.RegisterFlagCompletionFunc("service", offer) // fails only for a flag that does not exist
}
