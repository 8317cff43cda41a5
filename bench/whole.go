package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"syscall"
	"time"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

// benchWhole sends a long history through the log and the live pipeline into every projection, and
// then queries the same server with find and why. It uses one server so that a million commands are
// loaded only once.
func benchWhole(ctx context.Context, o options, r *report) (err error) {
	h, err := newHistory(o)
	if err != nil {
		return err
	}
	questions, err := questionsFrom(o)
	if err != nil {
		return err
	}
	s, err := startSystem(ctx, filepath.Join(o.dir, "whole"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	n := o.count(1_000_000)
	if err := s.ingest(ctx, o, h, n, r); err != nil {
		return err
	}
	if err := s.askFind(ctx, questions, r); err != nil {
		return err
	}
	return s.askWhy(ctx, o, r)
}

// ingest loads n commands in ten parts, to show whether the rate falls as the state grows.
func (s *system) ingest(ctx context.Context, o options, h *history, n int, r *report) error {
	const parts = 10
	var slowest, last, total float64
	var own int64
	used := cpuTime()
	for part := range parts {
		size := n*(part+1)/parts - n*part/parts
		took, err := s.load(ctx, h, size)
		if err != nil {
			return err
		}
		total += took.Seconds()
		last = float64(size) / took.Seconds()
		if slowest == 0 || last < slowest {
			slowest = last
		}
		now := statusBytes("RssAnon")
		own = max(own, now)
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		fmt.Printf("%d commands: %.0f/s, peak RSS %d MiB, %d MiB not of files; Go: allocated %d, in use %d, idle %d, released %d, %d collections\n",
			n*(part+1)/parts, last, peakRSS()>>20, now>>20, m.HeapAlloc>>20, m.HeapInuse>>20, m.HeapIdle>>20, m.HeapReleased>>20, m.NumGC)
		if err := heapProfile(o.heap, part+1); err != nil {
			return err
		}
	}
	used = cpuTime() - used
	st, err := s.client.Status(ctx, api.StatusRequest{})
	if err != nil {
		return err
	}
	if st.Intents.Count != int64(n) {
		return fmt.Errorf("%d commands, want %d", st.Intents.Count, n)
	}
	var vectors int64
	for _, p := range st.Projections {
		for _, sh := range p.Shards {
			vectors += int64(sh.Vectors)
		}
	}
	if vectors == 0 {
		return errors.New("no vectors")
	}
	r.add(fmt.Sprintf("ingest of %d commands, durable, into every projection", n),
		"%.0f commands/s; the slowest tenth %.0f, the last %.0f", float64(n)/total, slowest, last)
	r.add("… CPU time, the loader's included", "%s a command: %.0f commands/s if two cores did nothing else",
		(used / time.Duration(n)).Round(100*time.Nanosecond), 2*float64(n)/used.Seconds())
	r.add("memory of its own, the loader's included, the most after any tenth",
		"%d MiB with %d distinct vectors: %.2f KB a vector beyond 300 MB", own>>20, vectors, float64(own-300_000_000)/float64(vectors)/1000)
	r.add("peak RSS, with the pages of mapped files, which the system takes back", "%d MiB", peakRSS()>>20)
	return nil
}

// heapProfile writes a heap profile into folder, if one was given.
func heapProfile(folder string, n int) error {
	if folder == "" {
		return nil
	}
	f, err := os.Create(filepath.Join(folder, fmt.Sprintf("heap-%02d.pprof", n)))
	if err != nil {
		return err
	}
	return errors.Join(pprof.WriteHeapProfile(f), f.Close())
}

// cpuTime returns the CPU time that this process has used on all cores.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// askWhy runs why for commands drawn from the whole history.
func (s *system) askWhy(ctx context.Context, o options, r *report) error {
	ends, err := s.node.Log().Ends(ctx, s.node.Log().Topic(schemas.TopicCommands))
	if err != nil {
		return err
	}
	tps := ends.Partitions()
	rng := rand.New(rand.NewPCG(uint64(o.seed), 0x3b9))
	var took, inside latencies
	causes, empty := 0, 0
	for i := range 1050 {
		tp := tps[rng.IntN(len(tps))]
		at := schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: rng.Int64N(ends[tp])}
		start := time.Now()
		resp, err := commands.WhyQuestion.Ask(ctx, s.client, commands.WhyRequest{Ref: at.String(), Walk: commands.Walk{Depth: 5}})
		if err != nil {
			return fmt.Errorf("why %s: %w", at, err)
		}
		if i < 50 {
			continue // the first ones fill caches
		}
		took = append(took, time.Since(start))
		inside = append(inside, time.Duration(resp.Timing.TotalUS)*time.Microsecond)
		causes += len(resp.Causes)
		if len(resp.Causes) == 0 {
			empty++
		}
	}
	r.add(fmt.Sprintf("why, depth 5, over HTTP, %d commands drawn from all", len(took)),
		"p50 %s, p99 %s, max %s; of which in query.Why p50 %s, p99 %s; %.1f causes on average, none in %d",
		took.quantile(.5), took.quantile(.99), took.quantile(1), inside.quantile(.5), inside.quantile(.99), float64(causes)/float64(len(took)), empty)
	return nil
}
