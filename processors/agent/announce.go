package agent

import (
	"strings"
	"time"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// announced makes a version of an announcement: that an agent works on a subject, until when, or
// that it no longer does. Two sessions of the same agent announce separately.
func (b *maker) announced() {
	o, m := b.o, b.m
	ended := b.e.Type == schemas.TypeWorkEnded
	subject := subjectOf(m.Announcement)
	_, name, _ := strings.Cut(subject, ":")
	line := "working on " + name
	if ended {
		line = "no longer working on " + name
	}
	if subject == "" {
		line = ""
	}
	o.Text = paragraphs(line, m.Text, m.Thought)
	o.Title = title(o.Text)
	if line != "" && m.Text != "" && !ended {
		o.Title = title(schemas.Clip(line, maxTitle/2) + ": " + title(m.Text))
	}
	b.read = append(b.read, m.Text, m.Thought)
	o.Removed = ended
	if !ended {
		until := o.ValidUntilUnixNano
		if until == 0 {
			until = o.TimeUnixNano + int64(schemas.DefaultAnnounced)
		}
		o.ValidUntilUnixNano = min(until, o.TimeUnixNano+int64(schemas.MaxAnnounced))
	}
	if subject != "" {
		b.note("subject", subject)
		b.version(m.Agent+"\x00"+m.Session, subject)
	}
}

// subjectOf returns what an announcement is about in its canonical form, or "".
func subjectOf(a *recountv1.Announcement) string {
	if s := strings.TrimSpace(a.GetSubject()); s != "" {
		return canonicalRef(s)
	}
	return ""
}

// checkAnnouncement returns an error for an announcement without a subject, of a subject that is
// neither a symbol nor a file, or for a time that is over when it begins or longer than the maximum.
func checkAnnouncement(m *recountv1.AgentEvent) error {
	if m.Announcement == nil {
		return nil
	}
	kind, name, _ := strings.Cut(strings.TrimSpace(m.Announcement.Subject), ":")
	if kind != "symbol" && kind != "file" || strings.TrimSpace(name) == "" {
		return schemas.Poisonf("announcement.subject: %q: want what the agent works on, such as \"symbol:shop.Cart.Add\" or \"file:src/cart.go\"", schemas.Clip(m.Announcement.Subject, 80))
	}
	if m.OccurredAt == nil || m.ValidUntil == nil {
		return nil
	}
	switch d := m.ValidUntil.AsTime().Sub(m.OccurredAt.AsTime()); {
	case d <= 0:
		return schemas.Poisonf("valid_until: %s is not after occurred_at, %s: the announcement would never hold; to end one, send %s",
			m.ValidUntil.AsTime().Format(time.RFC3339), m.OccurredAt.AsTime().Format(time.RFC3339), schemas.TypeWorkEnded)
	case d > schemas.MaxAnnounced:
		return schemas.Poisonf("valid_until: %s is more than %d days after occurred_at: announce again when that time is over",
			m.ValidUntil.AsTime().Format(time.RFC3339), schemas.MaxAnnounced/(24*time.Hour))
	}
	return nil
}

// formOf returns how a statement is meant, in lower case: decision, fact, note, ….
func formOf(s *recountv1.Statement) string {
	return strings.ToLower(strings.TrimSpace(s.GetForm()))
}
