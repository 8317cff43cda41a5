package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func (a *app) handoverCmd() *cobra.Command {
	var who authorFlags
	var toSession, task, accept string
	var about []string
	c := &cobra.Command{
		Use:   "handover TO TEXT…",
		Short: "Hand work over to another agent or person, or accept it",
		Long: `Hand work over to another agent or person, with what they need to know. It is open in
recount remembered --to TO until TO accepts it or writes something that follows from it.
--accept makes an open task of it. TEXT of - is read from standard input. Prints the
position of the event.`,
		Example: `  recount handover reviewer "Look at the migration: are the indexes right?" --about db/migrate.sql
  recount handover codex --task SHOP-7 - < status.md
  recount remembered --to codex
  recount handover --accept recount.agents/0/17 --agent codex`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := who.resolve(a); err != nil {
				return err
			}
			if accept != "" {
				if len(args) > 0 {
					return usage.Errorf("--accept ID takes a handover: give neither TO nor TEXT with it")
				}
				return a.WithBackend(cmd.Context(), func(b *connect.Backend) error { return a.accept(cmd.Context(), b, &who, accept) })
			}
			if len(args) < 2 {
				return usage.Errorf("want the agent or person who takes over, and what they need to know: recount handover reviewer \"Look at …\"")
			}
			text, err := a.noteText(args[1:])
			if err != nil {
				return err
			}
			m := who.event()
			m.Handoff = &recountv1.Handoff{ToAgent: args[0], ToSession: toSession, Reason: text}
			if task != "" {
				m.Attributes = map[string]string{"task": task}
			}
			return a.WithBackendFor(cmd.Context(), a.ToWrite, func(b *connect.Backend) error {
				for _, name := range about {
					s, err := a.subject(cmd.Context(), b, name, who.root)
					if err != nil {
						return err
					}
					m.Relations = append(m.Relations, &recountv1.Relation{Kind: "refers_to", Ref: s})
				}
				return a.write(cmd.Context(), b, schemas.TypeHandoff, m)
			})
		},
	}
	who.add(c)
	f := c.Flags()
	f.StringVar(&toSession, "to-session", "", "the session that takes over")
	f.StringVar(&task, "task", "", "the task that it belongs to")
	f.StringArrayVar(&about, "about", nil, "a symbol or file that it is about; may be repeated")
	f.StringVar(&accept, "accept", "", "accept this handover, by its position or id, and make an open task of it")
	return c
}

// accept makes a task of an open handover.
func (a *app) accept(ctx context.Context, b *connect.Backend, who *authorFlags, ref string) error {
	r, err := evidence.RememberedQuestion.Ask(ctx, b, evidence.RememberedRequest{Kinds: []string{evidence.Handover}, Workspace: who.workspace, Limit: 1000})
	if err != nil {
		return a.unanswered(err)
	}
	i := slices.IndexFunc(r.Items, func(x evidence.Remembered) bool { return x.Position == ref || x.ID == ref || x.EventID == ref })
	if i < 0 {
		return a.unanswered(&query.NotFoundError{Ref: ref, Hint: "no open handover of this workspace has this position or id; recount remembered --kind handover lists them"})
	}
	x, m := r.Items[i], who.event()
	if x.To != "" && x.To != who.agent {
		return usage.Errorf("%s was handed over to %s: accept it with --agent %s", ref, x.To, x.To)
	}
	_, reason, _ := strings.Cut(x.Text, "\n\n") // the first line says to whom
	title, rest, _ := strings.Cut(strings.TrimSpace(reason), "\n")
	m.Tenant, m.Workspace, m.ParentEventId, m.Text = x.Tenant, x.Workspace, x.EventID, strings.TrimSpace(rest)
	m.Task = &recountv1.Task{Id: "H-" + x.EventID[:8], Title: schemas.Clip(title, 4096)}
	return a.write(ctx, b, schemas.TypeTaskStarted, m)
}
