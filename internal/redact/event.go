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
func (r *Redactor) EventContext(ctx context.Context, m proto.Message) (found []Finding, ended error) {
	redacted := func(s *string, by func() (string, []Finding, error)) {
		if ended != nil {
			return
		}
		out, fs, err := by()
		if ended = err; err == nil {
			*s, found = out, append(found, fs...)
		}
	}
	text := func(s *string) {
		redacted(s, func() (string, []Finding, error) { return r.TextContext(ctx, *s) })
	}
	bounded := func(s *string, most int) {
		fits := len(*s) <= most // a text that does not fit is refused later, not cut
		if text(s); fits {
			*s = schemas.Clip(*s, most)
		}
	}
	tail := func(s *string) {
		text(s)
		if over := len(*s) - maxTail; over > 0 { // a placeholder may be longer than what it replaces
			for over < len(*s) && !utf8.RuneStart((*s)[over]) {
				over++
			}
			*s = (*s)[over:]
		}
	}
	command := func(s *string) {
		redacted(s, func() (string, []Finding, error) { return r.CommandContext(ctx, *s) })
	}
	named := func(name, val string) string {
		redacted(&val, func() (string, []Finding, error) { return r.NamedContext(ctx, name, val) })
		return val
	}
	switch m := m.(type) {
	case *recountv1.CommandExecuted:
		fits := len(m.Command) <= maxCommand
		if command(&m.Command); fits {
			m.Command = schemas.Clip(m.Command, maxCommand)
		}
		bounded(&m.Workspace, maxNamed)
		bounded(&m.Cwd, maxNamed)
		bounded(&m.Home, maxNamed)
		for _, name := range []*string{&m.Session, &m.User, &m.Host, &m.Author} {
			bounded(name, maxName)
		}
		bounded(&m.StatedIntent, maxTail)
		tail(&m.OutputTail)
		for k, v := range m.Env {
			m.Env[k] = named(k, v)
		}
		changes(m.Changes, bounded)
	case *recountv1.OutcomeObserved:
		tail(&m.OutputTail)
		bounded(&m.Author, maxName)
		files(m.Files, bounded)
		changes(m.Changes, bounded)
	case *recountv1.ReplayPlanned:
		bounded(&m.Workspace, maxNamed)
		m.Plan = jsonStrings(m.Plan, func(name, val string) string {
			if name == "command" || name == "original" {
				command(&val)
				return val
			}
			return named(name, val)
		})
		bounded(&m.Goal, maxNamed)
		bounded(&m.Directory, maxNamed)
		for _, name := range []*string{&m.User, &m.Host, &m.Author} {
			bounded(name, maxName)
		}
	case *recountv1.ReplayStepStarted:
		command(&m.Command)
		for _, name := range []*string{&m.Workspace, &m.Cwd} {
			bounded(name, maxNamed)
		}
	case *recountv1.ReplayStepEnded:
		bounded(&m.Workspace, maxNamed)
		tail(&m.OutputTail)
		bounded(&m.Reason, maxNamed)
		files(m.Files, bounded)
	case *recountv1.ReplayEnded:
		bounded(&m.Workspace, maxNamed)
		bounded(&m.Reason, maxNamed)
	case *recountv1.CommitRecorded:
		bounded(&m.Message, maxCommand)
		for _, by := range []*recountv1.Signature{m.Author, m.Committer} {
			if by != nil {
				text(&by.Name)
				text(&by.Email)
			}
		}
	case *recountv1.AgentEvent:
		agentEvent(m, text, command, named)
	case *recountv1.FeedbackGiven:
		bounded(&m.Task, maxTask)
		bounded(&m.User, maxName)
		bounded(&m.Session, maxName)
		subjects(m.Subjects, bounded)
	case *recountv1.ContextReturned:
		bounded(&m.Task, maxTask)
		bounded(&m.User, maxName)
		bounded(&m.Session, maxName)
		subjects(m.Subjects, bounded)
	case *tracepb.TracesData:
		return r.spans(ctx, m)
	case *recountv1.AccessLogged:
		for _, e := range m.Entries {
			for _, s := range []struct {
				text *string
				most int
			}{{&e.Path, maxLogged}, {&e.Route, maxLogged}, {&e.Referer, maxLogged}, {&e.UserAgent, maxLogged}, {&e.User, maxLoggedName}} {
				bounded(s.text, s.most)
			}
		}
	}
	return found, ended
}

// maxTask is the limit of a task in feedback.proto.
const maxTask = 48 << 10

// files redacts the paths of written files.
func files(all []*recountv1.WrittenFile, bounded func(s *string, most int)) {
	for _, f := range all {
		bounded(&f.Path, maxNamed)
	}
}

// changes redacts the paths of what changed.
func changes(c *recountv1.Changes, bounded func(s *string, most int)) {
	if c == nil {
		return
	}
	bounded(&c.Below, maxNamed)
	files(c.Files, bounded)
	for i := range c.Directories {
		bounded(&c.Directories[i], maxNamed)
	}
}

// subjects redacts the names of what feedback is about.
func subjects(all []*recountv1.FeedbackSubject, bounded func(s *string, most int)) {
	for _, s := range all {
		bounded(&s.Name, maxNamed)
		bounded(&s.Path, maxNamed)
	}
}

// These limits of texts in agents.proto might be exceeded by a placeholder.
const (
	maxStated = 1024
	maxNamed  = 4096
	maxStatus = 64
	maxName   = 256 // and those of sessions, users and hosts in events.proto
)

// agentEvent redacts the texts of an agent's event: text redacts one in place, named redacts the
// value of a name. Limited texts stay within their limits. Names that control access (tenant,
// agent) and ids are not changed. If a secret was found in an artifact's content, the content's
// hash is removed as well.
func agentEvent(m *recountv1.AgentEvent, text, command func(*string), named func(name, val string) string) {
	bounded := func(s *string, most int) {
		text(s)
		*s = schemas.Clip(*s, most)
	}
	text(&m.Text)
	text(&m.Thought)
	bounded(&m.Workspace, maxNamed)
	bounded(&m.Session, maxName)
	for _, rel := range m.Relations {
		bounded(&rel.Ref, maxNamed)
	}
	if t := m.Tool; t != nil {
		text(&t.Arguments)
		command(&t.Command)
		text(&t.Result)
		bounded(&t.Cwd, maxNamed)
		for i := range t.Files {
			text(&t.Files[i])
		}
	}
	for _, step := range m.GetPlan().GetSteps() {
		text(&step.Text)
		bounded(&step.Status, maxStatus)
	}
	if s := m.State; s != nil {
		s.Value = named(s.Key, s.Value) // a name such as api_token shows what its value is
		bounded(&s.Key, maxStated)
	}
	if a := m.Artifact; a != nil {
		before := a.Content
		text(&a.Content)
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
		text(&h.Reason)
		bounded(&h.ToSession, maxName)
	}
	if s := m.Memory; s != nil {
		if says(s.Predicate) {
			s.Value = named(s.Subject, s.Value) // "the db password" is …
		} else {
			s.Value = named(s.Predicate, s.Value)
		}
		bounded(&s.Subject, maxStated)
		bounded(&s.Predicate, maxStated)
	}
	for k, v := range m.Attributes {
		m.Attributes[k] = named(k, v)
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
