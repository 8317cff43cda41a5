package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"github.com/recountdb/recount/pipeline/broker"
)

// appendWays are the ways to append from within the broker's process.
var appendWays = []struct {
	name     string
	inMemory bool
	client   bool
}{
	{name: "Append"},
	{name: "loopback", client: true},
	{name: "in memory", client: true, inMemory: true},
}

// benchMemoryAppend compares ways to append with the same callers and calls: n callers at a
// time, each appending m records to one partition and waiting until they are on disk. The
// ways are Broker.Append, one client over loopback, which batches its callers' records by
// partition, and one client over the in-memory connection.
func benchMemoryAppend(ctx context.Context, o options, r *report) error {
	for _, load := range []struct{ callers, perCall, n int }{
		{16, 1, 20_000},
		{160, 1, 100_000},
		{1600, 1, 300_000},
		{16, 100, 200_000},
		{96, 100, 400_000},
		{496, 100, 600_000},
	} {
		rates := make([][]float64, len(appendWays))
		cpu := make([]cpuTimes, len(appendWays))
		for run := range o.runs {
			for turn := range appendWays {
				i := turn
				if run%2 == 1 {
					i = len(appendWays) - 1 - turn // as compareProduce does
				}
				dir := filepath.Join(o.dir, fmt.Sprintf("append-%d-%d-%d", load.callers, run, i))
				rate, used, err := callRate(ctx, dir, i, load.callers, load.perCall, load.n, o.seed)
				if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
					return fmt.Errorf("%s: %w", appendWays[i].name, err)
				}
				rates[i] = append(rates[i], rate)
				cpu[i].user, cpu[i].kernel = append(cpu[i].user, used.user...), append(cpu[i].kernel, used.kernel...)
			}
		}
		name := fmt.Sprintf("%d callers, records a call: %d", load.callers, load.perCall)
		for i, way := range appendWays {
			r.add(name+": "+way.name, "%.0f records/s (median of %d, %.0f…%.0f), %s", median(rates[i]), o.runs, lowest(rates[i]), highest(rates[i]), cpu[i])
		}
		r.add(name+": Append / loopback", "%.2f; CPU loopback / Append %.2f", median(rates[0])/median(rates[1]), cpu[1].total()/cpu[0].total())
	}
	return nil
}

// callRate lets callers append n records, perCall at a time, and returns records per second
// and the resources used per record.
func callRate(ctx context.Context, dir string, way, callers, perCall, n int, seed int64) (rate float64, used cpuTimes, err error) {
	s, err := startOurs(dir, appendWays[way].inMemory)
	if err != nil {
		return 0, used, err
	}
	defer s.close()
	cl, err := s.client(unhurried(kgo.MaxBufferedRecords(50_000), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		return 0, used, err
	}
	defer cl.Close()
	ps := payloads(seed)
	// This creates the topic and the client's connection.
	if err := cl.ProduceSync(ctx, &kgo.Record{Value: ps[0]}).FirstErr(); err != nil {
		return 0, used, err
	}
	call := func(c int) error {
		records := make([]broker.Record, perCall)
		for i := range records {
			records[i].Value = ps[(c*perCall+i)%len(ps)]
		}
		_, err := s.broker.Append(ctx, benchTopic, int32(c%benchPartitions), records...)
		return err
	}
	if appendWays[way].client {
		call = func(c int) error {
			records := make([]*kgo.Record, perCall)
			for i := range records {
				records[i] = &kgo.Record{Value: ps[(c*perCall+i)%len(ps)], Partition: int32(c % benchPartitions)}
			}
			return cl.ProduceSync(ctx, records...).FirstErr()
		}
	}
	each := n / callers / perCall
	g := errgroup.Group{}
	before, start := cpuNow(), time.Now()
	for c := range callers {
		g.Go(func() error {
			for range each {
				if err := call(c); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = g.Wait()
	done := each * callers * perCall
	rate = float64(done) / time.Since(start).Seconds()
	used.add(before, done)
	return rate, used, err
}
