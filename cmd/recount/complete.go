package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/agentlog"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/git"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/runtime"
	"github.com/recountdb/recount/query/sessions"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/node"
)

// completeIDs completes ids with those of the newest commands; exit limits them, such as to
// failures for verbs that are mostly about these.
func (a *app) completeIDs(exit string, most int) cobra.CompletionFunc {
	return a.complete(most, func(ctx context.Context, b *connect.Backend, _ *cobra.Command, typed string) ([]cobra.Completion, error) {
		r, err := commands.FindQuestion.Ask(ctx, b, commands.FindRequest{Filters: commands.Filters{Exit: exit}, Limit: completionCount, Repeats: true})
		if err != nil {
			return nil, err
		}
		var ids []schemas.EventID
		for _, h := range r.Hits {
			ids = append(ids, h.ID)
		}
		short := render.Abbreviate(ids)
		var out []cobra.Completion
		for _, h := range r.Hits {
			// The typed text may be longer than the abbreviation.
			id := short[h.ID]
			if strings.HasPrefix(h.ID.String(), typed) && len(typed) > len(id) {
				id = h.ID.String()
			}
			if strings.HasPrefix(id, typed) {
				about := fmt.Sprintf("%s %s, %s", render.PlainMark(h.ExitCode), render.Cut(render.OneLine(h.Command), render.CommandColumns), render.Ago(time.Now(), h.Time))
				out = append(out, cobra.CompletionWithDesc(id, about))
			}
		}
		return out, nil
	})
}

// completeSymbols completes the names of symbols.
func (a *app) completeSymbols(most int) cobra.CompletionFunc {
	return a.complete(most, func(ctx context.Context, b *connect.Backend, cmd *cobra.Command, typed string) ([]cobra.Completion, error) {
		if typed == "" {
			return nil, nil
		}
		scope := scopeOf(cmd)
		var r code.SymbolsResponse
		err := a.inRepository(ctx, &scope.Repo, func() (err error) {
			r, err = code.SymbolsQuestion.Ask(ctx, b, code.SymbolsRequest{Scope: scope, Text: typed, Limit: completionCount})
			return err
		})
		if err != nil {
			return nil, err
		}
		var out []cobra.Completion
		for _, h := range r.Symbols {
			if name, ok := completed(h.Name, typed, "."); ok {
				out = append(out, cobra.CompletionWithDesc(name, h.Kind+" "+h.Place()))
			}
		}
		return out, nil
	})
}

// completed returns what completes the typed text to a name: the name, or its end after a separator,
// which means the same as well (Client.Produce for kgo.Client.Produce).
func completed(name, typed, separator string) (string, bool) {
	for rest, ok := name, true; ok; _, rest, ok = strings.Cut(rest, separator) {
		if strings.HasPrefix(rest, typed) {
			return rest, true
		}
	}
	return "", false
}

// The time limits of completion, which must not delay the shell.
const (
	completionWait  = 300 * time.Millisecond
	completionTime  = 2 * time.Second
	completionCount = 20
)

// complete returns a completion function for up to most arguments of a verb: it offers what offer
// finds for the typed text, or nothing if there is no answer in time.
func (a *app) complete(most int, offer func(ctx context.Context, b *connect.Backend, cmd *cobra.Command, typed string) ([]cobra.Completion, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		const only = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		if len(args) >= most {
			return nil, only
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), max(completionTime, a.Patience))
		defer cancel()
		cfg, err := a.NodeConfig()
		if err != nil {
			return nil, only
		}
		cfg, done, err := a.ToRead(cfg)
		if err != nil {
			return nil, only
		}
		defer done()
		b, err := a.Open(ctx, cfg, completionWait)
		if err != nil {
			return nil, only
		}
		defer b.Close()
		out, err := offer(ctx, b, cmd, typed)
		if err != nil {
			return nil, only
		}
		return out, only
	}
}

// scopeOf returns the repository named on the command line so far.
func scopeOf(cmd *cobra.Command) code.Scope {
	repo, _ := cmd.Flags().GetString("repo")
	return code.Scope{Repo: repo}
}

// completeRevisions completes a revision, or the second of REV..REV, with HEAD, the branches and the tags of the
// repository here. It knows those of no other.
func (a *app) completeRevisions(cmd *cobra.Command, _ []string, typed string) (out []cobra.Completion, only cobra.ShellCompDirective) {
	only = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	ctx, cancel := context.WithTimeout(cmd.Context(), max(completionTime, a.Patience))
	defer cancel()
	repo, err := git.Open(ctx, ".")
	if err != nil || cmd.Flags().Changed("repo") {
		return nil, only
	}
	refs, err := repo.Refs(ctx, "refs/heads", "refs/tags")
	if err != nil {
		return nil, only
	}
	before := ""
	if i := strings.LastIndex(typed, ".."); i >= 0 {
		before = typed[:i+2]
	}
	for _, ref := range append([]git.Ref{{Name: "refs/heads/HEAD"}}, refs...) {
		_, name, _ := strings.Cut(strings.TrimPrefix(ref.Name, "refs/"), "/")
		if strings.HasPrefix(before+name, typed) && len(out) < completionCount {
			out = append(out, before+name)
		}
	}
	return out, only
}

// completeRoutes completes the paths of routes.
func (a *app) completeRoutes() cobra.CompletionFunc {
	return a.complete(1, func(ctx context.Context, b *connect.Backend, cmd *cobra.Command, typed string) ([]cobra.Completion, error) {
		scope := scopeOf(cmd)
		var r code.RoutesResponse
		err := a.inRepository(ctx, &scope.Repo, func() (err error) {
			r, err = code.RoutesQuestion.Ask(ctx, b, code.RoutesRequest{Scope: scope, Pattern: typed, Limit: completionCount})
			return err
		})
		if err != nil {
			return nil, err
		}
		var out []cobra.Completion
		for _, x := range r.Routes {
			if strings.HasPrefix(x.Path, typed) {
				out = append(out, cobra.CompletionWithDesc(x.Path, x.Method+" "+x.Place()))
			}
		}
		return out, nil
	})
}

// completeServices completes the names of services that send spans.
func (a *app) completeServices(c *cobra.Command) {
	offer := a.complete(1, func(ctx context.Context, b *connect.Backend, _ *cobra.Command, typed string) ([]cobra.Completion, error) {
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

// noFiles are flags whose values are no files.
var noFiles = []string{"after", "as-of", "at", "at-least", "event", "for", "host", "program", "shell", "since", "task", "template", "tenant", "text", "until", "user", "why"}

// completeFlags completes the flags of a verb, and of those below it, that are the same for many: sessions and
// authors with those that are known, and what is no file with nothing.
func (a *app) completeFlags(c *cobra.Command) {
	for _, sub := range c.Commands() {
		a.completeFlags(sub)
	}
	for name, values := range fixedValues(strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ")) {
		_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	offers := map[string]cobra.CompletionFunc{
		"repo":    a.completeRepositories(),
		"session": a.completeSessions(func(s sessions.Session) string { return s.Session }),
		"author":  a.completeSessions(func(s sessions.Session) string { return s.Author }),
		"agent":   a.completeSessions(func(s sessions.Session) string { return s.Author }),
	}
	for _, name := range noFiles {
		offers[name] = cobra.NoFileCompletions
	}
	if c.Flags().Lookup("repo") != nil { // a question about code
		offers["at"], offers["diff"] = a.completeRevisions, a.completeRevisions
		if c.Name() == "stale" {
			offers["since"] = a.completeRevisions
		}
	}
	for name, offer := range offers {
		if f := c.Flags().Lookup(name); f == nil || f.Value.Type() == "bool" {
			continue
		}
		if _, there := c.GetFlagCompletionFunc(name); !there {
			_ = c.RegisterFlagCompletionFunc(name, offer) // fails only for a flag that does not exist
		}
	}
}

// fixedValues returns the values of the flags of a verb that know all of theirs.
func fixedValues(verb string) map[string][]cobra.Completion {
	switch verb {
	case "log tail", "log produce", "log partitions":
		return map[string][]cobra.Completion{"topic": schemas.Topics()}
	case "log retain":
		return map[string][]cobra.Completion{"topic": {schemas.TopicSpans, schemas.TopicCommands, schemas.TopicAgents}}
	case "routes":
		return map[string][]cobra.Completion{"method": {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}}
	case "up":
		return map[string][]cobra.Completion{"roles": node.AllRoles}
	case "stale":
		return map[string][]cobra.Completion{"kind": code.StaleKinds()}
	case "symbols":
		return map[string][]cobra.Completion{"kind": code.SymbolKinds()}
	case "export":
		return map[string][]cobra.Completion{"edges": code.EdgeKinds()}
	case "import agents":
		return map[string][]cobra.Completion{"format": agentlog.Names(), "visibility": {"private", "session", "workspace", "tenant"}}
	}
	return nil
}

// completeRepositories completes the names of the repositories that were imported.
func (a *app) completeRepositories() cobra.CompletionFunc {
	return a.complete(math.MaxInt, func(ctx context.Context, b *connect.Backend, _ *cobra.Command, typed string) ([]cobra.Completion, error) {
		r, err := code.RepositoriesQuestion.Ask(ctx, b, code.RepositoriesRequest{Limit: completionCount})
		if err != nil {
			return nil, err
		}
		var out []cobra.Completion
		for _, repo := range r.Repositories {
			if name, ok := completed(repo.Repo, typed, "/"); ok {
				out = append(out, name)
			}
		}
		return out, nil
	})
}

// completeSessions completes a name that sessions have, from the newest on.
func (a *app) completeSessions(nameOf func(sessions.Session) string) cobra.CompletionFunc {
	return a.complete(math.MaxInt, func(ctx context.Context, b *connect.Backend, _ *cobra.Command, typed string) ([]cobra.Completion, error) {
		r, err := sessions.Question.Ask(ctx, b, sessions.Request{Limit: sessions.MaxLimit})
		if err != nil {
			return nil, err
		}
		var out []cobra.Completion
		for _, s := range r.Sessions {
			if name := nameOf(s); name != "" && strings.HasPrefix(name, typed) && len(out) < completionCount && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
		return out, nil
	})
}
