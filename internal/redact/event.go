package redact

import (
	"context"
	"strings"
	"unicode/utf8"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// maxTail is the bound of output_tail and stated_intent in events.proto, in bytes;
// maxCommand that of a command and of a commit's message.
const (
	maxTail    = 65536
	maxCommand = 1 << 20
)

// maxLogged and maxLoggedName bound the texts of AccessEntry in events.proto.
const (
	maxLogged     = 8192
	maxLoggedName = 256
)

// Event redacts a payload in place: the command, where, by whom and in which session, what
// was said and printed, the environment, and the workspace, which may be a URL with
// credentials; of a commit its message and who wrote it; of spans what OTLP redacts; of an
// access log what clients wrote; of an agent's event every text that people, models or
// programs wrote. A name that events are joined by is redacted to the same name wherever it
// stands, so what belonged together still does.
// Other payloads stay as they are: they have no text of people or programs; the content of
// a file is redacted where it is imported (Source).
func (r *Redactor) Event(m proto.Message) []Finding {
	found, _ := r.EventContext(context.Background(), m)
	return found
}

// EventContext is Event, given up when the context ends: the error is then the context's,
// and the payload is redacted in part, so that nobody may use it.
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
		fits := len(*s) <= most // what does not is refused, not cut
		if text(s); fits {
			*s = head(*s, most)
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
			m.Command = head(m.Command, maxCommand)
		}
		bounded(&m.Workspace, maxNamed)
		bounded(&m.Cwd, maxNamed)
		for _, name := range []*string{&m.Session, &m.User, &m.Host, &m.Author} {
			bounded(name, maxName)
		}
		bounded(&m.StatedIntent, maxTail)
		tail(&m.OutputTail)
		for k, v := range m.Env {
			m.Env[k] = named(k, v)
		}
	case *recountv1.OutcomeObserved:
		tail(&m.OutputTail)
		bounded(&m.Author, maxName)
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

// Bounds of texts in agents.proto that a placeholder might exceed.
const (
	maxStated = 1024
	maxNamed  = 4096
	maxStatus = 64
	maxName   = 256 // and those of sessions, users and hosts in events.proto
)

// agentEvent redacts the texts of an agent's event: text does one in place, named gives
// the value of a name. Texts that have bounds keep them. Names that access is granted by
// (tenant, agent) and ids stay as they are. The hash of an artifact's content goes
// with a secret that was in it.
func agentEvent(m *recountv1.AgentEvent, text, command func(*string), named func(name, val string) string) {
	bounded := func(s *string, most int) {
		text(s)
		*s = head(*s, most)
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
		s.Value = named(s.Key, s.Value) // api_token says what its value is
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

// says reports whether a predicate makes the value what the subject is, and no statement
// about it, such as that a token expires after a day.
func says(predicate string) bool {
	switch strings.ToLower(strings.TrimSpace(predicate)) {
	case "", "is", "are", "=", ":", "==", "equals", "value", "has value", "was", "is set to", "set to", "will be":
		return true
	}
	return false
}

// spans redacts what stands in memory as OTLP redacts what stands on the wire. An error is
// the context's.
func (r *Redactor) spans(ctx context.Context, m *tracepb.TracesData) ([]Finding, error) {
	b, err := proto.Marshal(m)
	if err != nil {
		return nil, nil // text that is not UTF-8, which nothing decodes or stores
	}
	w := wire{ctx: ctx, r: r, deep: true}
	out, err := w.message(OTLPTraces, b, 0, false)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil && out != nil {
		proto.Reset(m)
		err = proto.Unmarshal(out, m)
	}
	if err != nil {
		panic(err) // what the library wrote is not what it reads
	}
	return w.found, nil
}

// head is the first part of s, at most n bytes of whole characters.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
