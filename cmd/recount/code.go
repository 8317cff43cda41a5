package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/git"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/codeview"
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
	fl.StringVar(&f.scope.Repo, "repo", "", "the repository: its name or the end of it (default that of the working directory, if there are several)")
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
// code 1. typed are the ranges of revisions that request uses.
func askCode[Q any, R answered](ctx context.Context, a *app, f *codeFlags, q code.Question[Q, R], request func(code.Scope) Q, show func(R), typed ...*string) error {
	scope, err := f.where()
	if err != nil {
		return err
	}
	return a.WithBackend(ctx, func(b *connect.Backend) error {
		var r R
		ask := func() (query.Basis, error) {
			err := a.inRepository(ctx, &scope.Repo, func() (err error) {
				r, err = q.Ask(ctx, b, request(scope))
				return err
			})
			return r.Rests(), err
		}
		err := a.inClone(ctx, b.Local == nil, append(typed, &scope.At), ask)
		a.ClearProgress()
		if err != nil {
			var missing *query.NotFoundError
			if errors.As(err, &missing) && missing.Kind == "" && f.scope.Repo == "" && f.scope.At == "" {
				a.lacksHead(ctx, &scope.At, ask)
			}
			return a.unanswered(err)
		}
		return a.printAnswer(r, r.Rests(), f.proof, func() {
			show(r)
			if x, ok := any(r).(interface{ Announcements() []query.Announcement }); ok {
				a.announcedIn(x.Announcements(), scope.Now)
			}
			a.hint(r.Rests())
		})
	})
}

// inClone asks a question about code. The revisions and ranges in typed, "" for the default, are those of the
// clone that the working directory is in: what was imported may know older commits by their names. It fails
// if such a commit was not imported, and warns if the default is not HEAD of the clone.
func (a *app) inClone(ctx context.Context, served bool, typed []*string, ask func() (query.Basis, error)) error {
	dir, _ := os.Getwd()
	var revs, were []string
	for _, t := range typed {
		were = append(were, *t)
		if from, to, ranged := strings.Cut(*t, ".."); ranged {
			revs = append(revs, cmp.Or(from, "HEAD"), cmp.Or(to, "HEAD"))
		} else if *t != "" {
			revs = append(revs, *t)
		}
	}
	if len(revs) == 0 {
		rests, err := ask()
		if commits := commitsOf(rests); err == nil && len(commits) > 0 {
			if behind := behindClone(ctx, dir, served, commits[len(commits)-1]); behind != "" {
				a.ClearProgress()
				a.Note("%s: recount import git .", behind)
			}
		}
		return err
	}
	meant := git.Meant(ctx, dir, revs...)
	if meant == nil {
		_, err := ask()
		return err
	}
	i := 0
	for _, t := range typed {
		if strings.Contains(*t, "..") {
			*t = meant[i] + ".." + meant[i+1]
			i += 2
		} else if *t != "" {
			*t = meant[i]
			i++
		}
	}
	_, err := ask()
	var missing *query.NotFoundError
	if !errors.As(err, &missing) || missing.Kind != query.UnknownRevision && missing.Kind != query.UnknownImport {
		return err
	}
	for i, t := range typed {
		*t = were[i]
	}
	at := slices.Index(meant, missing.Ref)
	rests, err := ask()
	var graph *query.NotFoundError
	if at >= 0 && errors.As(err, &graph) && graph.Kind == query.UnknownGraph {
		return fmt.Errorf("%s is %.7s here, which is not imported: run `recount import git .`", revs[at], meant[at])
	}
	known := commitsOf(rests)
	if err != nil || len(known) != len(meant) || git.Meant(ctx, dir, known...) == nil {
		return err // about another repository
	}
	if at >= 0 {
		return fmt.Errorf("%s is %.7s here, imported is %.7s: run `recount import git .`", revs[at], meant[at], known[at])
	}
	return nil // both mean the same
}

// lacksHead tells if HEAD of the clone that the working directory is in is not imported: what a question at the
// default revision did not find may be in it. at is the revision that the question is about.
func (a *app) lacksHead(ctx context.Context, at *string, ask func() (query.Basis, error)) {
	dir, _ := os.Getwd()
	head := git.Meant(ctx, dir, "HEAD")
	if head == nil {
		return
	}
	*at = head[0]
	var missing *query.NotFoundError
	if _, err := ask(); errors.As(err, &missing) && missing.Kind == query.UnknownRevision {
		a.ClearProgress()
		a.Note("HEAD is %.7s here, which is not imported: recount import git .", head[0])
	}
}

// commitsOf returns the commits whose snapshots an answer rests on.
func commitsOf(rests query.Basis) (all []string) {
	for _, step := range rests.Proof {
		if step.Operator == "snapshot" {
			all = append(all, step.Inputs["commit"])
		}
	}
	return all
}

// watchLag is how long a server may take to import a commit that it sees appear.
const watchLag = 10 * time.Second

// behindClone says that a commit is not HEAD of the clone that a directory is in, "" if it is or is not a
// commit of it. A server may be about to import what was committed just now.
func behindClone(ctx context.Context, dir string, served bool, commit string) string {
	at := git.Meant(ctx, dir, "HEAD", commit)
	if at == nil || at[0] == at[1] {
		return ""
	}
	behind, ahead, newest, err := git.Apart(ctx, dir, commit)
	if err != nil || served && ahead == 0 && time.Since(newest) < watchLag {
		return ""
	}
	var apart []string
	if behind > 0 {
		apart = append(apart, render.Count(behind, "commit")+" behind")
	}
	if ahead > 0 {
		apart = append(apart, render.Count(ahead, "commit")+" that it lacks")
	}
	return fmt.Sprintf("HEAD is %.7s, imported is %.7s (%s)", at[0], commit, strings.Join(apart, ", "))
}

// inRepository asks a question about code. If it names no repository and several were imported, it is
// asked again about that of the working directory, if that is one of them.
func (a *app) inRepository(ctx context.Context, repo *string, ask func() error) error {
	err := ask()
	var several *code.AmbiguousNameError
	if *repo != "" || !errors.As(err, &several) || !several.OfRepository() {
		return err
	}
	// Where git does not know, the user has to say.
	dir, _ := os.Getwd()
	here, _ := repositoryOf(ctx, dir)
	if here == "" || !slices.ContainsFunc(several.Candidates, func(c code.NameCandidate) bool { return c.Name == here }) {
		return fmt.Errorf("%w\n--repo names it, also by the end of its name; in a clone of one of them it is that one", err)
	}
	*repo = here
	return ask()
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

func (a *app) routesCmd() *cobra.Command {
	var f codeFlags
	var method string
	var tests bool
	c := &cobra.Command{
		Use:   "routes [PATTERN]",
		Short: "List HTTP routes and their handlers",
		Long: `List the routes of a revision with their handlers. PATTERN is a part of the path, or
the path of a request: /orders/42 finds /orders/{id}; it may begin with a method.
Decorators of a handler are shown; middleware that is set up in other ways is not known.
Exits with 1 if there are none.`,
		Example: `  recount routes
  recount routes /orders/42 --repo shop
  recount routes "POST /orders" --json`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeRoutes(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return askCode(cmd.Context(), a, &f, code.RoutesQuestion, func(s code.Scope) code.RoutesRequest {
				return code.RoutesRequest{Scope: s, Pattern: strings.Join(args, ""), Method: method, Tests: tests, Limit: f.limit}
			}, func(r code.RoutesResponse) { codeview.Routes(a.Terminal, r) })
		},
	}
	f.add(c, code.DefaultLimit)
	c.Flags().StringVar(&method, "method", "", "only routes for this method or for any method")
	c.Flags().BoolVar(&tests, "tests", false, "include routes of tests")
	return c
}

func (a *app) ownersCmd() *cobra.Command {
	var f codeFlags
	var commits int
	var symbols bool
	c := &cobra.Command{
		Use:   "owners PATH|SYMBOL",
		Short: "Show the owners and authors of a file or a symbol",
		Long: `Show the owners by the revision's CODEOWNERS, with the rule, and the authors of the
file's changes in earlier commits, by number of commits. For a symbol, also show who
added it and who changed it last, including before it moved from another file;
--symbols does so for every symbol of a file. This comes from the snapshots and is not
known for the time before the oldest one. Exits with 1 if nothing is known.`,
		Example: `  recount owners pkg/kgo/client.go
  recount owners Client.Produce --at v1.18.0
  recount owners pkg/kgo/client.go --symbols`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeSymbols(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if commits < 1 {
				return usage.Errorf("--commits %d: want 1 or more", commits)
			}
			return askCode(cmd.Context(), a, &f, code.OwnersQuestion, func(s code.Scope) code.OwnersRequest {
				return code.OwnersRequest{Scope: s, Subject: args[0], Commits: commits, Symbols: symbols, Limit: f.limit}
			}, func(r code.OwnersResponse) { codeview.Owners(a.Terminal, r) })
		},
	}
	f.add(c, code.DefaultLimit)
	c.Flags().IntVar(&commits, "commits", 5000, "number of commits to search for authors")
	c.Flags().BoolVar(&symbols, "symbols", false, "for a file: show who added and who last changed each of its symbols")
	return c
}

func (a *app) staleCmd() *cobra.Command {
	var f codeFlags
	var r code.StaleRequest
	var markdown bool
	c := &cobra.Command{
		Use:   "stale",
		Short: "Show code that seems to be out of date",
		Long: `Show code that seems to be out of date, each finding with its confidence:

  gone    unresolved references with the name of a removed symbol
  doc     comments of symbols, and documents (Markdown, reStructuredText), that name
          a removed symbol
  unused  functions and methods that nothing uses, that other files cannot name by the
          language's rules, and that no runtime, interface or decorator calls
  aged    symbols that did not change although what they call did

All but unused compare with the newest commit that is --days older, or with --since.
Findings that rest on a name alone, or that an unresolved reference could refute, have
a lower confidence; --min-confidence 0 shows all. Exits with 1 if there are none.`,
		Example: `  recount stale
  recount stale --kind unused --path pkg/kgo/
  recount stale --kind gone,doc --since v1.18.0 --json
  recount stale --markdown >> "$GITHUB_STEP_SUMMARY"`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			show := func(r code.StaleResponse) { codeview.Stale(a.Terminal, r) }
			if markdown {
				if a.JSON || f.proof {
					return usage.Errorf("--markdown: not allowed with --json or --proof")
				}
				show = func(r code.StaleResponse) { a.Printf("%s", codeview.StaleMarkdown(r)) }
			}
			return askCode(cmd.Context(), a, &f, code.StaleQuestion, func(s code.Scope) code.StaleRequest {
				r.Scope, r.Limit = s, f.limit
				if r.Since != "" && !cmd.Flags().Changed("days") {
					r.Days = 0
				}
				// Zero in a flag is a value: in a request it would mean the default.
				if r.MinConfidence == 0 {
					r.MinConfidence = 1e-9
				}
				return r
			}, show)
		},
	}
	f.add(c, code.DefaultLimit)
	fl := c.Flags()
	fl.StringSliceVar(&r.Kinds, "kind", nil, "only findings of these kinds: gone, doc, unused, aged; may be repeated")
	fl.IntVar(&r.Days, "days", 90, "days between the compared revision and the revision's commit")
	fl.StringVar(&r.Since, "since", "", "the revision to compare with, instead of --days")
	fl.BoolVar(&markdown, "markdown", false, "print Markdown, for a report")
	fl.StringVar(&r.Path, "path", "", "only below this path")
	fl.Float64Var(&r.MinConfidence, "min-confidence", 0.5, "only findings with at least this confidence, 0 to 1")
	return c
}
