package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const (
	agentClients  = 4
	agentsABatch  = 100
	agentSessions = 1000
)

// agentLoad generates events of working agents in groups of four: a message of about 200
// bytes, a shell call, its result, and the agent's comment. Words follow the distribution
// of natural texts: few are frequent, many are rare.
type agentLoad struct {
	seed  uint64
	words []string
	// sessions is the number of runs, each by a different agent.
	sessions int
}

func newAgentLoad(o options, sessions int) *agentLoad {
	l := &agentLoad{seed: uint64(o.seed), sessions: sessions}
	rng := rand.New(rand.NewPCG(l.seed, 0xa9e))
	for range 20_000 {
		var w strings.Builder
		for range 1 + rng.IntN(4) {
			w.WriteByte("bcdfghklmnprstvw"[rng.IntN(16)])
			w.WriteByte("aeiou"[rng.IntN(5)])
		}
		l.words = append(l.words, w.String())
	}
	return l
}

// event returns the nth event.
func (l *agentLoad) event(n int) (schemas.Event, error) {
	rng := rand.New(rand.NewPCG(l.seed, uint64(n)))
	zipf := rand.NewZipf(rng, 1.1, 4, uint64(len(l.words)-1))
	text := func(size int) string {
		var s strings.Builder
		for s.Len() < size {
			s.WriteString(l.words[zipf.Uint64()])
			s.WriteByte(' ')
		}
		return s.String()
	}
	run := n % l.sessions
	turn := n / l.sessions
	m := &recountv1.AgentEvent{Workspace: "acme/shop", Agent: fmt.Sprintf("agent-%d", run), Session: fmt.Sprintf("run-%d", run)}
	if turn > 0 {
		m.ParentEventId = l.id(n - l.sessions).String()
	}
	typ := ""
	switch call := fmt.Sprint(turn / 4); turn % 4 {
	case 0:
		typ, m.Text = schemas.TypeUserMessage, text(200)
	case 1:
		typ, m.Thought = schemas.TypeToolCall, text(80)
		m.Tool = &recountv1.Tool{Name: "bash", CallId: call, Command: fmt.Sprintf("go test ./%s -run Test%d", l.words[rng.IntN(50)], rng.IntN(40)), Cwd: "/src/shop"}
	case 2:
		exit := int32(rng.IntN(2))
		typ, m.Tool = schemas.TypeToolResult, &recountv1.Tool{CallId: call, Result: text(200), ExitCode: &exit}
	case 3:
		typ, m.Text = schemas.TypeAssistantMessage, text(180)+fmt.Sprintf("see src/%s.go", l.words[rng.IntN(200)])
	}
	payload, err := schemas.EncodePayload(m)
	return schemas.Event{ID: l.id(n), Type: typ, Source: "bench", Time: time.Date(2026, 3, 1, 0, 0, 0, n*1e6, time.UTC), Payload: payload}, err
}

func (l *agentLoad) id(n int) schemas.EventID {
	return schemas.NewCanon("bench/agents").Int(int64(l.sessions)).Int(int64(n)).ID()
}

func (l *agentLoad) events(from, n int) ([]schemas.Event, error) {
	all := make([]schemas.Event, n)
	for i := range all {
		var err error
		if all[i], err = l.event(from + i); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// benchAgents appends over HTTP from four clients, as fast as a complete Recount in this
// process accepts events, in many runs and in one; then one event per request at a fixed
// rate.
func benchAgents(ctx context.Context, o options, r *report) error {
	made, err := newAgentLoad(o, agentSessions).events(0, 4*agentSessions)
	if err != nil {
		return err
	}
	bytes := 0
	for _, e := range made {
		bytes += len(e.Payload)
	}
	r.add("an event", "%d bytes of JSON on average", bytes/len(made))
	for _, c := range []struct {
		name     string
		sessions int
	}{{fmt.Sprintf("%d runs of as many agents", agentSessions), agentSessions}, {"one run of one agent", 1}} {
		if err := ingestAgents(ctx, o, c.name, newAgentLoad(o, c.sessions), r); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

func ingestAgents(ctx context.Context, o options, name string, l *agentLoad, r *report) (err error) {
	s, err := startSystem(ctx, filepath.Join(o.dir, fmt.Sprintf("agents-%d", l.sessions)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	// Ten parts, to show whether the rate falls as the log grows.
	const parts = 10
	batches := o.events / parts / agentsABatch
	var rates []float64
	var each []string // CPU of an event in µs
	var total, acknowledged time.Duration
	used := time.Duration(0)
	for part := range parts {
		load := make([][]schemas.Event, batches)
		for i := range load {
			if load[i], err = l.events((part*batches+i)*agentsABatch, agentsABatch); err != nil {
				return err
			}
		}
		start, cpu := time.Now(), cpuTime()
		if err := s.appendBatches(ctx, load, false); err != nil {
			return err
		}
		acknowledged += time.Since(start)
		if err := s.visible(ctx); err != nil {
			return err
		}
		took := time.Since(start)
		total += took
		cpu = cpuTime() - cpu
		used += cpu
		n := float64(batches * agentsABatch)
		rates, each = append(rates, n/took.Seconds()), append(each, fmt.Sprintf("%.0f", float64(cpu.Microseconds())/n))
	}
	n := parts * batches * agentsABatch
	r.add(fmt.Sprintf("%d events, %s, from %d clients, %d a request: acknowledged (durable)", n, name, agentClients, agentsABatch), "%.0f events/s", float64(n)/acknowledged.Seconds())
	r.add("… and in every projection", "%.0f events/s; the first tenth %.0f, the slowest %.0f, the last %.0f; CPU an event, the clients' included, %.0f µs, by tenths %s",
		float64(n)/total.Seconds(), rates[0], lowest(rates), rates[parts-1], float64(used.Microseconds())/float64(n), strings.Join(each, ", "))
	r.add("… peak RSS, the clients' included", "%d MiB", peakRSS()>>20)
	return s.agentsAtRate(ctx, o, l, n, r)
}

// appendBatches sends batches from four clients; each takes the next unsent batch. again
// is true if some of them may have been appended before.
func (s *system) appendBatches(ctx context.Context, load [][]schemas.Event, again bool) error {
	var next atomic.Int64
	g, running := errgroup.WithContext(ctx)
	for range agentClients {
		g.Go(func() error {
			for i := int(next.Add(1)) - 1; i < len(load); i = int(next.Add(1)) - 1 {
				out, err := s.client.Append(running, load[i])
				if err != nil {
					return err
				}
				for _, a := range out {
					if a.Duplicate && !again {
						return fmt.Errorf("%s was there before", a.ID)
					}
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// visible waits until every projection has applied all of topic agents.
func (s *system) visible(ctx context.Context) error {
	ends, err := s.node.Log().Ends(ctx, s.node.Log().Topic(schemas.TopicAgents))
	if err != nil {
		return err
	}
	return s.node.Projections().Wait(ctx, ends)
}

// agentsAtRate appends single events at a fixed rate, independent of how long answers take,
// and measures the time from when each was due until every projection has applied it.
func (s *system) agentsAtRate(ctx context.Context, o options, l *agentLoad, from int, r *report) error {
	n := int(o.duration.Seconds() * float64(o.rate))
	load, err := l.events(from, n)
	if err != nil {
		return err
	}
	var (
		mu             sync.Mutex
		acked, visible latencies
		failed         error
		wg             sync.WaitGroup
	)
	tokens := make(chan struct{}, maxSenders) // limits concurrent requests
	start := time.Now()
	for i, e := range load {
		due := start.Add(time.Duration(i) * time.Second / time.Duration(o.rate))
		time.Sleep(time.Until(due))
		tokens <- struct{}{}
		wg.Go(func() {
			defer func() { <-tokens }()
			out, err := s.client.Append(ctx, []schemas.Event{e})
			at := time.Since(due)
			var seen time.Duration
			// One in ten waits, because waiting is load too, and appends are measured.
			if err == nil && i%10 == 0 {
				p := out[0].Position
				err = s.node.Projections().Wait(ctx, schemas.Watermark{p.TP(): p.Offset + 1})
				seen = time.Since(due)
			}
			mu.Lock()
			defer mu.Unlock()
			acked, failed = append(acked, at), errors.Join(failed, err)
			if seen > 0 {
				visible = append(visible, seen)
			}
		})
	}
	wg.Wait()
	if failed != nil {
		return failed
	}
	r.add(fmt.Sprintf("… then %d events/s, one a request, for %s: acknowledged (durable)", o.rate, o.duration), "p50 %s, p99 %s", acked.quantile(.5).Round(10*time.Microsecond), acked.quantile(.99).Round(10*time.Microsecond))
	r.add("… in every projection", "p50 %s, p99 %s, max %s", visible.quantile(.5).Round(10*time.Microsecond), visible.quantile(.99).Round(10*time.Microsecond), visible.quantile(1).Round(10*time.Microsecond))
	return nil
}
