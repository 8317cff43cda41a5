package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/query/code"
)

// The time limits of completion, which must not delay the shell.
const (
	completionWait  = 300 * time.Millisecond
	completionTime  = 2 * time.Second
	completionCount = 20
)

// complete returns a completion function for up to most arguments of a verb: it offers what offer
// finds for the typed text, or nothing if there is no answer in time.
func (a *app) complete(most int, offer func(ctx context.Context, b *backend, cmd *cobra.Command, typed string) ([]cobra.Completion, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		const only = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		if len(args) >= most {
			return nil, only
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
		defer cancel()
		cfg, err := a.nodeConfig()
		if err != nil {
			return nil, only
		}
		cfg, done, err := a.toRead(cfg)
		if err != nil {
			return nil, only
		}
		defer done()
		b, err := a.open(ctx, cfg, completionWait)
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
