package broker_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recountdb/recount/pipeline/broker"
)

// noise returns n bytes that do not compress.
func noise(n int) []byte {
	b := make([]byte, n)
	rng := rand.NewChaCha8([32]byte{1})
	rng.Read(b)
	return b
}

func benchClient(b *testing.B, opts ...kgo.Opt) *kgo.Client {
	b.Helper()
	c, err := kgo.NewClient(append([]kgo.Opt{
		kgo.DefaultProduceTopic("bench"),
		kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.RecordPartitioner(kgo.RoundRobinPartitioner()),
	}, opts...)...)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	if _, err := kadm.NewClient(c).CreateTopic(context.Background(), 16, 1, nil, "bench"); err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
		b.Fatal(err)
	}
	return c
}

func produceAll(b *testing.B, c *kgo.Client) {
	b.Helper()
	value := noise(1024)
	b.SetBytes(1024)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		c.Produce(context.Background(), &kgo.Record{Value: value}, func(_ *kgo.Record, err error) {
			if err != nil {
				b.Error(err)
			}
		})
	}
	if err := c.Flush(context.Background()); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rec/s")
}

func inMemory(br *broker.Broker) []kgo.Opt {
	return []kgo.Opt{
		kgo.SeedBrokers("in-memory:1"),
		kgo.Dialer(func(ctx context.Context, _, _ string) (net.Conn, error) { return br.Dial(ctx) }),
	}
}

// BenchmarkProduce measures durable produces of 1 KiB records to 16 partitions by one client, in
// comparison with kfake with and without syncing.
func BenchmarkProduce(b *testing.B) {
	b.Run("loopback", func(b *testing.B) {
		br := open(b, b.TempDir(), broker.Options{Listen: []string{"127.0.0.1:0"}})
		produceAll(b, benchClient(b, kgo.SeedBrokers(br.Addr())))
	})
	b.Run("in-memory", func(b *testing.B) {
		br := open(b, b.TempDir(), broker.Options{})
		produceAll(b, benchClient(b, inMemory(br)...))
	})
	// The same load by Append, without socket and client, 100 records at a time.
	b.Run("append", func(b *testing.B) {
		br := open(b, b.TempDir(), broker.Options{})
		benchClient(b, inMemory(br)...) // creates the topic
		records := make([]broker.Record, 100)
		for i := range records {
			records[i].Value = noise(1024)
		}
		b.SetBytes(1024)
		b.ReportAllocs()
		var left atomic.Int64
		left.Store(int64(b.N))
		var wg sync.WaitGroup
		b.ResetTimer()
		for w := range 32 {
			wg.Go(func() {
				for left.Add(-int64(len(records))) >= 0 {
					if _, err := br.Append(context.Background(), "bench", int32(w%16), records...); err != nil {
						b.Error(err)
					}
				}
			})
		}
		wg.Wait()
		b.StopTimer()
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rec/s")
	})
	for _, sync := range []bool{false, true} {
		b.Run(fmt.Sprintf("kfake/sync=%v", sync), func(b *testing.B) {
			opts := []kfake.Opt{kfake.NumBrokers(1), kfake.DataDir(b.TempDir())}
			if sync {
				opts = append(opts, kfake.SyncWrites())
			}
			k, err := kfake.NewCluster(opts...)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(k.Close)
			produceAll(b, benchClient(b, kgo.SeedBrokers(k.ListenAddrs()...)))
		})
	}
}

// BenchmarkOneByOne measures durable appends of one record of 1 KiB at a time, by a number of
// writers: by a client over loopback, by a client in memory, and by Append.
func BenchmarkOneByOne(b *testing.B) {
	for _, writers := range []int{1, 16, 256} {
		each := func(b *testing.B, write func(w int) error) {
			b.SetBytes(1024)
			b.ReportAllocs()
			var left atomic.Int64
			left.Store(int64(b.N))
			var wg sync.WaitGroup
			b.ResetTimer()
			for w := range writers {
				wg.Go(func() {
					for left.Add(-1) >= 0 {
						if err := write(w); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rec/s")
		}
		value := noise(1024)
		viaClient := func(b *testing.B, c *kgo.Client) {
			each(b, func(int) error {
				return c.ProduceSync(context.Background(), &kgo.Record{Value: value}).FirstErr()
			})
		}
		b.Run(fmt.Sprintf("loopback/%d", writers), func(b *testing.B) {
			br := open(b, b.TempDir(), broker.Options{Listen: []string{"127.0.0.1:0"}})
			viaClient(b, benchClient(b, kgo.SeedBrokers(br.Addr()), kgo.ProducerLinger(0)))
		})
		b.Run(fmt.Sprintf("in-memory/%d", writers), func(b *testing.B) {
			br := open(b, b.TempDir(), broker.Options{})
			viaClient(b, benchClient(b, append(inMemory(br), kgo.ProducerLinger(0))...))
		})
		b.Run(fmt.Sprintf("append/%d", writers), func(b *testing.B) {
			br := open(b, b.TempDir(), broker.Options{})
			benchClient(b, inMemory(br)...) // creates the topic
			each(b, func(w int) error {
				_, err := br.Append(context.Background(), "bench", int32(w%16), broker.Record{Value: value})
				return err
			})
		})
	}
}

// BenchmarkEndToEnd measures the time from produce to consume at 1,000 records a second.
func BenchmarkEndToEnd(b *testing.B) {
	br := open(b, b.TempDir(), broker.Options{})
	c := benchClient(b, append(inMemory(br), kgo.ProducerLinger(0))...)
	r := benchClient(b, append(inMemory(br), kgo.ConsumeTopics("bench"))...)
	value := noise(1024)
	took := make([]time.Duration, 0, b.N)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for len(took) < b.N {
			f := r.PollFetches(context.Background())
			now := time.Now()
			f.EachRecord(func(rec *kgo.Record) {
				var at time.Time
				if err := at.UnmarshalBinary(rec.Key); err != nil {
					b.Error(err)
				}
				took = append(took, now.Sub(at))
			})
		}
	}()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	b.ResetTimer()
	for range b.N {
		<-tick.C
		key, err := time.Now().MarshalBinary()
		if err != nil {
			b.Fatal(err)
		}
		c.Produce(context.Background(), &kgo.Record{Key: key, Value: value}, nil)
	}
	<-done
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

// BenchmarkConsume reads from the start what is no longer in memory.
func BenchmarkConsume(b *testing.B) {
	br := open(b, b.TempDir(), broker.Options{})
	produceAll(b, benchClient(b, inMemory(br)...))
	r := benchClient(b, append(inMemory(br), kgo.ConsumeTopics("bench"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))...)
	b.ResetTimer()
	b.StartTimer()
	for n := 0; n < b.N; {
		f := r.PollFetches(context.Background())
		if err := f.Err(); err != nil {
			b.Fatal(err)
		}
		n += f.NumRecords()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rec/s")
}
