package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/query/feedback"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/httpapi"
)

func (a *app) feedbackCmd() *cobra.Command {
	var g feedback.Given
	var useless bool
	c := &cobra.Command{
		Use:   "feedback SUBJECT…",
		Short: "Say what was useful for a task",
		Long: `Say which symbols, files, events or commands were useful for a task, or not:
symbol:NAME, file:PATH, object:ID or command:ID. Contexts (recount context) for later
tasks with similar words are ranked by it. Of several by one session about a subject and
task, the last counts.`,
		Example: `  recount feedback symbol:shop.Cart.Total file:cart/money.go --repo github.com/acme/shop --useful --task "round totals to cents"
  recount feedback file:cart/old.go --repo github.com/acme/shop --not-useful --task "round totals to cents" --agent claude`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if g.Useful == useless {
				return usage.Errorf("want either --useful or --not-useful")
			}
			if g.Agent == "" {
				g.Agent = a.user()
			}
			if g.Workspace == "" {
				var err error
				if g.Workspace, err = here(); err != nil {
					return err
				}
			}
			g.Subjects = args
			if g.Repository == "" && slices.ContainsFunc(args, ofCode) {
				dir, err := os.Getwd()
				if err != nil {
					return err
				}
				if g.Repository, err = repositoryOf(cmd.Context(), dir); err != nil {
					return err
				}
			}
			// What is wrong with it is said before anything is opened.
			if _, err := g.Event(recording.Source); err != nil {
				return err
			}
			return a.WithBackendFor(cmd.Context(), a.ToWrite, func(b *connect.Backend) error {
				// It is kept by the repository's whole name.
				if slices.ContainsFunc(args, ofCode) {
					if shown, err := code.ShowQuestion.Ask(cmd.Context(), b, code.ShowRequest{Scope: code.Scope{Repo: g.Repository}}); err == nil {
						g.Repository = shown.Revision.Repo
					}
				}
				for _, m := range code.Missing(cmd.Context(), b, g.Repository, args) {
					a.ClearProgress()
					a.Tell(m)
				}
				e, err := g.Event(recording.Source)
				if err != nil {
					return err
				}
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
	f.StringVar(&g.Repository, "repo", "", "the repository of symbols and files: its name or the end of it (default the one here)")
	f.StringVar(&g.Agent, "agent", "", "the agent or person who says so (default $USER)")
	f.StringVar(&g.Session, "session", "", "the session; its last feedback about a subject and task counts")
	f.StringVar(&g.Workspace, "workspace", "", "the workspace (default the root of the repository here, else this directory)")
	return c
}

// ofCode reports whether a subject is of a repository.
func ofCode(subject string) bool {
	return strings.HasPrefix(subject, "symbol:") || strings.HasPrefix(subject, "file:")
}

func (a *app) usedCmd() *cobra.Command {
	m := &recountv1.AgentEvent{}
	c := &cobra.Command{
		Use:   "used EVENT…",
		Short: "Report which objects of an answer were useful",
		Long: `Report which objects of an answer (recount ask) were useful, by their positions or ids.
Objects that were useful recently and in several sessions rank higher in later answers.
Agents report this over HTTP with an event recall.used, or in any event with a relation
"used".`,
		Example: `  recount used recount.agents/0/3
  recount used recount.agents/0/3 recount.agents/1/2 --agent claude --session s-17 --for "which port does staging use"`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if m.Agent == "" {
				m.Agent = a.user()
			}
			return a.WithBackend(cmd.Context(), func(b *connect.Backend) error { return a.used(cmd.Context(), b, m, args) })
		},
	}
	f := c.Flags()
	f.StringVar(&m.Agent, "agent", "", "the agent or person who used them (default $USER)")
	f.StringVar(&m.Session, "session", "", "the session; each session's last report counts")
	f.StringVar(&m.Workspace, "workspace", "", "the workspace (default the workspace of each object)")
	f.StringVar(&m.Text, "for", "", "the question or task they were useful for")
	return c
}

// used appends one event for each tenant and workspace of the objects.
func (a *app) used(ctx context.Context, b *connect.Backend, m *recountv1.AgentEvent, refs []string) error {
	var all []*recountv1.AgentEvent
	for _, ref := range refs {
		o, err := a.objectOf(ctx, b, evidence.Request{Text: ref, Mode: evidence.ModeObjects})
		if err != nil {
			return err
		}
		if o == nil {
			return fmt.Errorf("%s: not an object of an agent; want its position or id, as recount ask prints them", ref)
		}
		where := o.Objects[0].Workspace
		if m.Workspace != "" {
			where = m.Workspace
		}
		var of *recountv1.AgentEvent
		for _, e := range all {
			if e.Tenant == o.Objects[0].Tenant && e.Workspace == where {
				of = e
			}
		}
		if of == nil {
			of = &recountv1.AgentEvent{Tenant: o.Objects[0].Tenant, Workspace: where, Agent: m.Agent, Session: m.Session, Text: m.Text}
			all = append(all, of)
		}
		of.Relations = append(of.Relations, &recountv1.Relation{Kind: "used", EventId: o.Objects[0].EventID})
	}
	var events []schemas.Event
	for _, e := range all {
		payload, err := schemas.EncodePayload(e)
		if err != nil {
			return err
		}
		events = append(events, schemas.Event{Type: schemas.TypeRecallUsed, Source: recording.Source, ContentType: schemas.ContentJSON, Payload: payload})
	}
	appended, err := b.Append(ctx, events)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(httpapi.AppendResponse{Events: appended})
	}
	for _, at := range appended {
		a.Printf("%s\n", at.Position)
	}
	return nil
}
