package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render/runtimeview"
	"github.com/recountdb/recount/internal/timespec"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query/runtime"
	"github.com/recountdb/recount/schemas"
)

func (a *app) runtimeCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "runtime",
		Short: "Query running services: traffic, calls and traces, joined to their code",
		Long: `Query what spans (OTLP) and access logs show about a running system, joined to the
imported code: who calls whom, how often, with which errors and latencies, which code
handles the calls, and who changed that code last.`,
	}
	c.AddCommand(a.runtimeTrafficCmd(), a.runtimeSeriesCmd(), a.runtimeEdgesCmd(), a.runtimeServicesCmd(), a.runtimeDeadRoutesCmd(), a.runtimeStatsCmd(), a.runtimeTracesCmd(), a.runtimeTraceCmd())
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
	f.StringVar(&w.at, "at", "", "the time to use as now, for confidence and for --since (default now)")
	f.StringVar(&w.atLeast, "at-least", "", "wait until everything below these offsets is visible: TOPIC/PARTITION:NEXT,…")
	f.BoolVar(&w.proof, "proof", false, "print the proof: the steps by which the answer was computed")
	if limit > 0 {
		f.IntVarP(&w.limit, "limit", "n", limit, "maximum number of results")
	}
}

// addRange adds only the flags for the time range.
func (w *windowFlags) addRange(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&w.since, "since", "", "only what happened at this time or later: 24h, 7d, 2026-11-20, or RFC 3339")
	f.StringVar(&w.from, "from", "", "the same as --since")
	f.StringVar(&w.to, "to", "", "only what happened before this time")
}

// window returns the window that the flags describe; relative times count back from now.
func (w *windowFlags) window(now time.Time) (r runtime.Window, err error) {
	if w.since != "" && w.from != "" {
		return r, usage.Errorf("--since and --from: give one of them")
	}
	if r.At, err = timespec.Parse(now, w.at); err != nil {
		return r, usage.Errorf("--at %q: %w", w.at, err)
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
		if *f.into, err = timespec.Parse(r.At, f.text); err != nil {
			return r, usage.Errorf("--%s %q: %w", f.name, f.text, err)
		}
	}
	if r.AtLeast, err = schemas.ParseWatermark(w.atLeast); err != nil {
		return r, usage.Errorf("--at-least: %w", err)
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
	return a.WithBackend(ctx, func(b *connect.Backend) error {
		r, err := q.Ask(ctx, b, request(w))
		a.ClearProgress()
		if err != nil {
			return a.unanswered(err)
		}
		return a.printAnswer(r, r.Rests(), f.proof, func() {
			show(r)
			a.hint(r.Rests())
		})
	})
}

func (a *app) runtimeDeadRoutesCmd() *cobra.Command {
	var f windowFlags
	var repo string
	c := &cobra.Command{
		Use:   "dead-routes",
		Short: "Show routes and procedures that are never called",
		Long: `Show routes and procedures of the code that no span shows since a given time, although
their services sent spans. Folders whose services sent no spans are listed separately,
because this cannot be decided for them. Exits with 1 if there are none.`,
		Example: `  recount runtime dead-routes --since 30d
  recount runtime dead-routes --repo shop --json`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return askRuntime(cmd.Context(), a, &f, runtime.DeadRoutesQuestion, func(w runtime.Window) runtime.DeadRoutesRequest {
				return runtime.DeadRoutesRequest{Window: w, Repo: repo, Limit: f.limit}
			}, func(r runtime.DeadRoutesResponse) { runtimeview.DeadRoutes(a.Terminal, r) })
		},
	}
	f.add(c, runtime.DefaultLimit)
	c.Flags().StringVar(&repo, "repo", "", "only routes of this repository: its name, or the end of it")
	return c
}

func (a *app) runtimeEdgesCmd() *cobra.Command {
	var f windowFlags
	var service string
	var failing, slow, undeclared bool
	c := &cobra.Command{
		Use:   "edges",
		Short: "Show calls between services, with confidence and the code that makes them",
		Long: `Show the calls between services that spans show, and calls to services without spans.
The confidence that a call still happens depends on how often and how recently it was
seen in the last seven days. --undeclared shows only calls that the caller's code does
not make, as far as its repository is known. Exits with 1 if there are none.`,
		Example: `  recount runtime edges --since 7d
  recount runtime edges --slow --service carts
  recount runtime edges --undeclared --json`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if failing && slow {
				return usage.Errorf("--failing and --slow: give one of them")
			}
			return askRuntime(cmd.Context(), a, &f, runtime.EdgesQuestion, func(w runtime.Window) runtime.EdgesRequest {
				return runtime.EdgesRequest{Window: w, Service: service, Failing: failing, Slow: slow, Undeclared: undeclared, Limit: f.limit}
			}, func(r runtime.EdgesResponse) { runtimeview.Edges(a.Terminal, r) })
		},
	}
	f.add(c, runtime.DefaultLimit)
	c.Flags().StringVar(&service, "service", "", "only calls from or to this service")
	c.Flags().BoolVar(&failing, "failing", false, "only failures, those with the most errors first")
	c.Flags().BoolVar(&slow, "slow", false, "order by p95 latency, the slowest first")
	c.Flags().BoolVar(&undeclared, "undeclared", false, "only calls that the caller's code does not declare")
	a.completeServices(c)
	return c
}

func (a *app) runtimeSeriesCmd() *cobra.Command {
	var f windowFlags
	var service string
	var buckets int
	c := &cobra.Command{
		Use:   "series [OPERATION]",
		Short: "Show traffic over time: requests, errors and latencies by buckets",
		Long: `Show how many requests services got over time, how many failed, and how long they took,
for all operations together or for those that contain OPERATION. A bucket is a whole
number of minutes, or of hours for a range longer than two days. Exits with 1 if there
were no requests.`,
		Example: `  recount runtime series --since 24h
  recount runtime series /orders --service carts --buckets 60 --since 1h
  recount runtime series --since 7d --json | jq '.buckets[] | [.from, .count, .errors]'`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if buckets <= 0 { // zero in a flag is no default
				return usage.Errorf("--buckets %d: want 1 to %d", buckets, runtime.MaxBuckets)
			}
			return askRuntime(cmd.Context(), a, &f, runtime.SeriesQuestion, func(w runtime.Window) runtime.SeriesRequest {
				return runtime.SeriesRequest{Window: w, Service: service, Operation: strings.Join(args, ""), Buckets: buckets}
			}, func(r runtime.SeriesResponse) { runtimeview.Series(a.Terminal, r) })
		},
	}
	f.add(c, 0)
	c.Flags().StringVar(&service, "service", "", "only this service")
	c.Flags().IntVar(&buckets, "buckets", runtime.DefaultBuckets, "maximum number of buckets")
	a.completeServices(c)
	return c
}

func (a *app) runtimeServicesCmd() *cobra.Command {
	var f windowFlags
	var after string
	var dot, mermaid bool
	c := &cobra.Command{
		Use:   "services",
		Short: "Show the service map: services, their repositories, and the calls between them",
		Long: `Show the services that send spans, with their versions and the repository that each is
built from, and the calls between them. Exits with 1 if there are none.`,
		Example: `  recount runtime services --since 24h
  recount runtime services --mermaid
  recount runtime services --dot | dot -Tsvg > services.svg`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if (dot && mermaid) || a.JSON && (dot || mermaid) {
				return usage.Errorf("--json, --dot and --mermaid: give one of them")
			}
			return askRuntime(cmd.Context(), a, &f, runtime.ServicesQuestion, func(w runtime.Window) runtime.ServicesRequest {
				return runtime.ServicesRequest{Window: w, After: after, Limit: f.limit}
			}, func(r runtime.ServicesResponse) {
				switch {
				case dot:
					a.Printf("%s", runtimeview.ServicesDiagram(r).Dot())
				case mermaid:
					a.Printf("%s", runtimeview.ServicesDiagram(r).Mermaid())
				default:
					runtimeview.Services(a.Terminal, r)
				}
			})
		},
	}
	f.add(c, runtime.DefaultServices)
	c.Flags().StringVar(&after, "after", "", "the next page: the value that the previous page names at its end")
	c.Flags().BoolVar(&dot, "dot", false, "print a diagram for Graphviz: … --dot | dot -Tsvg")
	c.Flags().BoolVar(&mermaid, "mermaid", false, "print a diagram for Mermaid, as Markdown on many sites shows it")
	return c
}

func (a *app) runtimeStatsCmd() *cobra.Command {
	var f windowFlags
	c := &cobra.Command{
		Use:   "stats",
		Short: "Count services, operations and calls, and how many are joined to code",
		Example: `  recount runtime stats
  recount runtime stats --since 7d --json`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return askRuntime(cmd.Context(), a, &f, runtime.StatsQuestion, func(w runtime.Window) runtime.StatsRequest {
				return runtime.StatsRequest{Window: w}
			}, func(r runtime.StatsResponse) { runtimeview.Stats(a.Terminal, r) })
		},
	}
	f.add(c, 0)
	return c
}

func (a *app) runtimeTracesCmd() *cobra.Command {
	var f windowFlags
	var service string
	var failing, slow bool
	var longer time.Duration
	c := &cobra.Command{
		Use:   "traces [OPERATION]",
		Short: "List the newest traces, or the failing or slow ones, to look into",
		Long: `List the newest traces that have a span of OPERATION (a part of its name), of a service,
that failed, or that took long: each with its first operation, duration, services and
failures. Spans are read from the end of the log backwards, 200,000 at most; if that is
not enough for the range, the answer says how far it looked. Exits with 1 if there are
none.`,
		Example: `  recount runtime traces --failing --since 1h
  recount runtime traces /orders --slow --since 24h -n 5
  recount runtime traces --service carts --longer 250ms
  recount why $(recount runtime traces --failing -n 1 --json | jq -r '.traces[0].trace')`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return askRuntime(cmd.Context(), a, &f, runtime.TracesQuestion, func(w runtime.Window) runtime.TracesRequest {
				return runtime.TracesRequest{Window: w, Service: service, Operation: strings.Join(args, ""), Failing: failing, Longer: longer.Nanoseconds(), Slow: slow, Limit: f.limit}
			}, func(r runtime.TracesResponse) { runtimeview.Traces(a.Terminal, r) })
		},
	}
	f.add(c, runtime.DefaultTraces)
	c.Flags().StringVar(&service, "service", "", "only traces with such a span of this service")
	c.Flags().BoolVar(&failing, "failing", false, "only traces in which such a span failed")
	c.Flags().DurationVar(&longer, "longer", 0, "only traces in which such a span took at least this long: 250ms, 2s")
	c.Flags().BoolVar(&slow, "slow", false, "the slowest first, and not the newest")
	a.completeServices(c)
	return c
}

func (a *app) runtimeTraceCmd() *cobra.Command {
	var f windowFlags
	var failing, attributes bool
	c := &cobra.Command{
		Use:   "trace ID",
		Short: "Show a trace as a tree, with the code behind each span and who changed it last",
		Long: `Read a trace's spans from the log and show them as a tree: the duration and status of
each, the code that handles it, the last earlier commit that changed that code, and
below the tree, for each service, the deploy before the trace. Attributes of agents
(gen_ai) are shown. A span whose parent is missing is shown at the top and marked; a
cycle is cut above its earliest span. Exits with 1 if the trace is not known.`,
		Example: `  recount runtime trace 5b8efff798038103d269b633813fc60c
  recount runtime trace 5b8efff798038103d269b633813fc60c --failing
  recount runtime trace 5b8efff798038103d269b633813fc60c --attributes --json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return askRuntime(cmd.Context(), a, &f, runtime.TraceQuestion, func(w runtime.Window) runtime.TraceRequest {
				return runtime.TraceRequest{Window: w, Trace: args[0], Failing: failing, Attributes: attributes, Limit: f.limit}
			}, func(r runtime.TraceResponse) { runtimeview.Trace(a.Terminal, r) })
		},
	}
	f.add(c, runtime.DefaultSpans)
	c.Flags().BoolVar(&failing, "failing", false, "only failing spans and their ancestors")
	c.Flags().BoolVar(&attributes, "attributes", false, "all attributes of the spans")
	return c
}

func (a *app) runtimeTrafficCmd() *cobra.Command {
	var f windowFlags
	var service string
	var failing, slow bool
	c := &cobra.Command{
		Use:   "traffic [OPERATION]",
		Short: "Show the operations of services: counts, errors, latencies and handlers",
		Long: `Show the operations of each service: requests, failures, latencies (accurate to 1 %),
and the code that handles them, with the rule that found it. OPERATION is a part of a
route, a procedure or a topic. Exits with 1 if there are none.`,
		Example: `  recount runtime traffic --since 24h
  recount runtime traffic --failing --service carts
  recount runtime traffic /orders --slow --json`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if failing && slow {
				return usage.Errorf("--failing and --slow: give one of them")
			}
			return askRuntime(cmd.Context(), a, &f, runtime.TrafficQuestion, func(w runtime.Window) runtime.TrafficRequest {
				return runtime.TrafficRequest{Window: w, Service: service, Operation: strings.Join(args, ""), Failing: failing, Slow: slow, Limit: f.limit}
			}, func(r runtime.TrafficResponse) { runtimeview.Traffic(a.Terminal, r) })
		},
	}
	f.add(c, runtime.DefaultLimit)
	c.Flags().StringVar(&service, "service", "", "only this service")
	c.Flags().BoolVar(&failing, "failing", false, "only failures, those with the most errors first")
	c.Flags().BoolVar(&slow, "slow", false, "order by p95 latency, the slowest first")
	a.completeServices(c)
	return c
}
