package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/internal/datadir"
	"github.com/recountdb/recount/internal/spool"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/local"
	"github.com/recountdb/recount/server/node"
)

var start = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// command returns the event of the i-th command.
func command(i int, text string) schemas.Event {
	return schemas.Event{
		ID: schemas.EventID{0: 9, 14: byte(i >> 8), 15: byte(i)}, Type: schemas.TypeCommandExecuted, Source: "test", Time: start.Add(time.Duration(i) * time.Second),
		Key: []byte("/src"), ContentType: schemas.ContentJSON,
		Payload: fmt.Appendf(nil, `{"command":%q,"cwd":"/src","workspace":"/src","session":"s","exit_code":%d,"started_at":%q}`, text, i%2, start.Add(time.Duration(i)*time.Second).Format(time.RFC3339)),
	}
}

var texts = []string{"make test", "docker image prune", "go test ./...", "git rebase main", "kubectl get pods -n shop"}

// recorded returns a data directory with n commands.
func recorded(t *testing.T, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	var events []schemas.Event
	for i := range n {
		events = append(events, command(i, fmt.Sprintf("%s # %d", texts[i%len(texts)], i/7)))
	}
	whole(t, dir, func(n *node.Node) {
		if _, err := n.Append(t.Context(), events); err != nil {
			t.Fatal(err)
		}
		find(t, n, ask.FindRequest{Text: "tests"})
	})
	return dir
}

// whole opens the data directory by a whole node.
func whole(t *testing.T, dir string, fn func(n *node.Node)) {
	t.Helper()
	n, err := node.OpenLocal(t.Context(), node.Config{DataDir: dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	fn(n)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
}

type answerer interface {
	Answer(ctx context.Context, path string, request, response any) error
	Show(ctx context.Context, ref string) (ask.ShowResponse, error)
}

func find(t *testing.T, by answerer, r ask.FindRequest) ask.FindResponse {
	t.Helper()
	var resp ask.FindResponse
	if err := by.Answer(t.Context(), commands.FindQuestion.Path, r, &resp); err != nil {
		t.Fatal(err)
	}
	return resp
}

var (
	failed    = command(1, "").ID.String()
	questions = []struct {
		path              string
		request, response any
	}{
		{"find", ask.FindRequest{Text: "run the tests"}, ask.FindResponse{}},
		{"find", ask.FindRequest{Text: "docker", Repeats: true, Limit: 30}, ask.FindResponse{}},
		{"find", ask.FindRequest{Limit: 3}, ask.FindResponse{}},
		{"find", ask.FindRequest{Text: "git", Filters: ask.Filters{Exit: "fail"}}, ask.FindResponse{}},
		{"find", ask.FindRequest{Text: "nothing of this kind", Filters: ask.Filters{Cwd: "/elsewhere"}}, ask.FindResponse{}},
		{"find", ask.FindRequest{Replayed: true}, ask.FindResponse{}},
		{"why", ask.WhyRequest{Ref: failed}, ask.WhyResponse{}},
		{"why", ask.WhyRequest{Ref: failed, Walk: ask.Walk{Kinds: []string{"similar"}, Depth: 2}}, ask.WhyResponse{}},
		{"stitch", ask.StitchRequest{Ref: failed, Walk: ask.Walk{Depth: 2}}, ask.StitchResponse{}},
		{"diff", ask.DiffRequest{A: failed, B: command(2, "").ID.String()}, ask.DiffResponse{}},
		{"insights", ask.InsightsRequest{Limit: 3}, ask.InsightsResponse{}},
		{"stats", ask.StatisticsRequest{Limit: 3, TimeZone: "UTC"}, ask.StatisticsResponse{}},
	}
)

// took matches what an answer says of the time that it took.
var took = regexp.MustCompile(`us":[0-9]+`)

// answers returns the answers to questions in JSON, without what takes time.
func answers(t *testing.T, by answerer) (all []string) {
	t.Helper()
	note := func(what string, answer any, err error) {
		b, merr := json.Marshal(answer)
		if err != nil || merr != nil {
			t.Fatalf("%s: %v, %v", what, err, merr)
		}
		all = append(all, what+": "+took.ReplaceAllString(string(b), `us":0`))
	}
	for _, q := range questions {
		resp := reflect.New(reflect.TypeOf(q.response)).Interface()
		err := by.Answer(t.Context(), q.path, q.request, resp)
		note(q.path, resp, err)
	}
	r, err := by.Show(t.Context(), failed)
	note("show", r, err)
	return all
}

func answersOf(t *testing.T, dir string) []string {
	t.Helper()
	d := local.At(dir)
	got := answers(t, d)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return got
}

func spooled(t *testing.T, dir string, events ...schemas.Event) {
	t.Helper()
	for _, e := range events {
		if err := spool.Append(spool.Dir(dir), node.SpoolEntry(e)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAnswersAreThoseOfTheWholeNode compares the answers from one directory, and from two copies of a
// directory with commands in the spool. What was drained and applied here is what a replay of the
// log gives.
func TestAnswersAreThoseOfTheWholeNode(t *testing.T) {
	dir := recorded(t, 300)
	var want []string
	whole(t, dir, func(n *node.Node) { want = answers(t, n) })
	if diff := cmp.Diff(want, answersOf(t, dir)); diff != "" {
		t.Errorf("clean (-whole +local):\n%s", diff)
	}

	var more []schemas.Event
	for i := range 40 { // more than Close leaves to the log
		more = append(more, command(1000+i, fmt.Sprintf("docker image ls --token ghp_%036d # %d", i, i)))
	}
	spooled(t, dir, more[:3]...)
	other := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(other, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	whole(t, other, func(n *node.Node) { want = answers(t, n) })
	if diff := cmp.Diff(want, answersOf(t, dir)); diff != "" {
		t.Errorf("three in the spool (-whole +local):\n%s", diff)
	}
	if !spool.Empty(spool.Dir(dir)) {
		t.Error("the spool is not empty")
	}
	if all := strings.Join(want, ""); !strings.Contains(all, "docker image ls") || strings.Contains(all, "ghp_") {
		t.Error("the commands of the spool are not in the answers, or with their secrets")
	}
	spooled(t, dir, more[3:]...)
	spooled(t, other, more[3:]...)
	whole(t, other, func(n *node.Node) { want = answers(t, n) })
	for _, when := range []string{"drained", "opened again"} {
		if diff := cmp.Diff(want, answersOf(t, dir)); diff != "" {
			t.Errorf("40, %s (-whole +local):\n%s", when, diff)
		}
	}
	whole(t, dir, func(n *node.Node) {
		r, err := n.Verify(t.Context(), api.VerifyRequest{}, nil)
		if err != nil || !r.OK {
			t.Errorf("verify: %+v, %v", r, err)
		}
	})
}

// TestStateIsKept checks that the projections are opened with the settings of a whole node: with
// others they would be rebuilt.
func TestStateIsKept(t *testing.T) {
	dir := recorded(t, 5)
	current := func() (all []string) {
		files, _ := filepath.Glob(filepath.Join(dir, "projections", "*", "CURRENT"))
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, filepath.Base(filepath.Dir(f))+" "+string(b))
		}
		return all
	}
	before := current()
	answersOf(t, dir)
	if diff := cmp.Diff(before, current()); diff != "" || len(before) < 8 {
		t.Errorf("generations changed:\n%s", diff)
	}
}

// TestLeftToTheWholeNode checks what is left to the whole node, which then answers: nothing is lost.
func TestLeftToTheWholeNode(t *testing.T) {
	leave := func(t *testing.T, dir string) {
		t.Helper()
		var resp ask.FindResponse
		if err := local.At(dir).Answer(t.Context(), commands.FindQuestion.Path, ask.FindRequest{Text: "make"}, &resp); !errors.Is(err, local.ErrWhole) {
			t.Fatalf("got %v, want ErrWhole", err)
		}
	}
	holds := func(t *testing.T, dir, text string, want bool) {
		t.Helper()
		whole(t, dir, func(n *node.Node) {
			r := find(t, n, ask.FindRequest{Text: text})
			if got := slices.ContainsFunc(r.Hits, func(h ask.Hit) bool { return h.Command == text }); got != want {
				t.Errorf("%q is found: %v, want %v", text, got, want)
			}
		})
	}
	t.Run("no directory", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "none")
		leave(t, dir)
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("it was created: %v", err)
		}
	})
	t.Run("an event of another topic in the spool", func(t *testing.T) {
		dir := recorded(t, 3)
		spooled(t, dir, command(500, "make before"), schemas.Event{
			ID: schemas.EventID{7}, Type: schemas.TypeUserMessage, Source: "test", Time: start,
			Payload: []byte(`{"tenant":"t","workspace":"w","agent":"a","occurred_at":"2026-11-20T10:00:00Z","text":"hello"}`),
		}, command(501, "make after"))
		leave(t, dir)
		holds(t, dir, "make before", true)
		holds(t, dir, "make after", true)
	})
	t.Run("a drain that a crash interrupted", func(t *testing.T) {
		dir := recorded(t, 3)
		spooled(t, dir, command(502, "make once"))
		if _, err := spool.NewDrainer(spool.Dir(dir)).Drain(func([]spool.Entry) error { return errors.New("killed") }); err == nil {
			t.Fatal("drained")
		}
		leave(t, dir)
		holds(t, dir, "make once", true)
	})
	t.Run("much to catch up with", func(t *testing.T) {
		dir := recorded(t, 3)
		n, err := node.OpenLocal(t.Context(), node.Config{DataDir: dir, Roles: []string{node.RoleLog, node.RoleIngest}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var events []schemas.Event
		for i := range 1100 {
			events = append(events, command(2000+i, "make many"))
		}
		if _, err := n.Append(t.Context(), events); err != nil {
			t.Fatal(err)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		leave(t, dir)
		holds(t, dir, "make many", true)
	})
	t.Run("an erasure that is not carried out", func(t *testing.T) {
		dir := recorded(t, 3)
		whole(t, dir, func(n *node.Node) {
			if _, err := n.Append(t.Context(), []schemas.Event{command(503, "make secret")}); err != nil {
				t.Fatal(err)
			}
			find(t, n, ask.FindRequest{Text: "secret"})
			if _, err := n.Forget(t.Context(), api.ForgetRequest{Wait: true, Events: []string{command(503, "").ID.String()}, Reason: "test"}, nil); err != nil {
				t.Fatal(err)
			}
		})
		if diff := cmp.Diff(wholeAnswers(t, dir), answersOf(t, dir)); diff != "" {
			t.Errorf("after the erasure (-whole +local):\n%s", diff)
		}
		if err := os.Remove(filepath.Join(dir, "erased")); err != nil {
			t.Fatal(err)
		}
		leave(t, dir)
		holds(t, dir, "make secret", false)
	})
	t.Run("a directory in use", func(t *testing.T) {
		dir := recorded(t, 3)
		f, err := datadir.Lock(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := local.At(dir).Show(t.Context(), failed); !errors.Is(err, datadir.ErrInUse) {
			t.Errorf("got %v, want ErrInUse", err)
		}
	})
}

func wholeAnswers(t *testing.T, dir string) (all []string) {
	whole(t, dir, func(n *node.Node) { all = answers(t, n) })
	return all
}
