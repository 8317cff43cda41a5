package replaying

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/processors"
	"github.com/recountdb/recount/processors/embed"
	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/lexical"
	"github.com/recountdb/recount/projections/narrative"
	store "github.com/recountdb/recount/projections/replays"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/projections/vector"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/plan"
	"github.com/recountdb/recount/replay/sandbox"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

// memory is a log that applies each event at once.
type memory struct {
	set  *projections.Set
	next int64
}

func newMemory(t *testing.T) *memory {
	t.Helper()
	set, err := projections.Open(t.TempDir(), projections.Options{}, segment.Kind(segment.Options{}), lexical.Kind, vector.Kind(vector.Options{}), narrative.Kind, store.Kind)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = set.Close() })
	return &memory{set: set}
}

func (m *memory) Append(ctx context.Context, events []schemas.Event) ([]api.Appended, error) {
	var out []api.Appended
	for _, e := range events {
		if e.ID.IsZero() {
			e.ID = e.DeriveID()
		}
		at := schemas.Position{Topic: "recount.commands", Offset: m.next}
		records, err := processors.Records(ctx, []schemas.LogRecord{{Position: at, Headers: e.Headers(), Value: e.Payload}}, processors.DefaultChain())
		if err != nil {
			return out, err
		}
		m.next++
		if err := m.set.Apply(ctx, schemas.Batch{Topic: at.Topic, Next: m.next, Records: records}); err != nil {
			return out, err
		}
		out = append(out, api.Appended{Position: at})
	}
	return out, nil
}

func (m *memory) sources() commands.Sources {
	return commands.Sources{Set: m.set, Embedder: embed.NewHash(), Concepts: embed.Concepts}
}

func (m *memory) Answer(ctx context.Context, path string, request, response any) (err error) {
	if path == plan.Question.Path {
		out := response.(*plan.Response)
		*out, err = plan.Answer(ctx, m.sources(), request.(plan.Request))
		return err
	}
	return commands.Questions.Answer(ctx, m.sources(), path, request, response)
}

func (m *memory) Show(ctx context.Context, ref string) (commands.ShowResponse, error) {
	s := m.sources()
	s.Event = func(context.Context, schemas.Position) (schemas.LogRecord, error) {
		return schemas.LogRecord{}, errors.New("not kept")
	}
	return commands.Show(ctx, s, ref)
}

// ran appends a command, and returns its id.
func (m *memory) ran(t *testing.T, minute int, dir, command string, exit int) schemas.EventID {
	t.Helper()
	text, err := json.Marshal(map[string]any{"command": command, "cwd": dir, "workspace": dir, "session": "s1", "host": "h", "exit_code": exit})
	if err != nil {
		t.Fatal(err)
	}
	e := schemas.Event{
		Type: schemas.TypeCommandExecuted, Source: "test", ContentType: schemas.ContentJSON, Payload: text,
		Time: time.Date(2026, 11, 20, 10, minute, 0, 0, time.UTC),
	}
	e.ID = e.DeriveID()
	if _, err := m.Append(t.Context(), []schemas.Event{e}); err != nil {
		t.Fatal(err)
	}
	return e.ID
}

// failureOf replays a command without isolation, and returns what is told of its last step, which fails.
func failureOf(t *testing.T, m *memory, dir string, goal schemas.EventID) *Failure {
	t.Helper()
	resp, err := plan.Question.Ask(t.Context(), m, plan.Request{To: goal.String()})
	if err != nil {
		t.Fatal(err)
	}
	var failure *Failure
	report, err := Start(t.Context(), &resp.Plan, Options{
		Log: m, Redact: redact.Default(), Getenv: os.Getenv, State: filepath.Join(t.TempDir(), "state"), Dir: dir, Isolation: sandbox.IsolationNone,
		Progress: func(e Event) {
			if e.Failure != nil {
				failure = e.Failure
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if report.Complete() {
		t.Fatalf("the run is complete: %+v", report)
	}
	return failure
}

// TestFailureTellsTheMend replays a command that failed once, was mended, and worked. It fails again.
func TestFailureTellsTheMend(t *testing.T) {
	m, dir := newMemory(t), t.TempDir()
	m.ran(t, 1, dir, "sh build.sh > out", 1)
	m.ran(t, 2, dir, "cp sample.sh build.sh", 0)
	goal := m.ran(t, 3, dir, "sh build.sh > out", 0)
	if err := os.WriteFile(filepath.Join(dir, "sample.sh"), []byte("exit 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := failureOf(t, m, dir, goal)
	if f == nil || f.Mend == nil {
		t.Fatalf("got %+v, want a mend", f)
	}
	if diff := cmp.Diff([]string{"cp sample.sh build.sh", "sh build.sh > out"}, f.Mend.Steps); diff != "" {
		t.Error(diff)
	}
	if f.Flaky != nil {
		t.Errorf("it is called flaky: %+v", f.Flaky)
	}
	if text := strings.Join(f.Lines(), "\n"); !strings.Contains(text, "mended before by: cp sample.sh build.sh\nthen sh build.sh > out worked") {
		t.Errorf("the mend is not told:\n%s", text)
	}
}

// TestFailureTellsNoNeighbours replays a command before which another one ran that has nothing to do with it.
func TestFailureTellsNoNeighbours(t *testing.T) {
	m, dir := newMemory(t), t.TempDir()
	m.ran(t, 1, dir, "date", 1)
	goal := m.ran(t, 2, dir, "sh try.sh > out", 0)
	if err := os.WriteFile(filepath.Join(dir, "try.sh"), []byte("exit 4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if f := failureOf(t, m, dir, goal); f != nil && slices.ContainsFunc(f.Causes, func(c Cause) bool { return c.Command == "date" }) {
		t.Errorf("got %+v", f.Causes)
	}
}

// TestFailureTellsFlaky replays a command that failed and worked at once, twice: that is no mend.
func TestFailureTellsFlaky(t *testing.T) {
	m, dir := newMemory(t), t.TempDir()
	var goal schemas.EventID
	for i := range 4 {
		goal = m.ran(t, i, dir, "sh try.sh > out", (i+1)%2)
	}
	if err := os.WriteFile(filepath.Join(dir, "try.sh"), []byte("exit 4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := failureOf(t, m, dir, goal)
	if f == nil || f.Flaky == nil || f.Mend != nil {
		t.Fatalf("got %+v, want it to be flaky and no mend", f)
	}
	if f.Flaky.Times != 2 || f.Flaky.Runs != 4 {
		t.Errorf("got %+v", *f.Flaky)
	}
}

// TestBisectedDirectory checks that a command that is searched alone may change the directory that it ran
// in, wherever what it needed ran.
func TestBisectedDirectory(t *testing.T) {
	p := &Pair{step: 1, plan: &replay.Plan{Steps: []replay.Step{{Cwd: "/home/ann"}, {Cwd: "/home/ann/work"}}}}
	for needs, want := range map[bool]string{false: "/home/ann/work", true: "/home/ann"} {
		if got := p.changes(needs).Directory("/home/ann"); got != want {
			t.Errorf("with needs %v: got %s, want %s", needs, got, want)
		}
	}
}
