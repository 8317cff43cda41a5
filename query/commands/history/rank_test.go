package history

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/query/commands/match"
	"github.com/recountdb/recount/schemas"
)

var tp = schemas.TopicPartition{Topic: "recount.commands"}

// indexOf returns an index of commands, each of which ran an hour after the one before.
func indexOf(commands ...string) *Index {
	x := &Index{state: state{next: schemas.Watermark{}, byHash: map[uint64]int32{}, runs: map[schemas.TopicPartition][]run{}, authors: map[string]int{"ada": 1, "claude": 2}}}
	for i, c := range commands {
		r := Run{UnixNano: int64(i) * int64(time.Hour), TP: tp, Offset: int64(i)}
		x.byHash[uint64(i)] = int32(i)
		x.texts = append(x.texts, text{Text: match.NewText(c), hash: uint64(i), last: r, runs: 1})
		x.runs[tp] = append(x.runs[tp], run{offset: r.Offset, time: r.UnixNano, text: int32(i)})
		x.newest, x.total = r.UnixNano, x.total+1
	}
	return x
}

// ranked returns the commands of an answer.
func ranked(t *testing.T, x *Index, r Request) []string {
	t.Helper()
	a, err := x.Rank(t.Context(), nil, r)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, h := range a.Hits {
		out = append(out, x.texts[h.text].Raw)
	}
	return out
}

func TestRank(t *testing.T) {
	x := indexOf("make test", "git push", "make", "docker push x", "ls")
	for _, c := range []struct {
		name string
		r    Request
		want []string
	}{
		{"by time", Request{Limit: 3}, []string{"ls", "docker push x", "make"}},
		{"by match", Request{Query: match.Words("make"), Limit: 3}, []string{"make", "make test"}},
		{"the best of more", Request{Query: match.Words("push"), Limit: 1}, []string{"git push"}},
		{"others after them, once", Request{Query: match.Words("push"), Limit: 1, Also: []uint64{4, 1, 4, 99}}, []string{"git push", "ls"}},
		{"only others", Request{Query: match.Words("push"), Also: []uint64{0}}, []string{"make test"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, ranked(t, x, c.r)); diff != "" {
				t.Error(diff)
			}
		})
	}
	a, err := x.Rank(t.Context(), nil, Request{Query: match.Words("push"), Limit: 1})
	if err != nil || a.Matched != 2 || a.Commands != 5 || a.Runs != 5 {
		t.Errorf("%+v, %v", a, err)
	}
	if diff := cmp.Diff([]string{"claude", "ada"}, a.Authors); diff != "" {
		t.Error(diff)
	}
}

// TestUseTellsMatchesApart checks that of equal matches the more used is first, and that use alone
// makes nothing a match.
func TestUseTellsMatchesApart(t *testing.T) {
	x := indexOf("git push a", "git push b", "ls")
	x.texts[0].runs, x.texts[2].runs = 100, 1000
	if diff := cmp.Diff([]string{"git push a", "git push b", "ls"}, ranked(t, x, Request{Query: match.Words("git push"), Limit: 5, Also: []uint64{2}})); diff != "" {
		t.Error(diff)
	}
	if h := (Hit{Use: 1}); h.Score() != 0 {
		t.Errorf("a command that does not match has %g", h.Score())
	}
}

func TestRankEnds(t *testing.T) {
	x := indexOf("ls")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Rank(ctx, nil, Request{Limit: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
}

func TestRunsOf(t *testing.T) {
	x := indexOf("ls", "make")
	x.runs[tp] = append(x.runs[tp], run{offset: 9, time: int64(9 * time.Hour), text: 0})
	runs, all, err := x.RunsOf(nil, 0, 1)
	if err != nil || all != 2 || len(runs) != 1 || runs[0].Offset != 9 {
		t.Errorf("%+v of %d, %v", runs, all, err)
	}
	if _, all, err := x.RunsOf(nil, 77, 1); all != 0 || err != nil {
		t.Errorf("an unknown command: %d, %v", all, err)
	}
}

// BenchmarkRank ranks for one key, and reports the memory of the index.
func BenchmarkRank(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		forms := []string{"git checkout %s", "docker image prune --filter label=%s", "kubectl get pods -n %s", "go test ./%s/...", "curl -s http://%s.local/health"}
		commands := make([]string, n)
		for i := range commands {
			commands[i] = fmt.Sprintf(forms[i%len(forms)], fmt.Sprintf("service%d", i))
		}
		x := indexOf(commands...)
		commands = nil
		runtime.GC()
		runtime.ReadMemStats(&after)
		for _, typed := range []string{"", "docker im", "kgp", "srvc12"} {
			b.Run(fmt.Sprintf("%d/%q", n, typed), func(b *testing.B) {
				for b.Loop() {
					if _, err := x.Rank(b.Context(), nil, Request{Query: match.Words(typed), Limit: 50}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "B/command")
			})
		}
	}
}
