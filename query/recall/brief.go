package recall

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// These limit the items of a brief, by kind.
const (
	briefPlans     = 2
	briefSteps     = 5
	briefDecisions = 5
	briefNotes     = 3
	briefHandovers = 3
	briefAnnounced = 4
	briefFailures  = 4
	briefCommits   = 6
	briefCommands  = 4
	// briefSessions is how many of the workspace's newest sessions are read for failures and for
	// flaky and slow commands.
	briefSessions = 8
	// current is how long open work is taken for open.
	current = 14 * 24 * time.Hour
)

// briefing is a brief while it is made.
type briefing struct {
	*session
	r     BriefRequest
	items []Item
	// sessions are the newest sessions with results of tools, the newest first.
	sessions []string
}

// Brief answers a request for a brief. An error is a *query.RequestError, a *query.NotVisibleError,
// that of ctx, or that of a projection.
func Brief(ctx context.Context, asked Asked, r BriefRequest) (Response, error) {
	r, err := r.normal()
	if err != nil {
		return Response{}, err
	}
	a, err := open(ctx, asked, r.Moment, r.Workspace, r.Without, r.Now)
	if err != nil {
		return Response{}, err
	}
	defer a.Close()
	a.dates = r.Dates
	b := &briefing{session: a, r: r}
	for _, part := range []struct {
		name string
		add  func() error
	}{{"handovers", b.handovers}, {"tasks", b.tasks}, {"announcements", b.announcements}, {"decisions", b.decisions}, {"failures", b.failures}, {"commits", b.commits}, {"commands", b.commands}} {
		before := len(b.items)
		if err := part.add(); err != nil {
			return Response{}, err
		}
		a.Step(query.Step{Operator: part.name, Counts: map[string]int64{"items": int64(len(b.items) - before)}})
		a.RecordTime(part.name)
	}
	items := slices.DeleteFunc(b.items, func(x Item) bool { return a.without[x.ID] })
	resp := Response{}
	resp.Text, resp.Tokens, resp.Items = a.pack(items, r.Tokens)
	a.RecordTime("pack")
	resp.Basis = query.BasisOf(&a.Session, len(resp.Items) == 0, "", []query.AppliedFilter{})
	if len(resp.Items) == 0 {
		resp.Hint = "nothing is recorded of agents in this workspace: install hooks (recount hook claude-code --install), or import sessions (recount import agents)"
	}
	return resp, nil
}

// latest returns the newest objects that events of some types stated, the newest first, without
// those of the session that asks.
func (b *briefing) latest(k int, events ...string) ([]*objects.Stored, error) {
	f := b.filter()
	f.Events = events
	refs, err := b.view.Latest(b.Ctx, f, k)
	if err != nil {
		return nil, err
	}
	var all []*objects.Stored
	for _, ref := range refs {
		o, err := b.object(ref)
		if err != nil {
			return nil, err
		}
		if o != nil && (b.r.Session == "" || o.Session != b.r.Session) {
			all = append(all, o)
		}
	}
	return all, nil
}

// item returns an object as an item.
func item(o *objects.Stored, kind, title string, lines ...string) Item {
	return Item{
		ID: o.At, Kind: kind, Title: title, Source: source(o), Outside: outside(o), Session: o.Session, Position: o.At,
		Time: time.Unix(0, o.TimeUnixNano).UTC(), Quote: strings.Join(lines, "\n"), lines: lines,
	}
}

// tasks adds tasks that were started and not finished, plans with steps that are not done, and plans
// without steps, of which nobody says that they are done.
func (b *briefing) tasks() error {
	tasks, err := b.latest(64, schemas.TypeTaskStarted, schemas.TypeTaskFinished)
	if err != nil {
		return err
	}
	ended := map[schemas.ObjectID]bool{}
	n := 0
	for _, o := range tasks {
		if o.EventType == schemas.TypeTaskFinished || ended[o.ObjectID()] {
			ended[o.ObjectID()] = true
			continue
		}
		ended[o.ObjectID()] = true
		if n < briefPlans && o.Versioned && b.isCurrent(o) {
			n++
			text := strings.TrimSuffix(sentence(o.Text, 200), " started")
			for _, x := range o.Attributes {
				if x.Key == "task" {
					text = oneLine(x.Value, 80) + ": " + text
				}
			}
			b.items = append(b.items, item(o, KindTask, "Task that was started and not finished", text))
		}
	}
	plans, err := b.latest(64, schemas.TypePlanUpdated)
	if err != nil {
		return err
	}
	seen := map[any]bool{}
	n = 0
	for _, o := range plans {
		// A session has one plan. One of no session, which a person writes, is replaced by itself alone.
		of := any(o.Session)
		if o.Session == "" {
			of = o.ObjectID()
		}
		if seen[of] || n == briefPlans || !b.isCurrent(o) {
			continue
		}
		seen[of] = true
		open, done := steps(o.Text)
		title := "Plan whose steps are not all done"
		switch {
		case len(open) == 0 && done > 0 || strings.TrimSpace(o.Text) == "":
			continue
		case len(open) == 0:
			title, open = "Plan without steps", []string{sentence(o.Text, 200)}
		case done == 0:
			title = "Plan of which no step is done"
		}
		n++
		b.items = append(b.items, item(o, KindTask, title, open[:min(len(open), briefSteps)]...))
	}
	return nil
}

func (b *briefing) isCurrent(o *objects.Stored) bool { return b.now-o.TimeUnixNano < int64(current) }

// steps returns the steps of a plan's text that are not done, and how many are.
func steps(text string) (open []string, done int) {
	for line := range strings.Lines(text) {
		step, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !ok {
			continue
		}
		status, rest, has := strings.Cut(strings.TrimPrefix(step, "["), "] ")
		if !has || !strings.HasPrefix(step, "[") {
			status, rest = "", step
		}
		switch strings.ToLower(status) {
		case "done", "completed", "complete", "cancelled", "canceled", "skipped":
			done++
		default:
			open = append(open, oneLine(step, 160))
			_ = rest
		}
	}
	return open, done
}

// commits adds the commits of the workspace's repository since the agent was last here.
func (b *briefing) commits() error {
	if b.r.Workspace == "" || b.asked.Code.Set == nil || !b.asked.Principal.Granted(schemas.GrantCode) {
		return nil
	}
	since, err := b.lastHere()
	if err != nil || since.IsZero() {
		return err
	}
	all := b.history()
	var lines []string
	more := 0
	for _, c := range all {
		if !c.Time.After(since) || c.Time.UnixNano() > b.now {
			continue
		}
		if len(lines) == briefCommits {
			more++
			continue
		}
		lines = append(lines, c.Commit[:min(len(c.Commit), 9)]+" "+oneLine(c.Subject, 120)+" · "+oneLine(c.Author, 40))
	}
	if len(lines) == 0 {
		return nil
	}
	newest := all[0]
	x := Item{
		ID: newest.Position.String(), Kind: KindCommit, Title: "Commits since " + b.visitor() + " last here (" + b.age(since.UnixNano()) + "), newest first",
		Source: "git", Position: newest.Position.String(), Time: newest.Time, lines: lines, Quote: strings.Join(lines, "\n"),
	}
	if more > 0 {
		x.Title += " (the newest few)"
	}
	b.items = append(b.items, x)
	return nil
}

func (b *briefing) visitor() string {
	if b.r.Agent == "" {
		return "an agent was"
	}
	return oneLine(b.r.Agent, 40) + " was"
}

// lastHere returns when the agent was last in the workspace in another session; zero if never.
func (b *briefing) lastHere() (time.Time, error) {
	f := b.filter()
	f.Agent = b.r.Agent
	refs, err := b.view.Latest(b.Ctx, f, 512)
	if err != nil {
		return time.Time{}, err
	}
	for _, ref := range refs {
		at, ok := b.view.Attributes(ref)
		if ok && at.Agent != "" && (b.r.Session == "" || at.Session != b.r.Session) {
			return time.Unix(0, at.TimeUnixNano).UTC(), nil
		}
	}
	return time.Time{}, nil
}
