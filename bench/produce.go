package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recountdb/recount/pipeline/broker"
)

const (
	benchTopic      = "bench"
	benchPartitions = 16
	recordBytes     = 1024
)

// server is a Kafka server to measure: ours, or kfake for comparison.
type server struct {
	opts   []kgo.Opt
	close  func()
	broker *broker.Broker // nil for kfake
}

func startOurs(dir string, inMemory bool) (*server, error) {
	b, err := broker.Open(dir, broker.Options{Listen: []string{"127.0.0.1:0"}, DefaultPartitions: benchPartitions, AutoCreateTopics: true})
	if err != nil {
		return nil, err
	}
	s := &server{broker: b, close: func() { b.Close() }, opts: []kgo.Opt{kgo.SeedBrokers(b.Addr())}}
	if inMemory {
		s.opts = append(s.opts, kgo.Dialer(func(ctx context.Context, _, _ string) (net.Conn, error) { return b.Dial(ctx) }))
	}
	return s, nil
}

func startKfake(dir string, sync bool) (*server, error) {
	opts := []kfake.Opt{kfake.NumBrokers(1), kfake.SeedTopics(benchPartitions, benchTopic), kfake.DataDir(dir)}
	if sync {
		opts = append(opts, kfake.SyncWrites())
	}
	c, err := kfake.NewCluster(opts...)
	if err != nil {
		return nil, err
	}
	return &server{opts: []kgo.Opt{kgo.SeedBrokers(c.ListenAddrs()...)}, close: c.Close}, nil
}

func (s *server) client(more ...kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(append(append([]kgo.Opt{kgo.DefaultProduceTopic(benchTopic), kgo.AllowAutoTopicCreation()}, s.opts...), more...)...)
}

// payloads returns 1,024 different payloads of 1 KiB that do not compress.
func payloads(seed int64) [][]byte {
	rng := rand.New(rand.NewPCG(uint64(seed), 1))
	ps := make([][]byte, 1024)
	for i := range ps {
		ps[i] = make([]byte, recordBytes)
		for j := range ps[i] {
			ps[i][j] = byte(rng.Uint32())
		}
	}
	return ps
}

// unhurried returns the options of a client that produces as fast as it can, evenly over all
// partitions, followed by more.
func unhurried(more ...kgo.Opt) []kgo.Opt {
	return append([]kgo.Opt{
		kgo.RecordPartitioner(kgo.RoundRobinPartitioner()), kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.ProducerLinger(0),
	}, more...)
}

// produceRate appends n records over all partitions with acks=all from one client, and returns the
// records per second until the last acknowledgement.
func produceRate(ctx context.Context, s *server, n int, seed int64, opts ...kgo.Opt) (float64, error) {
	cl, err := s.client(opts...)
	if err != nil {
		return 0, err
	}
	defer cl.Close()
	ps := payloads(seed)
	if err := cl.ProduceSync(ctx, &kgo.Record{Value: ps[0]}).FirstErr(); err != nil {
		return 0, err
	}
	var failed atomic.Pointer[error]
	start := time.Now()
	for i := range n {
		cl.Produce(ctx, &kgo.Record{Value: ps[i%len(ps)]}, func(_ *kgo.Record, err error) {
			if err != nil {
				failed.Store(&err)
			}
		})
	}
	if err := cl.Flush(ctx); err != nil {
		return 0, err
	}
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(n) / time.Since(start).Seconds(), nil
}

// benchProduce compares with kfake over the range of batches that clients send. The cost of an
// fsync decides, and the number of fsyncs depends on the batches: it measures the client's default
// buffer, all of its defaults, and a larger buffer with batches of limited size.
func benchProduce(ctx context.Context, o options, r *report) error {
	loads := []struct {
		name string
		n    int
		opts []kgo.Opt
	}{
		{"10,000 buffered (the client's default)", 300_000, unhurried()},
		{"every default of the client", 300_000, nil},
	}
	for _, size := range []struct {
		name  string
		bytes int32
		n     int
	}{{"16 KiB", 16 << 10, 100_000}, {"64 KiB", 64 << 10, 300_000}, {"256 KiB", 256 << 10, 300_000}, {"1 MB", 1_000_012, 300_000}} {
		loads = append(loads, struct {
			name string
			n    int
			opts []kgo.Opt
		}{"50,000 buffered, batches up to " + size.name, size.n, unhurried(kgo.MaxBufferedRecords(50_000), kgo.ProducerBatchMaxBytes(size.bytes))})
	}
	for _, load := range loads {
		if err := compareProduce(ctx, o, r, load.name, load.n, load.opts); err != nil {
			return err
		}
	}
	return nil
}

func compareProduce(ctx context.Context, o options, r *report, load string, n int, opts []kgo.Opt) error {
	sides := []struct {
		name  string
		n     int
		start func(dir string) (*server, error)
		rates []float64
		cpu   cpuTimes
	}{
		{name: "ours, durable", n: n, start: func(d string) (*server, error) { return startOurs(d, false) }},
		{name: "kfake, unsynced", n: n, start: func(d string) (*server, error) { return startKfake(d, false) }},
		{name: "kfake, SyncWrites", n: n / 5, start: func(d string) (*server, error) { return startKfake(d, true) }},
	}
	for run := range o.runs {
		for turn := range sides {
			// Every other run is in reverse order, because the order matters: the page cache that
			// one side frees is cheap for the next to take.
			i := turn
			if run%2 == 1 {
				i = len(sides) - 1 - turn
			}
			side := &sides[i]
			dir := filepath.Join(o.dir, fmt.Sprintf("produce-%d-%d", run, i))
			s, err := side.start(dir)
			if err != nil {
				return err
			}
			before := cpuNow()
			rate, err := produceRate(ctx, s, side.n, o.seed, opts...)
			s.close()
			side.cpu.add(before, side.n)
			if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
				return fmt.Errorf("%s: %w", side.name, err)
			}
			side.rates = append(side.rates, rate)
		}
	}
	for _, side := range sides {
		r.add(load+": "+side.name, "%.0f records/s (median of %d, %.0f…%.0f), %s", median(side.rates), o.runs, lowest(side.rates), highest(side.rates), side.cpu)
	}
	r.add(load+": ours / kfake unsynced", "%.2f", median(sides[0].rates)/median(sides[1].rates))
	r.add(load+": ours / kfake SyncWrites", "%.2f", median(sides[0].rates)/median(sides[2].rates))
	return nil
}

// benchLatency produces at a fixed rate and measures the time from Produce to each record's arrival
// at a consumer in the same process. The schedule does not wait for answers, so a stall counts for
// every record that it delays.
func benchLatency(ctx context.Context, o options, r *report) error {
	s, err := startOurs(filepath.Join(o.dir, "latency"), false)
	if err != nil {
		return err
	}
	defer s.close()
	producer, err := s.client(kgo.RecordPartitioner(kgo.RoundRobinPartitioner()), kgo.ProducerLinger(0))
	if err != nil {
		return err
	}
	defer producer.Close()
	ps := payloads(o.seed)
	if err := producer.ProduceSync(ctx, &kgo.Record{Value: ps[0]}).FirstErr(); err != nil {
		return err
	}
	consumer, err := s.client(kgo.ConsumeTopics(benchTopic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return err
	}
	defer consumer.Close()

	n := int(o.duration.Seconds() * float64(o.rate))
	done := make(chan latencies, 1)
	go func() {
		var l latencies
		for len(l) < n {
			fs := consumer.PollFetches(ctx)
			now := time.Now()
			if ctx.Err() != nil {
				break
			}
			fs.EachRecord(func(rec *kgo.Record) {
				if len(rec.Headers) > 0 {
					var sent time.Time
					if sent.UnmarshalBinary(rec.Headers[0].Value) == nil {
						l = append(l, now.Sub(sent))
					}
				}
			})
		}
		done <- l
	}()
	start := time.Now()
	for i := range n {
		due := start.Add(time.Duration(i) * time.Second / time.Duration(o.rate))
		time.Sleep(time.Until(due))
		at, err := due.MarshalBinary()
		if err != nil {
			return err
		}
		producer.Produce(ctx, &kgo.Record{Value: ps[i%len(ps)], Headers: []kgo.RecordHeader{{Key: "due", Value: at}}}, nil)
	}
	l := <-done
	if len(l) < n {
		return fmt.Errorf("%d of %d records arrived", len(l), n)
	}
	r.add(fmt.Sprintf("%d records/s for %s, 1 KiB, 16 partitions, acks=all", o.rate, o.duration), "p50 %s, p99 %s, max %s", l.quantile(.5), l.quantile(.99), l.quantile(1))
	return nil
}

// cpuTimes is the CPU time that this process, client and broker together, used per record, in
// microseconds, with one entry per run. It depends less than rates do on other users of the
// machine.
type cpuTimes struct{ user, kernel []float64 }

func cpuNow() (t [2]time.Duration) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) == nil {
		t[0], t[1] = time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())
	}
	return t
}

func (c *cpuTimes) add(before [2]time.Duration, records int) {
	now := cpuNow()
	each := func(i int) float64 { return (now[i] - before[i]).Seconds() * 1e6 / float64(records) }
	c.user, c.kernel = append(c.user, each(0)), append(c.kernel, each(1))
}

func (c cpuTimes) total() float64 { return median(c.user) + median(c.kernel) }

func (c cpuTimes) String() string {
	return fmt.Sprintf("%.1f + %.1f µs CPU each (user + kernel)", median(c.user), median(c.kernel))
}

func lowest(xs []float64) float64 {
	m := xs[0]
	for _, x := range xs {
		m = min(m, x)
	}
	return m
}

func highest(xs []float64) float64 {
	m := xs[0]
	for _, x := range xs {
		m = max(m, x)
	}
	return m
}
