package node_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

// benchCommands returns the number of commands of the benchmarks, which RECOUNT_BENCH_COMMANDS
// overrides.
func benchCommands(b *testing.B) int {
	if s := os.Getenv("RECOUNT_BENCH_COMMANDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			b.Fatal(err)
		}
		return n
	}
	return 20_000
}

// shellHistory returns n commands with repeats as in a real history: most are from a set of a few
// hundred, one in four is new, in several workspaces.
func shellHistory(n int) []schemas.Event {
	rng := rand.New(rand.NewPCG(1, 2))
	verbs := []string{
		"git commit -m 'fix %d'", "go test ./pkg%d/...", "docker run --rm -it image:%d sh", "kubectl get pods -n team%d",
		"grep -rn 'needle%d' src | head -20", "make build-%d", "ssh host%d.example.com uptime", "curl -s http://localhost:%d/healthz",
		"find . -name 'file%d*' -mtime -1", "tar -czf backup-%d.tar.gz data", "cd /src/project%d && ls -la", "vim notes/%d.md",
	}
	out := make([]schemas.Event, n)
	for i := range out {
		k := rng.IntN(40)
		if rng.IntN(4) == 0 {
			k = i
		}
		ws := rng.IntN(24)
		out[i] = schemas.Event{
			Type: schemas.TypeCommandExecuted, Source: "bench", Time: time.Unix(1.7e9+int64(i), 0),
			Key: fmt.Appendf(nil, "/src/w%d", ws), ContentType: schemas.ContentJSON,
			Payload: fmt.Appendf(nil, `{"command":%q,"workspace":"/src/w%d","cwd":"/src/w%d","session":"s%d","shell":"zsh","host":"laptop","user":"ada","exit_code":%d,"duration":"0.%03ds"}`,
				fmt.Sprintf(verbs[rng.IntN(len(verbs))], k), ws, ws, i/500, min(rng.IntN(10), 1), rng.IntN(1000)),
		}
	}
	return out
}

func loaded(b *testing.B) *running {
	b.Helper()
	r := startTB(b, config(b.TempDir()))
	all := shellHistory(benchCommands(b))
	for len(all) > 0 {
		n := min(len(all), 2000)
		if _, err := r.Log().Append(b.Context(), schemas.TopicCommands, all[:n]...); err != nil {
			b.Fatal(err)
		}
		all = all[n:]
	}
	ends, err := r.Log().Ends(b.Context(), "recount.commands")
	if err != nil {
		b.Fatal(err)
	}
	for {
		st, err := r.Client.Status(b.Context(), api.StatusRequest{})
		if err != nil {
			b.Fatal(err)
		}
		done := true
		for _, p := range st.Projections {
			done = done && p.Watermark.Covers(ends)
		}
		if done {
			return r
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// BenchmarkRebuild rebuilds all projections from offset zero.
func BenchmarkRebuild(b *testing.B) {
	r := loaded(b)
	for b.Loop() {
		report, err := r.Node.Rebuild(b.Context(), api.RebuildRequest{}, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(report.PerSecond, "commands/s")
	}
}

var benchQuestions = []commands.FindRequest{
	{Text: "which pods run in team7"},
	{Text: "backup data"},
	{Text: "git commit fix"},
	{Text: "search for needle in source files"},
	{Text: "docker"},
	{Text: "check health of the server", Filters: commands.Filters{Exit: "ok"}},
	{Text: "tests that failed", Filters: commands.Filters{Exit: "fail", Program: "go"}},
	{Text: "make build", Filters: commands.Filters{Cwd: "/src/w3"}},
	{},
	{Filters: commands.Filters{Session: "s3"}},
}

// BenchmarkFindHTTP asks questions over HTTP, one after the other.
func BenchmarkFindHTTP(b *testing.B) {
	r := loaded(b)
	bodies := make([][]byte, len(benchQuestions))
	for i, q := range benchQuestions {
		var err error
		if bodies[i], err = json.Marshal(q); err != nil {
			b.Fatal(err)
		}
	}
	url := r.Endpoints().HTTP + "/v1/find"
	i := 0
	for b.Loop() {
		resp, err := http.Post(url, "application/json", bytes.NewReader(bodies[i%len(bodies)]))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != 200 {
			b.Fatalf("%d %v", resp.StatusCode, err)
		}
		resp.Body.Close()
		i++
	}
}
