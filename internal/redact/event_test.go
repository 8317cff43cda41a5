package redact

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func TestEvent(t *testing.T) {
	ev := &recountv1.CommandExecuted{
		Command:      "tool --password hunter2",
		StatedIntent: "log in with https://me:hunter2@example.com",
		OutputTail:   strings.Repeat("é", maxTail/2-8) + " token=\"q\"",
		Env:          map[string]string{"DB_PASSWORD": "two words", "HOME": "/home/me", "URL": "redis://:hunter2@db", "KEYFILE": "/a/b"},
		Cwd:          "/src",
	}
	r := Default()
	if n := len(r.Event(ev)); n != 5 {
		t.Errorf("found %d, want 5", n)
	}
	want := &recountv1.CommandExecuted{
		Command:      "tool --password [redacted:password]",
		StatedIntent: "log in with https://me:[redacted:url-password]@example.com",
		OutputTail:   strings.Repeat("é", (maxTail-len(` token="[redacted:secret]"`))/2) + ` token="[redacted:secret]"`,
		Env:          map[string]string{"DB_PASSWORD": "[redacted:secret]", "HOME": "/home/me", "URL": "redis://:[redacted:url-password]@db", "KEYFILE": "/a/b"},
		Cwd:          "/src",
	}
	if d := cmp.Diff(want, ev, protocmp.Transform()); d != "" {
		t.Error(d)
	}
	again := proto.Clone(ev)
	if fs := r.Event(ev); len(fs) != 0 || !proto.Equal(again, ev) {
		t.Errorf("the second time found %v", fs)
	}
	out := &recountv1.OutcomeObserved{OutputTail: "PGPASSWORD=hunter2"}
	r.Event(out)
	if out.OutputTail != "PGPASSWORD=[redacted:password]" {
		t.Error(out.OutputTail)
	}
	commit := &recountv1.CommitRecorded{Message: "log in with https://me:hunter2@example.com\n"}
	if fs := r.Event(commit); len(fs) != 1 || commit.Message != "log in with https://me:[redacted:url-password]@example.com\n" {
		t.Error(fs, commit.Message)
	}
}

// TestBoundsOfEvents checks that a text within its limit is still within it after redaction,
// although a placeholder may be longer than the secret. A text beyond its limit is refused later,
// and not cut.
func TestBoundsOfEvents(t *testing.T) {
	filled := func(n int) string {
		s := "PGPASSWORD=a x "
		return s + strings.Repeat("y", n-len(s))
	}
	for name, c := range map[string]struct {
		most int
		of   func(text string) (proto.Message, *string)
	}{
		"a command": {maxCommand, func(s string) (proto.Message, *string) {
			m := &recountv1.CommandExecuted{Command: s}
			return m, &m.Command
		}},
		"a directory": {maxNamed, func(s string) (proto.Message, *string) { m := &recountv1.CommandExecuted{Cwd: s}; return m, &m.Cwd }},
		"an author": {maxName, func(s string) (proto.Message, *string) {
			m := &recountv1.OutcomeObserved{Author: s}
			return m, &m.Author
		}},
		"a message": {maxCommand, func(s string) (proto.Message, *string) {
			m := &recountv1.CommitRecorded{Message: s}
			return m, &m.Message
		}},
	} {
		for n, want := range map[int]int{c.most: c.most, c.most + 1: c.most + 1 + len("[redacted:password]") - len("a")} {
			m, text := c.of(filled(n))
			Default().Event(m)
			if len(*text) != want || !strings.HasPrefix(*text, "PGPASSWORD=[redacted:password] x y") {
				t.Errorf("%s of %d bytes: %d, want %d: %.40q", name, n, len(*text), want, *text)
			}
		}
	}
}

// TestAgentEvent checks that every text of an agent's event is redacted within its limit, and that
// the names by which events are joined are not changed.
func TestAgentEvent(t *testing.T) {
	const secret, gone = "PGPASSWORD=hunter2", "PGPASSWORD=[redacted:password]"
	ev := &recountv1.AgentEvent{
		Tenant: "acme", Workspace: "https://me:hunter2@example.com/shop", Agent: "a", Session: "s", ParentEventId: "p",
		Text: secret, Thought: secret, Relations: []*recountv1.Relation{{Kind: "supports", Ref: "url:https://me:hunter2@example.com"}},
		Tool:     &recountv1.Tool{Name: "bash", CallId: "c", Arguments: secret, Command: secret, Cwd: "/src", Files: []string{secret}, Result: secret},
		Plan:     &recountv1.Plan{Id: "p", Steps: []*recountv1.PlanStep{{Text: secret, Status: "done"}}},
		State:    &recountv1.StateChange{Key: "api_token", Value: "hunter2"},
		Artifact: &recountv1.ArtifactProduced{Uri: "a.env", Content: secret, ContentHash: strings.Repeat("0", 64), Size: 18},
		Task:     &recountv1.Task{Id: "t", Title: secret, Outcome: secret}, Handoff: &recountv1.Handoff{ToAgent: "b", Reason: secret},
		Memory:     &recountv1.Statement{Subject: secret, Predicate: "is", Value: secret},
		Attributes: map[string]string{"DB_PASSWORD": "two words", "note": secret, "plain": "x"},
	}
	want := &recountv1.AgentEvent{
		Tenant: "acme", Workspace: "https://me:[redacted:url-password]@example.com/shop", Agent: "a", Session: "s", ParentEventId: "p",
		Text: gone, Thought: gone, Relations: []*recountv1.Relation{{Kind: "supports", Ref: "url:https://me:[redacted:url-password]@example.com"}},
		Tool:     &recountv1.Tool{Name: "bash", CallId: "c", Arguments: gone, Command: gone, Cwd: "/src", Files: []string{gone}, Result: gone},
		Plan:     &recountv1.Plan{Id: "p", Steps: []*recountv1.PlanStep{{Text: gone, Status: "done"}}},
		State:    &recountv1.StateChange{Key: "api_token", Value: "[redacted:secret]"},
		Artifact: &recountv1.ArtifactProduced{Uri: "a.env", Content: gone},
		Task:     &recountv1.Task{Id: "t", Title: gone, Outcome: gone}, Handoff: &recountv1.Handoff{ToAgent: "b", Reason: gone},
		Memory:     &recountv1.Statement{Subject: gone, Predicate: "is", Value: gone},
		Attributes: map[string]string{"DB_PASSWORD": "[redacted:secret]", "note": gone, "plain": "x"},
	}
	r := Default()
	if n := len(r.Event(ev)); n != 18 {
		t.Errorf("found %d, want 18", n)
	}
	if d := cmp.Diff(want, ev, protocmp.Transform()); d != "" {
		t.Error(d)
	}
	if fs := r.Event(ev); len(fs) != 0 || !proto.Equal(want, ev) {
		t.Errorf("the second time found %v", fs)
	}
	long := &recountv1.AgentEvent{Task: &recountv1.Task{Title: strings.Repeat("é", maxNamed/2-9) + " " + secret}}
	if r.Event(long); len(long.Task.Title) > maxNamed || strings.Contains(long.Task.Title, "hunter2") {
		t.Errorf("a title of %d bytes: %q", len(long.Task.Title), long.Task.Title)
	}
}

// TestNamesOfEvents checks that names are redacted, too, each to the same name everywhere.
func TestNamesOfEvents(t *testing.T) {
	const secret, gone = "https://me:hunter2@example.com", "https://me:[redacted:url-password]@example.com"
	got := []proto.Message{
		&recountv1.CommandExecuted{Command: "ls", Workspace: secret, Cwd: "/src/" + secret, Session: secret, User: secret, Host: secret, Author: secret},
		&recountv1.OutcomeObserved{Author: secret},
		&recountv1.CommitRecorded{Author: &recountv1.Signature{Name: secret}, Committer: &recountv1.Signature{Email: secret}},
		&recountv1.AgentEvent{Session: secret, Handoff: &recountv1.Handoff{ToSession: secret}},
		&recountv1.AgentEvent{Memory: &recountv1.Statement{Subject: "db password", Predicate: "is", Value: "correct horse"}},
		&recountv1.AgentEvent{Memory: &recountv1.Statement{Subject: "db", Predicate: "has the password", Value: "correct horse"}},
		&recountv1.AgentEvent{Memory: &recountv1.Statement{Subject: "the session token", Predicate: "expires after", Value: "15 minutes"}},
	}
	want := []proto.Message{
		&recountv1.CommandExecuted{Command: "ls", Workspace: gone, Cwd: "/src/" + gone, Session: gone, User: gone, Host: gone, Author: gone},
		&recountv1.OutcomeObserved{Author: gone},
		&recountv1.CommitRecorded{Author: &recountv1.Signature{Name: gone}, Committer: &recountv1.Signature{Email: gone}},
		&recountv1.AgentEvent{Session: gone, Handoff: &recountv1.Handoff{ToSession: gone}},
		&recountv1.AgentEvent{Memory: &recountv1.Statement{Subject: "db password", Predicate: "is", Value: "[redacted:secret]"}},
		&recountv1.AgentEvent{Memory: &recountv1.Statement{Subject: "db", Predicate: "has the password", Value: "[redacted:secret]"}},
		&recountv1.AgentEvent{Memory: &recountv1.Statement{Subject: "the session token", Predicate: "expires after", Value: "15 minutes"}},
	}
	for i, m := range got {
		Default().Event(m)
		if d := cmp.Diff(want[i], m, protocmp.Transform()); d != "" {
			t.Error(d)
		}
		if found := Default().Event(m); len(found) != 0 {
			t.Errorf("the second time found %v in %v", found, m)
		}
	}
}
