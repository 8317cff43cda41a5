package mcp

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/api"
)

type rememberIn struct {
	Kind       string   `json:"kind" enum:"decision,fact,note,plan,task,task_done,handover,announce,announce_end" need:"1"`
	Text       string   `json:"text,omitempty"`
	About      []string `json:"about,omitempty" doc:"symbols or files"`
	Steps      []string `json:"steps,omitempty" doc:"plan"`
	ID         string   `json:"id,omitempty" doc:"of the task or plan"`
	To         string   `json:"to,omitempty" doc:"handover: agent"`
	Supersedes string   `json:"supersedes,omitempty"`
	Hours      float64  `json:"hours,omitempty" doc:"how long it holds"`
	Private    bool     `json:"private,omitempty"`
}

// source is the source of events that are written over MCP.
const source = "recount-mcp"

// maxNote is the maximum length of a remembered text in bytes.
const maxNote = 256 << 10

func remember(ctx context.Context, c *call, in rememberIn) (a answer, err error) {
	b, err := c.ask(ctx)
	if err != nil {
		return a, err
	}
	m, kinds, err := c.stated(ctx, b, in)
	if err != nil {
		return a, err
	}
	var events []schemas.Event
	for i, typ := range kinds {
		if in.announces() {
			m.Announcement = &recountv1.Announcement{Subject: c.subject(ctx, b, in.About[i])}
		}
		payload, err := schemas.EncodePayload(m)
		if err != nil {
			return a, err
		}
		events = append(events, schemas.Event{Type: typ, Source: source, ContentType: schemas.ContentJSON, Time: time.Now().UTC(), Payload: payload})
	}
	if in.Kind == "task_done" {
		open, err := evidence.RememberedQuestion.Ask(ctx, b, evidence.RememberedRequest{Kinds: []string{evidence.Task}, Workspace: m.Workspace, Limit: 1000})
		if err != nil {
			return a, err
		}
		if !slices.ContainsFunc(open.Items, func(x evidence.Remembered) bool { return x.Task == in.ID }) {
			return a, &argumentError{"remember", fmt.Sprintf("no open task here has the id %q: call evidence with view=open to see them", in.ID)}
		}
	}
	done, err := b.append(ctx, "POST /v1/events", events)
	if err != nil {
		return a, err
	}
	var w strings.Builder
	written := query.Basis{Status: query.StatusOK, Watermark: schemas.Watermark{}}
	for _, d := range done {
		fmt.Fprintf(&w, "remembered as %s\n", d.ID)
		written.Watermark[d.Position.TP()] = d.Position.Offset + 1
	}
	a.addText("events", struct {
		Events any `json:"events"`
	}{done}, written, w.String())
	if in.Kind == "announce" {
		// Who else is about to change it?
		r := evidence.AnnouncedRequest{About: in.About, Workspace: m.Workspace, At: time.Now().UTC(), AtLeast: written.Watermark}
		r.About = evidence.Around(ctx, b, c.place(ctx).Repo, r)
		others, err := evidence.AnnouncedQuestion.Ask(ctx, b, r)
		if err != nil {
			return a, err
		}
		// Not what was just announced itself.
		others.Announcements = slices.DeleteFunc(others.Announcements, func(x query.Announcement) bool {
			return slices.ContainsFunc(done, func(d api.Appended) bool { return d.Position.String() == x.Position })
		})
		others.Hint = concurrent(others.Announcements, m)
		if len(others.Announcements) > 0 {
			a.add(evidence.AnnouncedQuestion.Path, others, others.Basis)
		}
		return a, nil
	}
	// The next question is to see them. They are in the log whatever comes of this.
	_, _ = evidence.RememberedQuestion.Ask(ctx, b, evidence.RememberedRequest{Workspace: m.Workspace, Limit: 1, AtLeast: written.Watermark})
	return a, nil
}

// concurrent says who else works on the same: other agents, and other sessions of this one.
func concurrent(all []query.Announcement, mine *recountv1.AgentEvent) string {
	var notes []string
	for _, x := range all {
		who := cmp.Or(x.Agent, "somebody")
		switch {
		case x.Agent == mine.Agent && x.Session == mine.Session:
			continue
		case x.Agent == mine.Agent:
			who += " in another session"
		}
		_, name, _ := strings.Cut(x.Subject, ":")
		notes = append(notes, who+" is working on "+name)
	}
	return strings.Join(notes, "; ")
}

// announces reports whether each thing in About is an event of its own.
func (in rememberIn) announces() bool { return strings.HasPrefix(in.Kind, "announce") }

// stated returns what is to be remembered and the types of its events. The error is an *argumentError.
func (c *call) stated(ctx context.Context, b gated, in rememberIn) (m *recountv1.AgentEvent, kinds []string, err error) {
	wrong := func(format string, args ...any) (*recountv1.AgentEvent, []string, error) {
		return nil, nil, &argumentError{"remember", fmt.Sprintf(format, args...)}
	}
	text := strings.TrimSpace(in.Text)
	if len(text) > maxNote {
		return wrong("text has %d bytes, the maximum is %d: write what matters, and name the rest in about", len(text), maxNote)
	}
	m = &recountv1.AgentEvent{Workspace: c.place(ctx).memory(), Agent: c.agent(), Session: c.writer(), Text: text}
	if in.Private {
		m.Visibility = recountv1.Visibility_VISIBILITY_PRIVATE
	}
	if in.Hours < 0 || in.Hours > 24*365*10 {
		return wrong("hours: want more than 0")
	}
	if in.Hours > 0 {
		m.ValidUntil = timestamppb.New(time.Now().Add(time.Duration(in.Hours * float64(time.Hour))))
	}
	switch in.Kind {
	case "decision", "fact", "note":
		kinds = []string{schemas.TypeMemoryStated}
		m.Memory = &recountv1.Statement{Form: in.Kind}
	case "plan":
		kinds = []string{schemas.TypePlanUpdated}
		m.Plan = &recountv1.Plan{Id: in.ID}
		for _, step := range in.Steps {
			m.Plan.Steps = append(m.Plan.Steps, &recountv1.PlanStep{Text: step, Status: "pending"})
		}
		if len(in.Steps) == 0 && text == "" {
			return wrong("a plan wants steps")
		}
		if text == "" {
			m.Text = strings.Join(in.Steps, "\n")
		}
	case "task", "task_done":
		if in.ID == "" {
			return wrong("%s wants id, such as the issue's", in.Kind)
		}
		kinds = []string{schemas.TypeTaskStarted}
		m.Task = &recountv1.Task{Id: in.ID, Title: text}
		if in.Kind == "task_done" {
			kinds[0], m.Task.Outcome = schemas.TypeTaskFinished, "succeeded"
		}
	case "handover":
		if in.To == "" {
			return wrong("handover wants to, the agent's name")
		}
		kinds = []string{schemas.TypeHandoff}
		m.Handoff = &recountv1.Handoff{ToAgent: in.To, Reason: text}
	case "announce":
		kinds = slices.Repeat([]string{schemas.TypeWorkAnnounced}, len(in.About))
	case "announce_end":
		kinds = slices.Repeat([]string{schemas.TypeWorkEnded}, len(in.About))
	}
	if in.announces() && len(kinds) == 0 {
		return wrong("%s wants about: the symbols or files", in.Kind)
	}
	if m.Text == "" && in.Kind != "task_done" && !in.announces() {
		return wrong("text is missing: what to remember")
	}
	if in.Supersedes != "" {
		m.Relations = append(m.Relations, &recountv1.Relation{Kind: "supersedes", EventId: in.Supersedes})
	}
	if !in.announces() {
		for _, name := range in.About {
			m.Relations = append(m.Relations, &recountv1.Relation{Kind: "refers_to", Ref: c.subject(ctx, b, name)})
		}
	}
	return m, kinds, nil
}

// agent returns the name under which the client writes, if its token has none.
func (c *call) agent() string {
	if info := c.request.ClientInfo(); info != nil {
		return abridged(cmp.Or(info.Name, "mcp"), 200)
	}
	return "mcp"
}

// subject returns the name of a symbol or a file as relations have it.
func (c *call) subject(ctx context.Context, b gated, name string) string {
	name = c.path(ctx, name)
	if strings.HasPrefix(name, "symbol:") || strings.HasPrefix(name, "file:") {
		return name
	}
	file, _, _ := strings.Cut(name, ":")
	if strings.Contains(name, "/") || file != name || c.isFile(ctx, b, file) {
		return "file:" + file
	}
	return "symbol:" + name
}

// isFile reports whether a name without directories is that of a file in the root of the client's working tree, which
// an announcement on the command line takes for a file, too; over HTTP, of a file in the repository's code.
func (c *call) isFile(ctx context.Context, b gated, name string) bool {
	place := c.place(ctx)
	if c.server.o.Locate != nil {
		st, err := os.Stat(filepath.Join(place.Workspace, name))
		return err == nil && place.Workspace != "" && !st.IsDir()
	}
	found, err := code.SymbolsQuestion.Ask(ctx, b, code.SymbolsRequest{Scope: code.Scope{Repo: place.Repo}, Text: name, Limit: 20})
	return err == nil && slices.ContainsFunc(found.Symbols, func(h code.SymbolHit) bool { return h.Kind == "file" && h.File == name })
}
