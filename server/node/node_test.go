package node_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/recountdb/recount/internal/datadir"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/httpapi"
	"github.com/recountdb/recount/server/node"
)

// running is a running node with a client of it.
type running struct {
	*node.Node
	*httpapi.Client
	stop func()
}

// append appends commands over HTTP.
func (r *running) append(t *testing.T, commands ...string) []api.Appended {
	t.Helper()
	out, err := r.Client.Append(t.Context(), events(commands...))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// patience is the wait of questions in tests, the maximum of a request. It measures nothing, since
// a machine may be very slow.
const patience = query.MaxWait

// find asks a question after waiting for what was appended before.
func (r *running) find(t *testing.T, q commands.FindRequest) commands.FindResponse {
	t.Helper()
	q.WaitMS = int(patience.Milliseconds())
	if q.AtLeast == nil {
		ends, err := r.Log().Ends(t.Context(), "recount.commands")
		if err != nil {
			t.Fatal(err)
		}
		q.AtLeast = ends
	}
	resp, err := commands.FindQuestion.Ask(t.Context(), r.Client, q)
	if err != nil {
		t.Fatalf("find %q: %v", q.Text, err)
	}
	return resp
}

// waitFor waits until the projections have applied the log up to ends.
func (r *running) waitFor(t *testing.T, ends schemas.Watermark) {
	t.Helper()
	if _, err := commands.FindQuestion.Ask(t.Context(), r.Client, commands.FindRequest{AtLeast: ends, WaitMS: int(patience.Milliseconds()), Limit: 1}); err != nil {
		t.Fatal(err)
	}
}

// events returns commands a second apart, each with its own id.
func events(commands ...string) []schemas.Event {
	var out []schemas.Event
	for i, c := range commands {
		payload := fmt.Sprintf(`{"command":%q,"cwd":"/src/app","session":"s1","exit_code":0}`, c)
		out = append(out, schemas.Event{
			ID: schemas.NewCanon("test").String(c).ID(), Type: schemas.TypeCommandExecuted,
			Time: time.Date(2026, 3, 1, 12, 0, i, 0, time.UTC), Payload: []byte(payload),
		})
	}
	return out
}

func config(dir string) node.Config {
	cfg := node.Config{
		DataDir: dir, Version: "test",
		HTTP:  node.HTTPConfig{Listen: "127.0.0.1:0"},
		Kafka: node.KafkaConfig{Listen: "127.0.0.1:0"},
		OTLP:  node.OTLPConfig{GRPC: "127.0.0.1:0", HTTP: "127.0.0.1:0"},
	}
	node.ForgetWait(&cfg, 5*time.Minute) // however slow the machine is
	return cfg
}

func start(t *testing.T, cfg node.Config) *running {
	t.Helper()
	return startTB(t, cfg)
}

func startTB(t testing.TB, cfg node.Config) *running {
	t.Helper()
	n, err := node.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	c, err := httpapi.NewClient(n.Endpoints().HTTP, cfg.HTTP.Token, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	r := &running{Node: n, Client: c}
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
		if err := n.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	t.Cleanup(r.stop)
	return r
}

func commandsOf(r commands.FindResponse) []string {
	out := []string{}
	for _, h := range r.Hits {
		out = append(out, h.Command)
	}
	return out
}

func TestAppendedIsFound(t *testing.T) {
	r := start(t, config(t.TempDir()))
	appended := r.append(t, "docker image prune -af", "make test", "git push origin main", "docker run -it alpine sh")
	if appended[0].Position.Topic != "recount.commands" {
		t.Fatalf("position %v", appended[0].Position)
	}
	resp := r.find(t, commands.FindRequest{Text: "docker prune images"})
	if resp.Status != "ok" || len(resp.Hits) == 0 || resp.Hits[0].Command != "docker image prune -af" {
		t.Fatalf("got %s %v", resp.Status, commandsOf(resp))
	}
	h := resp.Hits[0]
	if h.ID != appended[0].ID || h.Position != appended[0].Position || h.ExitCode == nil || *h.ExitCode != 0 || h.Cwd != "/src/app" {
		t.Errorf("hit %+v", h)
	}
	if len(resp.Proof) == 0 || len(h.Scores) == 0 {
		t.Errorf("no proof: %+v", resp.Proof)
	}
	if diff := cmp.Diff(commandsOf(r.find(t, commands.FindRequest{Limit: 2})), []string{"docker run -it alpine sh", "git push origin main"}); diff != "" {
		t.Errorf("the newest: %s", diff)
	}

	show, err := r.Client.Show(t.Context(), h.ID.String()[:8])
	if err != nil || show.Event == nil || !strings.Contains(string(show.Event.Payload), "docker image prune") || show.Programs[0] != "docker" {
		t.Errorf("show: %+v %v", show, err)
	}
	if byPosition, err := r.Client.Show(t.Context(), h.Position.String()); err != nil || byPosition.ID != h.ID {
		t.Errorf("show by position: %v %v", byPosition.ID, err)
	}
	st, err := r.Client.Status(t.Context(), api.StatusRequest{Roots: true})
	if err != nil || st.Intents.Count != 4 || st.Intents.Recent.OK != 4 || len(st.Projections) != 9 || len(st.Projections[3].Shards) != 1 || st.Projections[3].Shards[0].Commands != 4 || st.Projections[0].Root == nil || st.Projections[0].Lag != 0 || !st.Ready {
		t.Errorf("status: %+v %v", st, err)
	}
	if sh := st.Intents.Shards; len(sh) != 1 || sh[0].Count != 4 || sh[0].Hot != 4 || sh[0].Oldest != *st.Intents.Oldest || sh[0].Newest != *st.Intents.Newest {
		t.Errorf("status: shards %+v, all %+v", sh, st.Intents)
	}
	var lines, arrow bytes.Buffer
	if err := r.Client.Scan(t.Context(), api.ScanRequest{}, &lines); err != nil || strings.Count(lines.String(), "\n") != 4 {
		t.Errorf("scan: %s %v", lines.String(), err)
	}
	if err := r.Client.Scan(t.Context(), api.ScanRequest{Format: api.FormatArrow}, &arrow); err != nil || arrow.Len() < 100 {
		t.Errorf("scan as arrow: %d bytes, %v", arrow.Len(), err)
	}
	resp2, err := http.Get(r.Endpoints().HTTP + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp2.Body.Close()
	var metrics bytes.Buffer
	if _, err := metrics.ReadFrom(resp2.Body); err != nil || !strings.Contains(metrics.String(), `recount_projection_lag{partition="0",projection="lexical"`) {
		t.Errorf("metrics: %v %s", err, metrics.String())
	}
}

func TestSameIDIsOneEvent(t *testing.T) {
	r := start(t, config(t.TempDir()))
	first := r.append(t, "make a", "make b")
	r.find(t, commands.FindRequest{}) // projected
	again := r.append(t, "make b", "make c", "make a")
	if !again[0].Duplicate || again[0].Position != first[1].Position || again[1].Duplicate || !again[2].Duplicate || again[2].Position != first[0].Position {
		t.Errorf("again %+v after %+v", again, first)
	}
	// Many appends at once, before anything can be projected.
	var wg sync.WaitGroup
	positions := make([]schemas.Position, 16)
	for i := range positions {
		wg.Go(func() {
			out, err := r.Client.Append(t.Context(), events("make at once"))
			if err != nil {
				t.Error(err)
				return
			}
			positions[i] = out[0].Position
		})
	}
	wg.Wait()
	for _, p := range positions {
		if p != positions[0] {
			t.Fatalf("one id at several positions: %v", positions)
		}
	}
	// The same payload with a time and without an id is one event, too.
	e := schemas.Event{Type: schemas.TypeCommandExecuted, Payload: []byte(`{"command":"date","started_at":"2026-01-01T00:00:00Z"}`)}
	a, err := r.Client.Append(t.Context(), []schemas.Event{e})
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Client.Append(t.Context(), []schemas.Event{e})
	if err != nil || b[0].Position != a[0].Position {
		t.Errorf("derived id: %+v, then %+v %v", a, b, err)
	}
}

func TestSecretsNeverReachTheLog(t *testing.T) {
	r := start(t, config(t.TempDir()))
	secret := "ghp_" + strings.Repeat("a1B2c3", 6)
	out, err := r.Client.Append(t.Context(), []schemas.Event{{Type: schemas.TypeCommandExecuted, Payload: []byte(`{"command":"curl -H 'Authorization: token ` + secret + `' x"}`)}})
	if err != nil || out[0].Redacted == 0 {
		t.Fatalf("append: %+v %v", out, err)
	}
	lr, err := r.Log().Read(t.Context(), out[0].Position)
	if err != nil || bytes.Contains(lr.Value, []byte(secret)) || !bytes.Contains(lr.Value, []byte("[redacted:")) {
		t.Errorf("in the log: %s %v", lr.Value, err)
	}
}

func TestOutcomeJoins(t *testing.T) {
	r := start(t, config(t.TempDir()))
	id := schemas.EventID{7}
	before, err := r.Client.Append(t.Context(), []schemas.Event{{ID: id, Type: schemas.TypeCommandExecuted, Payload: []byte(`{"command":"sleep 9"}`)}})
	if err != nil {
		t.Fatal(err)
	}
	unknown := r.find(t, commands.FindRequest{Filters: commands.Filters{Exit: "unknown"}})
	if len(unknown.Hits) != 1 || unknown.Hits[0].ExitCode != nil {
		t.Fatalf("before: %+v", unknown.Hits)
	}
	out, err := r.Client.Append(t.Context(), []schemas.Event{{Type: schemas.TypeOutcomeObserved, Payload: []byte(`{"command_event_id":"` + id.String() + `","exit_code":3,"duration":"9s"}`)}})
	if err != nil {
		t.Fatal(err)
	}
	after := r.find(t, commands.FindRequest{Text: "sleep", Filters: commands.Filters{Exit: "fail"}})
	if len(after.Hits) != 1 || *after.Hits[0].ExitCode != 3 || *after.Hits[0].Duration != 9e9 || *after.Hits[0].Outcome != out[0].Position {
		t.Errorf("after: %+v", after.Hits)
	}
	if none := r.find(t, commands.FindRequest{Filters: commands.Filters{Exit: "unknown"}}); none.Status != "empty" || !strings.Contains(none.Hint, "exit") {
		t.Errorf("unknown no more: %s %q", none.Status, none.Hint)
	}
	// As of before the outcome.
	if then := r.find(t, commands.FindRequest{AsOf: query.AsOf{Offsets: unknown.Watermark}}); len(then.Hits) != 1 || then.Hits[0].ExitCode != nil {
		t.Errorf("as of %s: %+v", before[0].Position, then.Hits)
	}
}

func TestAtLeast(t *testing.T) {
	r := start(t, config(t.TempDir()))
	for i := range 20 {
		name := fmt.Sprintf("echo read-your-writes-%d", i)
		p := r.append(t, name)[0].Position
		resp := r.find(t, commands.FindRequest{Text: fmt.Sprintf("read-your-writes-%d", i), AtLeast: schemas.Watermark{p.TP(): p.Offset + 1}})
		if len(resp.Hits) == 0 || resp.Hits[0].Command != name {
			t.Fatalf("%d: got %v", i, commandsOf(resp))
		}
	}
	_, err := commands.FindQuestion.Ask(t.Context(), r.Client, commands.FindRequest{AtLeast: schemas.Watermark{{Topic: "recount.commands", Partition: 0}: 1 << 40}, WaitMS: 20})
	var ae *httpapi.APIError
	if !errors.As(err, &ae) || ae.Status != 504 || !strings.Contains(err.Error(), "recount.commands/0:1099511627776") {
		t.Errorf("what never comes: %v", err)
	}
	// The node itself returns the same with its own type.
	var nv *query.NotVisibleError
	if _, err := commands.FindQuestion.Ask(t.Context(), r.Node, commands.FindRequest{AtLeast: schemas.Watermark{{Topic: "recount.nothing", Partition: 9}: 1}, WaitMS: 20}); !errors.As(err, &nv) {
		t.Errorf("no such partition: %v", err)
	}
}

func many(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("kubectl -n team-%d get pods --selector app=web%d", i%7, i))
	}
	return out
}

// TestRestartRebuildVerify checks that a node gives the same answers after a restart, after a
// rebuild, and from the data directory without a server.
func TestRestartRebuildVerify(t *testing.T) {
	dir := t.TempDir()
	r := start(t, config(dir))
	r.append(t, many(500)...)
	ask := commands.FindRequest{Text: "pods of team-3", Limit: 20}
	want := r.find(t, ask)
	roots := rootsOf(t, r)

	var phases []string
	report, err := r.Client.Rebuild(t.Context(), api.RebuildRequest{}, func(p api.Progress) { phases = append(phases, p.Phase) })
	if err != nil || report.Events != 500 || len(report.Projections) != 9 || len(phases) < 2 {
		t.Fatalf("rebuild: %+v %v %v", report, phases, err)
	}
	sameAnswer := func(where string, got commands.FindResponse) {
		t.Helper()
		if diff := cmp.Diff(got, want, cmpopts.IgnoreFields(commands.FindResponse{}, "Timing")); diff != "" {
			t.Errorf("%s: %s", where, diff)
		}
	}
	sameAnswer("after a rebuild", r.find(t, ask))
	if diff := cmp.Diff(rootsOf(t, r), roots); diff != "" {
		t.Errorf("roots after a rebuild: %s", diff)
	}
	v, err := r.Client.Verify(t.Context(), api.VerifyRequest{}, nil)
	if err != nil || !v.OK || len(v.Projections) != 9 || v.Projections[1].Keys == 0 {
		t.Fatalf("verify: %+v %v", v, err)
	}
	if _, err := r.Client.Rebuild(t.Context(), api.RebuildRequest{Projections: []string{"lexica"}}, nil); err == nil || !strings.Contains(err.Error(), "lexica") {
		t.Errorf("unknown projection: %v", err)
	}
	r.stop()

	again := start(t, config(dir))
	sameAnswer("after a restart", again.find(t, ask))
	again.stop()

	// Without a server, and without the projections.
	if err := os.RemoveAll(filepath.Join(dir, "projections")); err != nil {
		t.Fatal(err)
	}
	var last api.Progress
	local, err := node.OpenLocal(t.Context(), node.Config{DataDir: dir}, func(p api.Progress) { last = p })
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	got, err := commands.FindQuestion.Ask(t.Context(), local, ask)
	if err != nil {
		t.Fatal(err)
	}
	sameAnswer("without a server", got)
	if last.Done != 500 || last.Total != 500 {
		t.Errorf("progress %+v", last)
	}
}

func rootsOf(t *testing.T, r *running) map[string]string {
	t.Helper()
	st, err := r.Client.Status(t.Context(), api.StatusRequest{Roots: true})
	if err != nil {
		t.Fatal(err)
	}
	roots := map[string]string{}
	for _, p := range st.Projections {
		roots[p.Name] = p.Root.String()
	}
	return roots
}

// TestRebuildWhileAppending checks that a rebuild works while events come in, and that none is
// missing afterwards.
func TestRebuildWhileAppending(t *testing.T) {
	r := start(t, config(t.TempDir()))
	r.append(t, many(300)...)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int)
	go func() {
		n := 0
		for ; ctx.Err() == nil; n++ {
			began := time.Now()
			if _, err := r.Client.Append(t.Context(), events(fmt.Sprintf("touch meanwhile-%d", n))); err != nil {
				t.Error(err)
				break
			}
			time.Sleep(time.Since(began)) // half of the time is left to the rebuilds
		}
		done <- n
	}()
	for range 3 {
		if _, err := r.Client.Rebuild(t.Context(), api.RebuildRequest{}, nil); err != nil {
			t.Error(err)
		}
	}
	v, err := r.Client.Verify(t.Context(), api.VerifyRequest{}, nil)
	if err != nil || !v.OK {
		t.Errorf("verify while appending: %+v %v", v, err)
	}
	cancel()
	appended := 300 + <-done
	if resp := r.find(t, commands.FindRequest{Limit: 1000, Filters: commands.Filters{Program: "touch"}}); len(resp.Hits) != min(appended-300, 1000) {
		t.Errorf("found %d of %d", len(resp.Hits), appended-300)
	}
}

func TestOneProcessPerDataDirectory(t *testing.T) {
	dir := t.TempDir()
	r := start(t, config(dir))
	e := waitEndpoints(t, dir)
	if e.PID != os.Getpid() || e.HTTP != r.Endpoints().HTTP || e.Kafka == "" {
		t.Errorf("endpoints %+v", e)
	}
	var in *node.InUseError
	if _, err := node.OpenLocal(t.Context(), node.Config{DataDir: dir}, nil); !errors.As(err, &in) || in.HTTP != e.HTTP {
		t.Errorf("a second process: %v", err)
	}
	r.stop()
	if _, running, err := datadir.Running(dir); running || err != nil {
		t.Errorf("after the stop: %v %v", running, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "endpoints.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("endpoints.json is left: %v", err)
	}
}

func waitEndpoints(t *testing.T, dir string) node.Endpoints {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if e, running, err := datadir.Running(dir); running && err == nil && e.PID != 0 {
			return e
		}
	}
	t.Fatal("no endpoints")
	return node.Endpoints{}
}

func TestOpenSaysWhatToChange(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	addr := taken.Addr().String()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		change func(t *testing.T, c *node.Config)
		want   string
	}{
		"http port in use":  {func(_ *testing.T, c *node.Config) { c.HTTP.Listen = addr }, "http.listen (--http): " + addr + ": in use"},
		"kafka port in use": {func(_ *testing.T, c *node.Config) { c.Kafka.Listen = addr }, "kafka.listen (--kafka): " + addr + ": in use"},
		"newer version": {func(t *testing.T, c *node.Config) {
			if err := os.WriteFile(filepath.Join(c.DataDir, "recount.json"), []byte(`{"format":99,"id":"x"}`), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "format 99 is newer than this program's 1"},
		"damaged identity": {func(t *testing.T, c *node.Config) {
			if err := os.WriteFile(filepath.Join(c.DataDir, "recount.json"), []byte(`{`), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "recount.json is damaged"},
		"a file in its place": {func(_ *testing.T, c *node.Config) { c.DataDir = file }, "not a directory"},
		"read-only": {func(t *testing.T, c *node.Config) {
			if os.Getuid() == 0 {
				t.Skip("root may write anywhere")
			}
			if err := os.Chmod(c.DataDir, 0o500); err != nil {
				t.Fatal(err)
			}
		}, "not writable"},
	} {
		t.Run(name, func(t *testing.T) {
			c := config(t.TempDir())
			tc.change(t, &c)
			n, err := node.Open(t.Context(), c)
			if err == nil {
				n.Close()
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// TestBadEventsAreRejected checks that events from a Kafka client that cannot be applied are
// rejected with position and reason, and that the events around them are found.
func TestBadEventsAreRejected(t *testing.T) {
	r := start(t, config(t.TempDir()))
	bad := []string{"not json", `{"command":"x","nope":1}`, "{\"command\":\"\xff\"}", `{"cwd":"/"}`, `{"command":"` + strings.Repeat("x", 1<<20+1) + `"}`}
	r.append(t, "echo before")
	for _, b := range bad {
		if _, err := r.Log().Produce(t.Context(), schemas.LogRecord{Position: schemas.Position{Topic: "recount.commands"}, Value: []byte(b)}); err != nil {
			t.Fatalf("%.20q: %v", b, err)
		}
	}
	for _, when := range []string{"1970-01-01T00:00:00Z", "2200-01-01T00:00:00Z"} {
		if _, err := r.Log().Produce(t.Context(), schemas.LogRecord{
			Position: schemas.Position{Topic: "recount.commands"}, Value: []byte(`{"command":"date ` + when + `"}`),
			Headers: []schemas.Header{{Key: "ce_time", Value: []byte(when)}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	resp := r.find(t, commands.FindRequest{Limit: 100})
	if len(resp.Hits) != 3 || resp.Hits[0].Command != "date 2200-01-01T00:00:00Z" {
		t.Errorf("found %v", commandsOf(resp))
	}
	st, err := r.Client.Status(t.Context(), api.StatusRequest{})
	if err != nil || st.Log.Rejected != int64(len(bad)) {
		t.Errorf("rejected %d, want %d: %v", st.Log.Rejected, len(bad), err)
	}
}
