package main

import (
	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query/feedback"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/httpapi"
)

func (a *app) feedbackCmd() *cobra.Command {
	var g feedback.Given
	var useless bool
	c := &cobra.Command{
		Use:   "feedback SUBJECT…",
		Short: "Say what was useful for a task",
		Long: `Say which symbols, files, events or commands were useful for a task, or not:
symbol:NAME, file:PATH, object:ID or command:ID. Contexts (recount context) for later tasks with
similar words are ranked by it. Of several by one session about a subject and task, the last counts.`,
		Example: `  recount feedback symbol:shop.Cart.Total file:cart/money.go --repo github.com/acme/shop --useful --task "round totals to cents"
  recount feedback file:cart/old.go --repo github.com/acme/shop --not-useful --task "round totals to cents" --agent claude`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if g.Useful == useless {
				return usage.Errorf("want either --useful or --not-useful")
			}
			if g.Agent == "" {
				g.Agent = a.Getenv("USER")
			}
			if g.Workspace == "" {
				var err error
				if g.Workspace, err = here(); err != nil {
					return err
				}
			}
			g.Subjects = args
			e, err := g.Event(recording.Source)
			if err != nil {
				return err
			}
			return a.WithBackendFor(cmd.Context(), a.ToWrite, func(b *connect.Backend) error {
				appended, err := b.Append(cmd.Context(), []schemas.Event{e})
				a.ClearProgress()
				if err != nil {
					return err
				}
				if a.JSON {
					return a.PrintJSON(httpapi.AppendResponse{Events: appended})
				}
				a.Printf("%s\n", appended[0].Position)
				return nil
			})
		},
	}
	f := c.Flags()
	f.BoolVar(&g.Useful, "useful", false, "they were useful")
	f.BoolVar(&useless, "not-useful", false, "they were not useful")
	f.StringVar(&g.Task, "task", "", "what was to be done")
	f.StringVar(&g.Repository, "repo", "", "the repository of symbols and files, with its whole name")
	f.StringVar(&g.Agent, "agent", "", "the agent or person who says so (default $USER)")
	f.StringVar(&g.Session, "session", "", "the session; its last feedback about a subject and task counts")
	f.StringVar(&g.Workspace, "workspace", "", "the workspace (default the root of the repository here, else this directory)")
	return c
}
