package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/recountdb/recount/bench/pairs"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/httpapi"
	"github.com/recountdb/recount/server/node"
)

// system is a complete Recount in this process, queried over HTTP like a user's.
type system struct {
	node   *node.Node
	client *httpapi.Client
	stop   func() error
}

// maxSenders is the maximum number of concurrent requests.
const maxSenders = 1024

func startSystem(ctx context.Context, dir string) (*system, error) {
	n, err := node.Open(ctx, node.Config{
		DataDir: dir, HTTP: node.HTTPConfig{Listen: "127.0.0.1:0"}, Kafka: node.KafkaConfig{Listen: "127.0.0.1:0"},
		OTLP: node.OTLPConfig{GRPC: "127.0.0.1:0", HTTP: "127.0.0.1:0"},
	})
	if err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- n.Run(running) }()
	s := &system{node: n, stop: func() error {
		cancel()
		return errors.Join(<-ended, n.Close())
	}}
	// One idle connection per sender is kept: connecting is not what is measured.
	hc := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: maxSenders}}
	s.client, err = httpapi.NewClient("http://"+n.HTTPAddr(), "", hc)
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// load appends n commands of the history in batches and waits until they are projected. It returns
// how long that took.
func (s *system) load(ctx context.Context, h *history, n int) (time.Duration, error) {
	const batch = 2000
	start := time.Now()
	for n > 0 {
		events := make([]schemas.Event, 0, batch)
		for range min(batch, n) {
			e, err := h.next()
			if err != nil {
				return 0, err
			}
			events = append(events, e)
		}
		if _, err := s.node.Log().Append(ctx, schemas.TopicCommands, events...); err != nil {
			return 0, err
		}
		n -= len(events)
	}
	ends, err := s.node.Log().Ends(ctx, s.node.Log().Topic(schemas.TopicCommands))
	if err != nil {
		return 0, err
	}
	for {
		_, err := commands.FindQuestion.Ask(ctx, s.client, commands.FindRequest{Text: "git", Limit: 1, AtLeast: ends, WaitMS: 60_000})
		if err == nil {
			return time.Since(start), nil
		}
		st, serr := s.client.Status(ctx, api.StatusRequest{})
		if serr != nil {
			return 0, errors.Join(err, serr)
		}
		if !behind(st) {
			return 0, err
		}
	}
}

func behind(st api.Status) bool {
	for _, p := range st.Projections {
		if p.Lag > 0 {
			return true
		}
	}
	return false
}

func (o options) count(def int) int {
	if o.commands > 0 {
		return o.commands
	}
	return def
}

func benchRebuild(ctx context.Context, o options, r *report) (err error) {
	h, err := newHistory(o)
	if err != nil {
		return err
	}
	s, err := startSystem(ctx, filepath.Join(o.dir, "rebuild"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	n := o.count(1_000_000)
	took, err := s.load(ctx, h, n)
	if err != nil {
		return err
	}
	r.add(fmt.Sprintf("%d commands appended and projected live", n), "%.0f commands/s", float64(n)/took.Seconds())
	var rates, used []float64
	for range min(o.runs, 3) {
		before := cpuTime()
		rep, err := s.client.Rebuild(ctx, api.RebuildRequest{Projections: o.rebuild}, nil)
		if err != nil {
			return err
		}
		if rep.Events != int64(n) {
			return fmt.Errorf("%d events rebuilt, want %d", rep.Events, n)
		}
		rates = append(rates, rep.PerSecond)
		used = append(used, (cpuTime()-before).Seconds()*1e6/float64(n))
	}
	which := "every projection"
	if len(o.rebuild) > 0 {
		which = strings.Join(o.rebuild, " and ")
	}
	r.add("rebuild of "+which+" from offset zero", "%.0f commands/s (median of %d, %.0f…%.0f)", median(rates), len(rates), lowest(rates), highest(rates))
	r.add("… CPU time", "%.1f µs a command (%.1f…%.1f)", median(used), lowest(used), highest(used))
	v, err := s.client.Verify(ctx, api.VerifyRequest{}, nil)
	if err != nil {
		return err
	}
	r.add("verify afterwards: live equals replayed, roots and files", "%v, %d events in %.1f s", v.OK, v.Events, float64(v.ElapsedMS)/1000)
	r.add("peak RSS of the whole (loader included)", "%d MiB", peakRSS()>>20)
	return nil
}

// benchVisible appends single events over HTTP at a fixed rate that does not depend on the answers,
// and measures the time from when each was due until find returns it.
func benchVisible(ctx context.Context, o options, r *report) (err error) {
	h, err := newHistory(o)
	if err != nil {
		return err
	}
	s, err := startSystem(ctx, filepath.Join(o.dir, "visible"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if _, err := s.load(ctx, h, 10_000); err != nil {
		return err
	}
	var (
		mu      sync.Mutex
		acked   latencies
		visible latencies
		wg      sync.WaitGroup
		failed  error
	)
	n := int(o.duration.Seconds() * float64(o.rate))
	tokens := make(chan struct{}, 256) // limits concurrent requests
	start := time.Now()
	for i := range n {
		e, err := h.next()
		if err != nil {
			return err
		}
		due := start.Add(time.Duration(i) * time.Second / time.Duration(o.rate))
		time.Sleep(time.Until(due))
		tokens <- struct{}{}
		wg.Go(func() {
			defer func() { <-tokens }()
			out, err := s.client.Append(ctx, []schemas.Event{e})
			at := time.Since(due)
			var seen time.Duration
			// Only one in ten is queried: queries are load too, and this measures appends.
			if err == nil && i%10 == 0 {
				p := out[0].Position
				_, err = commands.FindQuestion.Ask(ctx, s.client, commands.FindRequest{Limit: 1, AtLeast: schemas.Watermark{p.TP(): p.Offset + 1}})
				seen = time.Since(due)
			}
			mu.Lock()
			defer mu.Unlock()
			acked = append(acked, at)
			if seen > 0 {
				visible = append(visible, seen)
			}
			failed = errors.Join(failed, err)
		})
	}
	wg.Wait()
	if failed != nil {
		return failed
	}
	r.add(fmt.Sprintf("%d events/s over HTTP for %s: acknowledged (durable)", o.rate, o.duration), "p50 %s, p99 %s", acked.quantile(.5), acked.quantile(.99))
	r.add("findable, its question included", "p50 %s, p99 %s, max %s (%d asked)", visible.quantile(.5), visible.quantile(.99), visible.quantile(1), len(visible))
	return nil
}

func benchFind(ctx context.Context, o options, r *report) (err error) {
	h, err := newHistory(o)
	if err != nil {
		return err
	}
	questions, err := questionsFrom(o)
	if err != nil {
		return err
	}
	s, err := startSystem(ctx, filepath.Join(o.dir, "find"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	n := o.count(100_000)
	if _, err := s.load(ctx, h, n); err != nil {
		return err
	}
	r.add("corpus", "%d commands, one client, every question another", n)
	return s.askFind(ctx, questions, r)
}

// askFind runs find with each question, first unchanged and then as three words.
func (s *system) askFind(ctx context.Context, questions []string, r *report) error {
	ask := func(name string, questions []string) error {
		var l, inside latencies
		for i, q := range questions {
			start := time.Now()
			resp, err := commands.FindQuestion.Ask(ctx, s.client, commands.FindRequest{Text: q})
			if err != nil {
				return err
			}
			if took := time.Since(start); i >= 50 { // the first ones fill caches
				l = append(l, took)
				inside = append(inside, time.Duration(resp.Timing.TotalUS)*time.Microsecond)
			}
		}
		r.add(fmt.Sprintf("%s (%d)", name, len(l)), "p50 %s, p99 %s, max %s; of which in query.Find p50 %s, p99 %s",
			l.quantile(.5), l.quantile(.99), l.quantile(1), inside.quantile(.5), inside.quantile(.99))
		return nil
	}
	words := 0
	short := make([]string, len(questions))
	for i, q := range questions {
		words += len(strings.Fields(q))
		short[i] = threeWords(q)
	}
	if err := ask(fmt.Sprintf("find over HTTP: whole descriptions, %.0f words on average", float64(words)/float64(len(questions))), questions); err != nil {
		return err
	}
	return ask("find over HTTP: questions of three words, as people type", short)
}

// threeWords returns the first three words of a description that have more than three bytes.
func threeWords(q string) string {
	var kept []string
	for _, w := range strings.Fields(q) {
		if len(w) > 3 && len(kept) < 3 {
			kept = append(kept, w)
		}
	}
	if len(kept) == 0 {
		return q
	}
	return strings.Join(kept, " ")
}

// questionsFrom draws about a thousand descriptions that people wrote.
func questionsFrom(o options) ([]string, error) {
	list, err := pairs.Load(o.data)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(uint64(o.seed), 0xa5c))
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	var qs []string
	for _, p := range list[:min(1050, len(list))] {
		qs = append(qs, p.Description)
	}
	return qs, nil
}
