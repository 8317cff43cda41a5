package narrative

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/processors/command"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// everyday makes a history like that of bench/history.go: few commands make up most of it, one in
// eight names something new, sessions have some dozens of commands, and one command in twelve
// fails.
var everyday = []string{
	"git status", "ls -la", "go test ./pkg/%d", "vim pkg/%d/x.go", "git add pkg/%d/x.go", "git commit -m 'change %d'", "git push origin main",
	"make", "cat README.md", "cd pkg/%d", "grep -rn needle%d pkg", "docker build -t shop/web:%d .", "docker run -d -p 8080:80 --name web shop/web:%d",
	"npm install left-pad", "pytest tests/test_%d.py", "rm -rf build", "mkdir -p build/%d", "cp config.yaml build/%d/app.yaml", "curl -s http://localhost:8080/health",
	"kubectl apply -f deploy/%d.yaml", "tail -n 50 /var/log/app.log", "python scripts/run_%d.py --fast", "sed -i s/a/b/ pkg/%d/x.go", "git checkout -b feature/%d",
}

func history(t testing.TB, n int, oneSession bool) []*recountv1.Record {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rng, 1.07, 4, 400)
	made := map[string]*recountv1.Intent{}
	records := make([]*recountv1.Record, n)
	session, left, at := 0, 0, time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range records {
		if left == 0 {
			session, left = session+1, 5+rng.IntN(60)
		}
		left--
		at = at.Add(time.Duration(1+rng.IntN(90_000)) * time.Millisecond)
		k := zipf.Uint64()
		text := everyday[int(k)%len(everyday)]
		number := k / uint64(len(everyday))
		if rng.IntN(8) == 0 {
			number = uint64(i)
		}
		text = strings.ReplaceAll(text, "%d", fmt.Sprint(number))
		in := made[text]
		if in == nil {
			rec := &recountv1.Record{}
			if err := command.Intent(schemas.Event{Time: at}, &recountv1.CommandExecuted{
				Command: text, Workspace: "/src/shop", Cwd: "/src/shop", Shell: "bash", User: "ada", Host: "laptop",
			}, rec); err != nil {
				t.Fatal(err)
			}
			in = rec.GetIntent()
			made[text] = in
		}
		in = proto.CloneOf(in)
		in.Session, in.TimeUnixNano = fmt.Sprint("s", session), at.UnixNano()
		if oneSession {
			in.Session = "s"
		}
		var exit int32
		if rng.IntN(12) == 0 {
			exit = 1
			in.OutputTail = fmt.Sprintf("error: pkg/%d/x.go:12: undefined\n", number)
		}
		in.ExitCode = &exit
		records[i] = &recountv1.Record{
			Origin:  schemas.Position{Topic: "recount.commands", Offset: int64(i)}.Proto(),
			EventId: idOf(i).slice(), TimeUnixNano: in.TimeUnixNano, Body: &recountv1.Record_Intent{Intent: in},
		}
	}
	return records
}

type benchID schemas.EventID

func idOf(i int) *benchID {
	id := benchID(schemas.NewCanon("bench").Int(int64(i)).ID())
	return &id
}

func (id *benchID) slice() []byte { return id[:] }

func applied(t testing.TB, g *Graph, records []*recountv1.Record) {
	t.Helper()
	for from := 0; from < len(records); from += 512 {
		to := min(from+512, len(records))
		err := g.Apply(t.Context(), schemas.Batch{Topic: "recount.commands", Next: int64(to), Records: records[from:to]})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func BenchmarkApply(b *testing.B) {
	records := history(b, 50_000, false)
	b.ResetTimer()
	for b.Loop() {
		g, err := Open(b.TempDir(), store.Options{})
		if err != nil {
			b.Fatal(err)
		}
		applied(b, g, records)
		b.StopTimer()
		bytes := 0
		if err := g.Dump(b.Context(), func(key, value []byte) error { bytes += len(key) + len(value); return nil }); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(bytes)/float64(len(records)), "bytes/command")
		if err := g.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(records)), "µs/command")
}

// BenchmarkEdges queries the edges of one intent after another: each in a view of its own, as the
// first step of a query would, and all in one view.
func BenchmarkEdges(b *testing.B) {
	g, err := Open(b.TempDir(), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	const n = 50_000
	applied(b, g, history(b, n, false))
	for _, way := range []struct {
		name  string
		fresh bool
		edges func(*View, schemas.EventID) ([]Edge, error)
	}{{"In/cold", true, (*View).In}, {"In/walk", false, (*View).In}, {"Out/cold", true, (*View).Out}, {"Out/walk", false, (*View).Out}} {
		b.Run(way.name, func(b *testing.B) {
			v, err := g.ViewAt(Seen{})
			if err != nil {
				b.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(3, 4))
			count, at := 0, n/2
			for b.Loop() {
				if way.fresh {
					if err := v.Close(); err != nil {
						b.Fatal(err)
					}
					if v, err = g.ViewAt(Seen{}); err != nil {
						b.Fatal(err)
					}
					at = rng.IntN(n)
				} else if at--; at == 0 {
					at = n - 1
				}
				edges, err := way.edges(v, schemas.EventID(*idOf(at)))
				if err != nil {
					b.Fatal(err)
				}
				count += len(edges)
			}
			b.ReportMetric(float64(count)/float64(b.N), "edges")
			if err := v.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// TestLongSession checks that the edges of an intent take the same work, and are as many, however
// long its session and history are.
func TestLongSession(t *testing.T) {
	const n = 6000
	g := open(t)
	applied(t, g, history(t, n, true))
	work := func(at int) (edges, nodes int) {
		v, err := g.ViewAt(Seen{})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		for _, of := range []func(schemas.EventID) ([]Edge, error){v.In, v.Out} {
			found, err := of(schemas.EventID(*idOf(at)))
			if err != nil {
				t.Fatal(err)
			}
			edges += len(found)
		}
		return edges, len(v.nodes)
	}
	for at := 1; at < n; at += 97 {
		edges, nodes := work(at)
		if edges > 150 || nodes > 600 {
			t.Errorf("intent %d: %d edges from %d nodes, want at most 150 from 600", at, edges, nodes)
		}
	}
	v, err := g.ViewAt(Seen{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	kinds := map[EdgeKind]int{}
	for at := range n {
		in, err := v.In(schemas.EventID(*idOf(at)))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range in {
			kinds[e.Kind]++
		}
	}
	for k := Temporal; k <= Causal; k++ {
		t.Logf("%s: %d", k, kinds[k])
		if kinds[k] == 0 {
			t.Errorf("no %s edge in %d commands", k, n)
		}
	}
}
