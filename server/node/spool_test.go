package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/internal/spool"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

func spooled(text string) spool.Entry {
	b, _ := json.Marshal(map[string]any{"command": text, "cwd": "/src", "exit_code": 3, "started_at": "2026-01-02T12:00:00Z"})
	return spool.Entry{ID: spool.NewID(), Type: schemas.TypeCommandExecuted, Source: "test", Time: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC), Data: b}
}

func allCommands(t *testing.T, n *Node) (all []string) {
	t.Helper()
	resp, err := commands.FindQuestion.Ask(context.Background(), n, commands.FindRequest{Limit: 100, Repeats: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range resp.Hits {
		all = append(all, h.Command)
	}
	slices.Sort(all)
	return all
}

func logged(t *testing.T, n *Node) (events int64) {
	t.Helper()
	ends, err := n.log.Ends(t.Context(), n.log.Topic(schemas.TopicCommands))
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range ends {
		events += end
	}
	return events
}

// TestSpoolIsDrained checks that a node that opens the directory includes in its answers what was
// spooled before, with secrets redacted by its own rules, and that entries that can never be
// applied are set aside.
func TestSpoolIsDrained(t *testing.T) {
	dir := t.TempDir()
	sp := spool.Dir(dir)
	rules := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(rules, []byte("rules: [{name: acme, pattern: 'acme_[a-z]+'}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	bad := spooled("")
	noID := spooled("no id")
	noID.ID = "x"
	if err := spool.Append(sp, spooled("one acme_secret"), bad, spooled("two"), noID, spooled("three")); err != nil {
		t.Fatal(err)
	}
	n, err := OpenLocal(t.Context(), Config{DataDir: dir, RedactRules: rules}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if got := fmt.Sprint(allCommands(t, n)); got != "[one [redacted:acme] three two]" {
		t.Errorf("got %s", got)
	}
	st := spool.Inspect(sp)
	if n.SpoolFault() != nil || st.Waiting != 0 || st.Refused != 2 || !spool.Empty(sp) && st.Fault != nil {
		t.Errorf("%v %+v", n.SpoolFault(), st)
	}
	s, err := n.Status(t.Context(), api.StatusRequest{})
	if err != nil || s.Spool.Refused != 2 || s.Spool.Fault != "" {
		t.Errorf("%+v %v", s.Spool, err)
	}
}

// TestWhatAnOlderServerRefused checks that a server takes what another version could not read, and once sees what nobody can.
func TestWhatAnOlderServerRefused(t *testing.T) {
	dir := t.TempDir()
	sp := spool.Dir(dir)
	if err := spool.Append(sp, spooled("one"), spooled("")); err != nil {
		t.Fatal(err)
	}
	if _, err := spool.NewDrainer(sp).Drain(func([]spool.Entry) error {
		return &spool.Refused{Err: errors.New(`unknown field "changes"`)}
	}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		n, err := OpenLocal(t.Context(), Config{DataDir: dir}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := allCommands(t, n); !slices.Equal(got, []string{"one"}) || spool.Inspect(sp).Refused != 1 {
			t.Errorf("%q; %+v", got, spool.Inspect(sp))
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDrainCutShort checks that the next process recognises what a process left that ended between
// append and removal.
func TestDrainCutShort(t *testing.T) {
	dir := t.TempDir()
	sp := spool.Dir(dir)
	if err := spool.Append(sp, spooled("one"), spooled("two")); err != nil {
		t.Fatal(err)
	}
	n, err := OpenLocal(t.Context(), Config{DataDir: dir, Roles: []string{RoleLog, RoleIngest}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	// Make it look as if the first drain had been interrupted: the same entries, taken.
	entries := []spool.Entry{spooled("three"), spooled("four")}
	if err := spool.Append(sp, entries...); err != nil {
		t.Fatal(err)
	}
	again, err := os.ReadFile(filepath.Join(sp, "new"))
	if err != nil {
		t.Fatal(err)
	}
	n, err = OpenLocal(t.Context(), Config{DataDir: dir, Roles: []string{RoleLog, RoleIngest}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(sp, "7.taken"), again, 0o600); err != nil {
		t.Fatal(err)
	}
	n, err = OpenLocal(t.Context(), Config{DataDir: dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if got := fmt.Sprint(allCommands(t, n)); got != "[four one three two]" {
		t.Errorf("got %s", got)
	}
	if got := logged(t, n); got != 4 {
		t.Errorf("%d events in the log, want 4", got)
	}
}

// TestServerDrains checks that a server takes what is spooled while it runs, and that the spool is
// empty once questions see it.
func TestServerDrains(t *testing.T) {
	dir := t.TempDir()
	sp := spool.Dir(dir)
	n, err := Open(t.Context(), Config{DataDir: dir, HTTP: HTTPConfig{Listen: "127.0.0.1:0"}, Kafka: KafkaConfig{Listen: noListener}, OTLP: OTLPConfig{GRPC: "none", HTTP: "none"}})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	for i := range 3 {
		if err := spool.Append(sp, spooled(fmt.Sprintf("run %d", i))); err != nil {
			t.Fatal(err)
		}
		for until := time.Now().Add(time.Minute); !spool.Empty(sp); {
			if time.Now().After(until) {
				t.Fatal("not drained")
			}
		}
		if got := strings.Join(allCommands(t, n), ","); !strings.HasSuffix(got, fmt.Sprintf("run %d", i)) {
			t.Errorf("got %s", got)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
