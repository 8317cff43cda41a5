package node_test

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/query/runtime"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

// TestSoakKillSpans kills a node's process while spans come in. Everything acknowledged is in the
// log, everything in the log is counted once, and the projections equal a replay of the log.
// RECOUNT_SOAK=1 runs fifty rounds.
func TestSoakKillSpans(t *testing.T) {
	rounds := 2
	if os.Getenv("RECOUNT_SOAK") != "" {
		rounds = 50
	}
	const each = 20
	dir := t.TempDir()
	var next atomic.Int64
	var mu sync.Mutex
	acked := map[string]bool{}
	for range rounds {
		cmd, _, otlp := spawn(t, dir)
		var wg sync.WaitGroup
		begun := make(chan struct{})
		first := sync.OnceFunc(func() { close(begun) })
		for range 4 {
			wg.Go(func() {
				for {
					m := exported("shop", int(next.Add(1))*each, each)
					b, err := proto.Marshal(m)
					if err != nil {
						t.Error(err)
						return
					}
					resp, err := http.Post(otlp+"/v1/traces", "application/x-protobuf", bytes.NewReader(b))
					if err != nil {
						return // the process was killed
					}
					resp.Body.Close()
					if resp.StatusCode != http.StatusOK {
						continue
					}
					mu.Lock()
					for _, s := range m.ResourceSpans[0].ScopeSpans[0].Spans {
						acked[string(s.TraceId)+string(s.SpanId)] = true
					}
					mu.Unlock()
					first()
				}
			})
		}
		select {
		case <-begun:
		case <-time.After(patience):
			t.Fatal("nothing was acknowledged")
		}
		time.Sleep(time.Duration(rand.IntN(250)) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // the process was killed
		wg.Wait()
	}
	cfg := config(dir)
	node.SealEarly(&cfg, 50)
	r := start(t, cfg)
	seen, events := spansInLog(t, r)
	for id := range acked {
		if !seen[id] {
			t.Fatalf("acknowledged and not in the log: %q", id)
		}
	}
	ends, err := r.Log().Ends(t.Context(), "recount.spans")
	if err != nil {
		t.Fatal(err)
	}
	stats, err := runtime.StatsQuestion.Ask(t.Context(), r.Client, runtime.StatsRequest{Window: runtime.Window{AtLeast: ends, WaitMS: int(patience.Milliseconds())}})
	if err != nil || stats.Spans != uint64(len(seen)) {
		t.Errorf("%d spans are counted, the log has %d: %v", stats.Spans, len(seen), err)
	}
	v, err := r.Client.Verify(t.Context(), api.VerifyRequest{}, nil)
	if err != nil || !v.OK {
		t.Errorf("verify: %+v %v", v, err)
	}
	t.Logf("%d rounds, %d spans acknowledged, %d in %d events", rounds, len(acked), len(seen), events)
}
