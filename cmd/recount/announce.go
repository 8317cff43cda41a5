package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/cmd/internal/verbs"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render/evidenceview"
	"github.com/recountdb/recount/internal/timespec"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func (a *app) announceCmd() *cobra.Command {
	var who authorFlags
	var lasts, why string
	var done bool
	c := &cobra.Command{
		Use:   "announce [SYMBOL|FILE…]",
		Short: "Announce what you are about to change, so that others see it",
		Long: `Announce that you, or an agent, work on symbols or files. Others see it in recount
announced, and in answers about these symbols (callers, impact, symbols, context). It is
a notice and no lock: nothing is prevented. It holds for the time in --for or until --done.
Announcing again renews it. Prints the positions of the events.

SYMBOL is a name or its end, or symbol:NAME; FILE is a path, or file:PATH.`,
		Example: `  recount announce shop.Cart.Add --for 2h --why "moving it to Postgres"
  recount announce src/cart.go src/order.go --agent claude --session s-17
  recount announce shop.Cart.Add --done
  recount announce --done                    end all announcements of yours in this workspace`,
		ValidArgsFunction: a.completeSymbols(64),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := who.resolve(a); err != nil {
				return err
			}
			if done {
				if cmd.Flags().Changed("for") || why != "" {
					return usage.Errorf("--done ends an announcement: give neither --for nor --why with it")
				}
				return a.WithBackend(cmd.Context(), func(b *connect.Backend) error { return a.withdraw(cmd.Context(), b, &who, args) })
			}
			if len(args) == 0 {
				return usage.Errorf("name the symbols or files that you work on, or use --done")
			}
			if err := checkWhy(why); err != nil {
				return err
			}
			now := time.Now().UTC()
			until, err := timespec.ParseExpiry(now, lasts)
			if err != nil || until.IsZero() || until.Sub(now) > schemas.MaxAnnounced {
				return usage.Errorf("--for %q: want a duration (30m, 2h, 3d) or a time in the future, at most %d days from now; announce again when it is over", lasts, schemas.MaxAnnounced/(24*time.Hour))
			}
			return a.WithBackendFor(cmd.Context(), a.ToWrite, func(b *connect.Backend) error {
				var all []*recountv1.AgentEvent
				for _, name := range args {
					s, err := a.subject(cmd.Context(), b, name, who.root)
					if err != nil {
						return err
					}
					m := who.event()
					m.OccurredAt, m.ValidUntil = timestamppb.New(now), timestamppb.New(until)
					m.Text, m.Announcement = why, &recountv1.Announcement{Subject: s}
					all = append(all, m)
				}
				if err := a.write(cmd.Context(), b, schemas.TypeWorkAnnounced, all...); err != nil {
					return err
				}
				return a.alsoAnnounced(cmd.Context(), b, &who, all, now)
			})
		},
	}
	who.add(c)
	f := c.Flags()
	f.StringVar(&lasts, "for", "2h", "how long it holds: a duration (30m, 2h, 3d) or a time, at most 30 days from now")
	f.StringVar(&why, "why", "", "what you are doing, for others")
	f.BoolVar(&done, "done", false, "end the announcement; without names, all of yours in this workspace")
	return c
}

// checkWhy refuses a reason that is too long or not UTF-8.
func checkWhy(why string) error {
	if len(why) > maxNote || strings.ToValidUTF8(why, "") != why {
		return usage.Errorf("--why: want at most %d bytes of UTF-8", maxNote)
	}
	return nil
}

// alsoAnnounced notes on standard error who else has announced work on the same things, on the file of a
// symbol or on a symbol of a file.
func (a *app) alsoAnnounced(ctx context.Context, b *connect.Backend, who *authorFlags, all []*recountv1.AgentEvent, now time.Time) error {
	r := evidence.AnnouncedRequest{At: now, Workspace: who.workspace}
	for _, m := range all {
		r.About = append(r.About, m.Announcement.Subject)
	}
	repo, _ := repositoryOf(ctx, who.root) // none: without code
	r.About = evidence.Around(ctx, b, repo, r)
	resp, err := evidence.AnnouncedQuestion.Ask(ctx, b, r)
	if err != nil {
		return a.unanswered(err)
	}
	for _, x := range resp.Announcements {
		if x.Agent != who.agent || x.Session != who.session {
			a.Note("%s", evidenceview.Announcement(x, now))
		}
	}
	return nil
}

// withdraw ends the author's announcements of the named subjects, or all in the workspace.
func (a *app) withdraw(ctx context.Context, b *connect.Backend, who *authorFlags, names []string) error {
	now := time.Now().UTC()
	r, err := evidence.AnnouncedQuestion.Ask(ctx, b, evidence.AnnouncedRequest{At: now, Agent: who.agent, Session: who.session, Workspace: who.workspace, Limit: 1000})
	if err != nil {
		return a.unanswered(err)
	}
	var subjects []string
	for _, name := range names {
		s, err := a.subject(ctx, b, name, who.root)
		if err != nil {
			return err
		}
		subjects = append(subjects, s)
	}
	var all []*recountv1.AgentEvent
	for _, x := range r.Announcements {
		if len(names) == 0 || slices.Contains(subjects, x.Subject) || slices.Contains(names, x.Subject) {
			m := who.event()
			m.Tenant, m.Workspace, m.Session, m.ParentEventId = x.Tenant, x.Workspace, x.Session, x.EventID
			m.OccurredAt, m.Announcement = timestamppb.New(now), &recountv1.Announcement{Subject: x.Subject}
			all = append(all, m)
		}
	}
	if len(all) == 0 {
		a.ClearProgress()
		return a.unanswered(&query.NotFoundError{Ref: strings.Join(names, " "), Hint: fmt.Sprintf("%s has announced nothing of this here that still holds; recount announced --everywhere lists what holds", who.agent)})
	}
	return a.write(ctx, b, schemas.TypeWorkEnded, all...)
}

// subject returns what a name means: file:PATH, relative to root if it is below, or symbol:NAME, by
// its whole name if exactly one imported symbol has it. A name that no imported code has is kept,
// since the symbol may be about to be written.
func (a *app) subject(ctx context.Context, b *connect.Backend, name, root string) (string, error) {
	if len(name) > query.MaxName || strings.ToValidUTF8(name, "") != name || strings.TrimSpace(name) == "" {
		return "", usage.Errorf("%.40q: want a symbol or a file, as UTF-8 of at most %d bytes", name, query.MaxName)
	}
	if kind, rest, ok := strings.Cut(name, ":"); ok && (kind == "symbol" || kind == "file") && rest != "" {
		return name, nil
	}
	if _, err := os.Stat(name); err == nil {
		return fileSubject(name, root)
	}
	r, err := code.SymbolsQuestion.Ask(ctx, b, code.SymbolsRequest{Text: name, Limit: 20})
	a.ClearProgress()
	var found []string
	if err == nil { // without imported code, the name stands for itself
		for _, match := range []string{"name", "exact"} {
			for _, h := range r.Symbols {
				if h.Match == match && h.Kind != "file" && !slices.Contains(found, h.Name) {
					found = append(found, h.Name)
				}
			}
			if len(found) > 0 {
				break
			}
		}
	}
	switch {
	case len(found) == 1:
		return "symbol:" + found[0], nil
	case len(found) > 1:
		return "", usage.Errorf("%q: several symbols have this name: %s; give more of the name, or symbol:%s for all of them", name, strings.Join(found[:min(len(found), 5)], ", "), name)
	case strings.Contains(name, "/") && path.Ext(name) != "":
		return fileSubject(name, root)
	}
	return "symbol:" + name, nil
}

// fileSubject returns file:PATH, relative to root if the file is below it.
func fileSubject(name, root string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(root, abs); err == nil && filepath.IsLocal(rel) {
		return "file:" + filepath.ToSlash(rel), nil
	}
	return "file:" + filepath.ToSlash(abs), nil
}

func (a *app) announcedCmd() *cobra.Command {
	var r evidence.AnnouncedRequest
	var everywhere bool
	var m verbs.MomentFlags
	c := &cobra.Command{
		Use:   "announced [SYMBOL|FILE…]",
		Short: "Show who is working on what",
		Long: `Show what agents and people have announced to be working on in this workspace (recount
announce), as far as it still holds: its time is not over and it was not ended. With names:
only what concerns these symbols or files, the file of a symbol, or a symbol of a file.
Exits with 1 if there is nothing.`,
		Example: `  recount announced
  recount announced shop.Cart.Add src/cart.go
  recount announced --everywhere --json`,
		ValidArgsFunction: a.completeSymbols(64),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.About = args
			now := time.Now().UTC()
			at, err := m.Moment(now)
			if err != nil {
				return err
			}
			if r.AsOf, r.AtLeast = at.AsOf, at.AtLeast; r.AsOf.IsZero() {
				r.At = now
			}
			if r.Limit <= 0 {
				return usage.Errorf("--limit %d: want 1 or more", r.Limit)
			}
			if r.Workspace == "" && !everywhere {
				if r.Workspace, err = here(); err != nil {
					return err
				}
			}
			return a.WithBackend(cmd.Context(), func(b *connect.Backend) error {
				repo, _ := repositoryOf(cmd.Context(), ".") // none: without code
				r.About = evidence.Around(cmd.Context(), b, repo, r)
				resp, err := evidence.AnnouncedQuestion.Ask(cmd.Context(), b, r)
				a.ClearProgress()
				if err != nil {
					return a.unanswered(err)
				}
				return a.printAnswer(resp, resp.Basis, m.Proof, func() {
					d := evidenceview.Drawing{Drawing: a.NewDrawing(false, now)}
					d.Announced(resp)
				})
			})
		},
	}
	f := c.Flags()
	f.StringVar(&r.Workspace, "workspace", "", "the workspace (default the root of the repository here, else this directory)")
	f.BoolVar(&everywhere, "everywhere", false, "of all workspaces")
	f.StringVar(&r.Agent, "agent", "", "only by this agent")
	f.StringVar(&r.Session, "session", "", "only by this session")
	f.IntVarP(&r.Limit, "limit", "n", 50, "maximum number of announcements, up to 1000")
	m.Add(c)
	return c
}
