package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/cmd/internal/verbs"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/render/evidenceview"
	"github.com/recountdb/recount/internal/timespec"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/httpapi"
)

// maxNote is the maximum length of a remembered text in bytes.
const maxNote = 1 << 20

// visibilities are the values of --visibility.
var visibilities = map[string]recountv1.Visibility{
	"":          recountv1.Visibility_VISIBILITY_UNSPECIFIED,
	"private":   recountv1.Visibility_VISIBILITY_PRIVATE,
	"session":   recountv1.Visibility_VISIBILITY_SESSION,
	"workspace": recountv1.Visibility_VISIBILITY_WORKSPACE,
	"tenant":    recountv1.Visibility_VISIBILITY_TENANT,
}

// authorFlags say who writes, where, and for whom.
type authorFlags struct {
	agent, session, workspace, visibility string
	root                                  string // of the working tree here
}

func (f *authorFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.agent, "agent", "", "the agent or person who writes (default $USER)")
	c.Flags().StringVar(&f.session, "session", "", "the agent's session")
	c.Flags().StringVar(&f.workspace, "workspace", "", "the workspace (default the root of the repository here, else this directory)")
	c.Flags().StringVar(&f.visibility, "visibility", "", "who may see it: private, session, workspace or tenant (default workspace)")
	_ = c.RegisterFlagCompletionFunc("visibility", cobra.FixedCompletions([]string{"private", "session", "workspace", "tenant"}, cobra.ShellCompDirectiveNoFileComp))
}

// resolve fills in the defaults.
func (f *authorFlags) resolve(a *app) error {
	if _, ok := visibilities[f.visibility]; !ok {
		return usage.Errorf("--visibility %q: want private, session, workspace or tenant", f.visibility)
	}
	if f.agent == "" {
		f.agent = a.user()
	}
	dir, err := os.Getwd()
	f.root = cmp.Or(recording.Workspace(dir), dir)
	f.workspace = cmp.Or(f.workspace, recording.MemoryWorkspace(dir), dir)
	return err
}

// here returns the workspace that memory of the current directory belongs to.
func here() (string, error) {
	dir, err := os.Getwd()
	return cmp.Or(recording.MemoryWorkspace(dir), dir), err
}

// event returns an event of the author.
func (f *authorFlags) event() *recountv1.AgentEvent {
	return &recountv1.AgentEvent{Workspace: f.workspace, Agent: f.agent, Session: f.session, Visibility: visibilities[f.visibility]}
}

// write appends events of an agent, waits until the next question sees them, and prints their
// positions.
func (a *app) write(ctx context.Context, b *connect.Backend, typ string, all ...*recountv1.AgentEvent) error {
	var events []schemas.Event
	for _, m := range all {
		payload, err := schemas.EncodePayload(m)
		if err != nil {
			return err
		}
		events = append(events, schemas.Event{Type: typ, Source: recording.Source, ContentType: schemas.ContentJSON, Payload: payload})
	}
	appended, err := b.Append(ctx, events)
	if err != nil {
		a.ClearProgress()
		return err
	}
	written := schemas.Watermark{}
	for _, at := range appended {
		tp := at.Position.TP()
		written[tp] = max(written[tp], at.Position.Offset+1)
	}
	// They are in the log whatever comes of this: a server that is far behind is no reason to fail.
	_, _ = evidence.RememberedQuestion.Ask(ctx, b, evidence.RememberedRequest{Workspace: all[0].Workspace, Limit: 1, AtLeast: written})
	a.ClearProgress()
	if a.JSON {
		return a.PrintJSON(httpapi.AppendResponse{Events: appended})
	}
	for _, at := range appended {
		a.Printf("%s\n", at.Position)
	}
	return nil
}

// noteText returns the words, or standard input if the only one is "-".
func (a *app) noteText(args []string) (string, error) {
	text := strings.Join(args, " ")
	if text == "-" {
		b, err := io.ReadAll(io.LimitReader(a.In, maxNote+1))
		if err != nil {
			return "", fmt.Errorf("read standard input: %w", err)
		}
		text = string(b)
	}
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "", usage.Errorf("no text: give it as words, or - to read it from standard input")
	case len(text) > maxNote:
		return "", usage.Errorf("the text has more than %d bytes: write down what matters and name the rest by --about FILE", maxNote)
	case !utf8.ValidString(text):
		return "", usage.Errorf("the text is not UTF-8: convert it, such as with iconv -t UTF-8")
	}
	return text, nil
}

func (a *app) rememberCmd() *cobra.Command {
	var who authorFlags
	var kind, task, done, outcome, until string
	var about, supersedes []string
	c := &cobra.Command{
		Use:   "remember [TEXT…]",
		Short: "Write down a decision, a fact, a note, a plan or a task",
		Long: `Write something down for later and for others in the workspace. recount remembered lists
it, recount ask finds it, and --about joins it to symbols and files. TEXT of - is read
from standard input. Prints the position of the event.

A decision, a fact or a note holds until another one supersedes it or its time is over
(--until). The lines of a plan that begin with "- " are its steps, with their status in
brackets: "- [done] copy the data"; remembering it again with the same --task and --session
replaces it. A task stays open until --done.`,
		Example: `  recount remember "Staging has two replicas of the database"
  recount remember --kind decision --about shop.Cart "The cart moves to Postgres: two shops share it"
  recount remember --kind decision --supersedes recount.agents/0/12 "The cart stays in Redis"
  recount remember --kind task --task SHOP-7 "Rotate the staging key"
  recount remember --done SHOP-7
  printf -- '- [done] copy\n- [pending] switch\n' | recount remember --kind plan --task SHOP-7 -`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := who.resolve(a); err != nil {
				return err
			}
			if done != "" {
				if len(args) > 0 || cmd.Flags().Changed("kind") {
					return usage.Errorf("--done ID ends a task: give neither TEXT nor --kind with it")
				}
				return a.WithBackend(cmd.Context(), func(b *connect.Backend) error { return a.finish(cmd.Context(), b, &who, done, outcome) })
			}
			if outcome != "" {
				return usage.Errorf("--outcome: only with --done")
			}
			text, err := a.noteText(args)
			if err != nil {
				return err
			}
			m, typ, err := who.stated(kind, task, text)
			if err != nil {
				return err
			}
			if until != "" {
				end, err := timespec.ParseExpiry(time.Now(), until)
				if err != nil || end.IsZero() {
					return usage.Errorf("--until %q: want a duration (12h, 90d), a day, or an RFC 3339 time in the future", until)
				}
				m.ValidUntil = timestamppb.New(end)
			}
			return a.WithBackendFor(cmd.Context(), a.ToWrite, func(b *connect.Backend) error {
				if m.Relations, err = a.relations(cmd.Context(), b, who.root, about, supersedes); err != nil {
					return err
				}
				return a.write(cmd.Context(), b, typ, m)
			})
		},
	}
	who.add(c)
	f := c.Flags()
	f.StringVar(&kind, "kind", evidence.Note, "decision, fact, note, plan or task")
	f.StringArrayVar(&about, "about", nil, "a symbol or file that it is about; may be repeated")
	f.StringArrayVar(&supersedes, "supersedes", nil, "the position or id of what it replaces; may be repeated")
	f.StringVar(&task, "task", "", "the task that it belongs to; with --kind task the id of the new task (default derived from the text), with --kind plan also the id of the plan")
	f.StringVar(&until, "until", "", "it holds until then: a duration (12h, 90d), a day, or an RFC 3339 time")
	f.StringVar(&done, "done", "", "end this task, by its id or position")
	f.StringVar(&outcome, "outcome", "", "with --done: how it ended: succeeded, failed, cancelled, … (default succeeded)")
	_ = c.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions([]string{evidence.Decision, evidence.Fact, evidence.Note, evidence.Plan, evidence.Task}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// stated returns the event that states a text of a kind, and the event's type.
func (f *authorFlags) stated(kind, task, text string) (m *recountv1.AgentEvent, typ string, err error) {
	m, typ = f.event(), schemas.TypeMemoryStated
	switch kind {
	case evidence.Decision, evidence.Fact, evidence.Note:
		m.Text, m.Memory = text, &recountv1.Statement{Form: kind}
	case evidence.Plan:
		typ, m.Plan = schemas.TypePlanUpdated, &recountv1.Plan{Id: task}
		m.Text, m.Plan.Steps = planOf(text)
	case evidence.Task:
		if task == "" {
			sum := sha256.Sum256([]byte(f.workspace + "\x00" + text))
			task = "T-" + hex.EncodeToString(sum[:4])
		}
		first, rest, _ := strings.Cut(text, "\n")
		if len(first) > 4096 {
			return nil, "", usage.Errorf("the first line of a task is its title: want at most 4096 bytes")
		}
		typ, m.Text, m.Task = schemas.TypeTaskStarted, strings.TrimSpace(rest), &recountv1.Task{Id: task, Title: first}
	default:
		return nil, "", usage.Errorf("--kind %q: want decision, fact, note, plan or task", kind)
	}
	if task != "" {
		m.Attributes = map[string]string{"task": task}
	}
	return m, typ, nil
}

// relations returns the relations to what a statement is about and to what it replaces.
func (a *app) relations(ctx context.Context, b *connect.Backend, root string, about, supersedes []string) (all []*recountv1.Relation, err error) {
	repo := ""
	if len(about) > 0 {
		repo, _ = repositoryOf(ctx, root)
	}
	for _, name := range about {
		s, err := a.subject(ctx, b, name, root)
		if err != nil {
			return nil, err
		}
		for _, missing := range code.Missing(ctx, b, repo, []string{s}) {
			a.ClearProgress()
			a.Tell(missing)
		}
		all = append(all, &recountv1.Relation{Kind: "refers_to", Ref: s})
	}
	for _, ref := range supersedes {
		o, err := a.objectOf(ctx, b, evidence.Request{Text: ref, Mode: evidence.ModeObjects})
		if err != nil {
			return nil, err
		}
		if o == nil {
			return nil, fmt.Errorf("--supersedes %s: not an object of an agent; want its position or id, as recount remembered prints them", ref)
		}
		all = append(all, &recountv1.Relation{Kind: "supersedes", EventId: o.Objects[0].EventID})
	}
	return all, nil
}

// planOf splits a text into its prose and its steps, which are the lines that begin with "- ".
func planOf(text string) (prose string, steps []*recountv1.PlanStep) {
	var rest []string
	for line := range strings.Lines(text) {
		step, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !ok {
			rest = append(rest, line)
			continue
		}
		s := &recountv1.PlanStep{Text: step, Status: "pending"}
		if status, after, ok := strings.Cut(step, "] "); ok && strings.HasPrefix(status, "[") && len(status) <= 64 {
			s.Text, s.Status = after, strings.TrimSpace(status[1:])
		}
		switch s.Status {
		case "":
			s.Status = "pending"
		case "x", "X":
			s.Status = "done"
		}
		steps = append(steps, s)
	}
	return strings.TrimSpace(strings.Join(rest, "")), steps
}

// finish ends an open task of the workspace.
func (a *app) finish(ctx context.Context, b *connect.Backend, who *authorFlags, ref, outcome string) error {
	r, err := evidence.RememberedQuestion.Ask(ctx, b, evidence.RememberedRequest{Kinds: []string{evidence.Task}, Workspace: who.workspace, Limit: 1000})
	if err != nil {
		return a.unanswered(err)
	}
	i := slices.IndexFunc(r.Items, func(x evidence.Remembered) bool {
		return x.Task == ref || x.Position == ref || x.ID == ref || x.EventID == ref
	})
	if i < 0 {
		return a.unanswered(&query.NotFoundError{Ref: ref, Hint: "no open task of this workspace has this id; recount remembered --kind task lists them"})
	}
	task, m := r.Items[i], who.event()
	if outcome == "" {
		outcome = "succeeded"
	}
	first, _, _ := strings.Cut(task.Text, "\n")
	m.Tenant, m.Workspace, m.ParentEventId = task.Tenant, task.Workspace, task.EventID
	m.Task = &recountv1.Task{Id: task.Task, Title: schemas.Clip(strings.TrimSuffix(first, " started"), 4096), Outcome: outcome}
	return a.write(ctx, b, schemas.TypeTaskFinished, m)
}

func (a *app) rememberedCmd() *cobra.Command {
	var r evidence.RememberedRequest
	var everywhere, whole bool
	var since string
	var m verbs.MomentFlags
	c := &cobra.Command{
		Use:   "remembered [SYMBOL|FILE…]",
		Short: "List decisions, facts, notes, plans, tasks and handovers that are open",
		Long: `List what agents and people wrote down in this workspace and what still holds or is still
to be done: neither done nor replaced nor expired. --all lists the rest, too. With names
of symbols or files: only what is about them. Exits with 1 if there is nothing.`,
		Example: `  recount remembered                         what is open here
  recount remembered --kind decision,task    the decisions and the open tasks
  recount remembered shop.Cart src/cart.go   what was written down about them
  recount remembered --to reviewer           what was handed over to reviewer
  recount remembered --everywhere --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.About = args
			now := time.Now()
			at, err := m.Moment(now)
			if err != nil {
				return err
			}
			if r.AsOf, r.AtLeast = at.AsOf, at.AtLeast; r.AsOf.IsZero() {
				r.At = now
			}
			if r.Since, err = timespec.Parse(now, since); err != nil {
				return usage.Errorf("--since %q: %w", since, err)
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
				resp, err := evidence.RememberedQuestion.Ask(cmd.Context(), b, r)
				a.ClearProgress()
				if err != nil {
					return a.unanswered(err)
				}
				return a.printAnswer(resp, resp.Basis, m.Proof, func() {
					d := evidenceview.Drawing{Drawing: a.NewDrawing(false, now), Whole: whole}
					d.Remembered(resp)
				})
			})
		},
	}
	f := c.Flags()
	f.StringSliceVar(&r.Kinds, "kind", nil, "only these: decision, fact, note, plan, task, handover; may be repeated")
	f.StringVar(&r.Workspace, "workspace", "", "the workspace (default the root of the repository here, else this directory)")
	f.BoolVar(&everywhere, "everywhere", false, "of all workspaces")
	f.StringVar(&r.Agent, "agent", "", "only by this agent")
	f.StringVar(&r.Session, "session", "", "only of this session")
	f.StringVar(&r.To, "to", "", "only what was handed over to this agent")
	f.StringVar(&since, "since", "", "only what was written at this time or later: an age (2d), a day, or an RFC 3339 time")
	f.BoolVar(&r.All, "all", false, "also what is done, superseded or expired")
	f.BoolVar(&whole, "text", false, "show whole texts")
	f.IntVarP(&r.Limit, "limit", "n", 20, "maximum number of results, up to 1000")
	m.Add(c)
	_ = c.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions([]string{evidence.Decision, evidence.Fact, evidence.Note, evidence.Plan, evidence.Task, evidence.Handover}, cobra.ShellCompDirectiveNoFileComp))
	return c
}
