package redact

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/schemas/otlpwire"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// maxTail is the limit of output_tail and stated_intent in events.proto, in bytes; maxCommand is
// that of commands and commit messages.
const (
	maxTail    = 65536
	maxCommand = 1 << 20
)

// maxLogged and maxLoggedName are the limits of the texts of AccessEntry in events.proto.
const (
	maxLogged     = 8192
	maxLoggedName = 256
)

// Event redacts a payload in place and returns what was found. It redacts a command with its
// directory, user, host, session, stated intent, output, environment, and workspace (which may be a
// URL with credentials); a replay's plan, commands and outputs; a commit's message and authors; spans as OTLP does; an access log's texts
// from clients; and every text of an agent's event that people, models or programs wrote. A name by
// which events are joined is always redacted to the same name, so related events remain related.
// Other payloads are not changed: they contain no text of people or programs. File contents are
// redacted when they are imported (Source).
func (r *Redactor) Event(m proto.Message) []Finding {
	found, _ := r.EventContext(context.Background(), m)
	return found
}

// EventContext is like Event, but stops when the context ends. It then returns the context's error,
// and the payload is partly redacted and must not be used.
func (r *Redactor) EventContext(ctx context.Context, m proto.Message) ([]Finding, error) {
	e := event{ctx: ctx, r: r}
	switch m := m.(type) {
	case *recountv1.CommandExecuted:
		fits := len(m.Command) <= maxCommand
		if e.command(&m.Command); fits {
			m.Command = schemas.Clip(m.Command, maxCommand)
		}
		e.bounded(&m.Workspace, maxNamed)
		e.bounded(&m.Cwd, maxNamed)
		e.bounded(&m.Home, maxNamed)
		for _, name := range []*string{&m.Session, &m.User, &m.Host, &m.Author} {
			e.bounded(name, maxName)
		}
		e.bounded(&m.StatedIntent, maxTail)
		e.tail(&m.OutputTail)
		for k, v := range m.Env {
			m.Env[k] = e.named(k, v)
		}
		e.changes(m.Changes)
	case *recountv1.OutcomeObserved:
		e.tail(&m.OutputTail)
		e.bounded(&m.Author, maxName)
		e.files(m.Files)
		e.changes(m.Changes)
	case *recountv1.ReplayPlanned:
		e.bounded(&m.Workspace, maxNamed)
		m.Plan = jsonStrings(m.Plan, func(name, val string) string {
			if name == "command" || name == "original" {
				e.command(&val)
				return val
			}
			return e.named(name, val)
		})
		e.bounded(&m.Goal, maxNamed)
		e.bounded(&m.Directory, maxNamed)
		for _, name := range []*string{&m.User, &m.Host, &m.Author} {
			e.bounded(name, maxName)
		}
	case *recountv1.ReplayStepStarted:
		e.command(&m.Command)
		for _, name := range []*string{&m.Workspace, &m.Cwd} {
			e.bounded(name, maxNamed)
		}
	case *recountv1.ReplayStepEnded:
		e.bounded(&m.Workspace, maxNamed)
		e.tail(&m.OutputTail)
		e.bounded(&m.Reason, maxNamed)
		e.files(m.Files)
	case *recountv1.ReplayEnded:
		e.bounded(&m.Workspace, maxNamed)
		e.bounded(&m.Reason, maxNamed)
	case *recountv1.CommitRecorded:
		e.bounded(&m.Message, maxCommand)
		for _, by := range []*recountv1.Signature{m.Author, m.Committer} {
			if by != nil {
				e.text(&by.Name)
				e.text(&by.Email)
			}
		}
	case *recountv1.AgentEvent:
		e.agentEvent(m)
	case *recountv1.FeedbackGiven:
		e.feedback(&m.Task, &m.User, &m.Session, m.Subjects)
	case *recountv1.ContextReturned:
		e.feedback(&m.Task, &m.User, &m.Session, m.Subjects)
	case *tracepb.TracesData:
		return r.spans(ctx, m)
	case *recountv1.AccessLogged:
		for _, x := range m.Entries {
			for _, s := range []struct {
				text *string
				most int
			}{{&x.Path, maxLogged}, {&x.Route, maxLogged}, {&x.Referer, maxLogged}, {&x.UserAgent, maxLogged}, {&x.User, maxLoggedName}} {
				e.bounded(s.text, s.most)
			}
		}
	}
	return e.found, e.ended
}

// event is an event while its texts are redacted, until the context ends.
type event struct {
	ctx   context.Context
	r     *Redactor
	found []Finding
	ended error
}

func (e *event) redact(s *string, by func(context.Context, string) (string, []Finding, error)) {
	if e.ended != nil {
		return
	}
	out, found, err := by(e.ctx, *s)
	if e.ended = err; err == nil {
		*s, e.found = out, append(e.found, found...)
	}
}

func (e *event) text(s *string)    { e.redact(s, e.r.TextContext) }
func (e *event) command(s *string) { e.redact(s, e.r.CommandContext) }

func (e *event) named(name, val string) string {
	e.redact(&val, func(ctx context.Context, val string) (string, []Finding, error) {
		return e.r.NamedContext(ctx, name, val)
	})
	return val
}

func (e *event) bounded(s *string, most int) {
	fits := len(*s) <= most // a text that does not fit is refused later, not cut
	if e.text(s); fits {
		*s = schemas.Clip(*s, most)
	}
}

func (e *event) tail(s *string) {
	e.text(s)
	if over := len(*s) - maxTail; over > 0 { // a placeholder may be longer than what it replaces
		for over < len(*s) && !utf8.RuneStart((*s)[over]) {
			over++
		}
		*s = (*s)[over:]
	}
}

// maxTask is the limit of a task in feedback.proto.
const maxTask = 48 << 10

// files redacts the paths of written files.
func (e *event) files(all []*recountv1.WrittenFile) {
	for _, f := range all {
		e.bounded(&f.Path, maxNamed)
	}
}

// changes redacts the paths of what changed.
func (e *event) changes(c *recountv1.Changes) {
	if c == nil {
		return
	}
	e.bounded(&c.Below, maxNamed)
	e.files(c.Files)
	for i := range c.Directories {
		e.bounded(&c.Directories[i], maxNamed)
	}
}

// feedback redacts who gave it for which task, and the names of what it is about.
func (e *event) feedback(task, user, session *string, about []*recountv1.FeedbackSubject) {
	e.bounded(task, maxTask)
	e.bounded(user, maxName)
	e.bounded(session, maxName)
	for _, s := range about {
		e.bounded(&s.Name, maxNamed)
		e.bounded(&s.Path, maxNamed)
	}
}

// These limits of texts in agents.proto might be exceeded by a placeholder.
const (
	maxStated = 1024
	maxNamed  = 4096
	maxStatus = 64
	maxName   = 256 // and those of sessions, users and hosts in events.proto
)

// agentEvent redacts the texts of an agent's event. Limited texts stay within their limits. Names
// that control access (tenant, agent) and ids are not changed. If a secret was found in an artifact's
// content, the content's hash is removed as well.
func (e *event) agentEvent(m *recountv1.AgentEvent) {
	bounded := func(s *string, most int) {
		e.text(s)
		*s = schemas.Clip(*s, most)
	}
	e.text(&m.Text)
	e.text(&m.Thought)
	bounded(&m.Workspace, maxNamed)
	bounded(&m.Session, maxName)
	for _, rel := range m.Relations {
		bounded(&rel.Ref, maxNamed)
	}
	if t := m.Tool; t != nil {
		e.text(&t.Arguments)
		e.command(&t.Command)
		e.text(&t.Result)
		bounded(&t.Cwd, maxNamed)
		for i := range t.Files {
			e.text(&t.Files[i])
		}
	}
	for _, step := range m.GetPlan().GetSteps() {
		e.text(&step.Text)
		bounded(&step.Status, maxStatus)
	}
	if s := m.State; s != nil {
		s.Value = e.named(s.Key, s.Value) // a name such as api_token shows what its value is
		bounded(&s.Key, maxStated)
	}
	if a := m.Artifact; a != nil {
		before := a.Content
		e.text(&a.Content)
		if a.Content != before {
			a.ContentHash, a.Size = "", 0
		}
		bounded(&a.Uri, maxNamed)
	}
	if t := m.Task; t != nil {
		bounded(&t.Title, maxNamed)
		bounded(&t.Outcome, maxStatus)
	}
	if h := m.Handoff; h != nil {
		e.text(&h.Reason)
		bounded(&h.ToSession, maxName)
	}
	if s := m.Memory; s != nil {
		if says(s.Predicate) {
			s.Value = e.named(s.Subject, s.Value) // "the db password" is …
		} else {
			s.Value = e.named(s.Predicate, s.Value)
		}
		bounded(&s.Subject, maxStated)
		bounded(&s.Predicate, maxStated)
	}
	for k, v := range m.Attributes {
		m.Attributes[k] = e.named(k, v)
	}
}

// says reports whether a predicate states the value of the subject, and not something about it,
// such as that a token expires after a day.
func says(predicate string) bool {
	switch strings.ToLower(strings.TrimSpace(predicate)) {
	case "", "is", "are", "=", ":", "==", "equals", "value", "has value", "was", "is set to", "set to", "will be":
		return true
	}
	return false
}

// spans redacts decoded spans as OTLP redacts encoded ones. An error is the context's.
func (r *Redactor) spans(ctx context.Context, m *tracepb.TracesData) ([]Finding, error) {
	b, err := proto.Marshal(m)
	if err != nil {
		return nil, nil // text that is not UTF-8, which nothing decodes or stores
	}
	w := wire{ctx: ctx, r: r, deep: true}
	out, err := w.message(otlpwire.Traces, b, 0, false)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil && out != nil {
		proto.Reset(m)
		err = proto.Unmarshal(out, m)
	}
	if err != nil {
		panic(err) // the library cannot read what it wrote
	}
	return w.found, nil
}
