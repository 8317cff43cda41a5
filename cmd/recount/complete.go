package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/query/code"
)

// Completion must not make a shell wait.
const (
	completionWait  = 300 * time.Millisecond
	completionTime  = 2 * time.Second
	completionCount = 20
)

// complete makes what a shell completes a verb's arguments with, up to so many of
// them: what offer finds for what was typed. Where nothing answers in time there is
// nothing to offer.
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

// scopeOf is the repository that a command line says so far.
func scopeOf(cmd *cobra.Command) code.Scope {
	repo, _ := cmd.Flags().GetString("repo")
	return code.Scope{Repo: repo}
}
