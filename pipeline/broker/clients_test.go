package broker_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/recountdb/recount/pipeline/broker"
)

// Common clients, each used as people use it: it produces with every codec, consumes, shares a
// topic in a group, administers, and authenticates.

// listening opens a broker on loopback.
func listening(t testing.TB, opts broker.Options) *broker.Broker {
	t.Helper()
	opts.Listen = []string{"127.0.0.1:0"}
	return open(t, t.TempDir(), opts)
}

// CreateTopic creates a topic.
func createTopic(t testing.TB, b *broker.Broker, name string, partitions int32) {
	t.Helper()
	r, err := kadm.NewClient(client(t, b)).CreateTopic(testContext(t), partitions, 1, nil, name)
	if err != nil {
		t.Fatal(err)
	}
	if r.Err != nil {
		t.Fatal(r.Err)
	}
}

// franz connects a franz-go client over TCP.
func franz(t testing.TB, b *broker.Broker, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	return client(t, b, append([]kgo.Opt{kgo.SeedBrokers(b.Addr()), kgo.Dialer((&net.Dialer{}).DialContext)}, opts...)...)
}

func TestFranzCodecs(t *testing.T) {
	b := listening(t, broker.Options{})
	for name, codec := range map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	} {
		t.Run(name, func(t *testing.T) {
			createTopic(t, b, name, 1)
			c := franz(t, b, kgo.DefaultProduceTopic(name), kgo.ProducerBatchCompression(codec))
			var batch []*kgo.Record
			for i := range 500 {
				batch = append(batch, &kgo.Record{Key: []byte("k"), Value: []byte(fmt.Sprint("a value that is much like the others ", i)), Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("v")}}})
			}
			if err := c.ProduceSync(testContext(t), batch...).FirstErr(); err != nil {
				t.Fatal(err)
			}
			for i, r := range consume(t, b, name, len(batch)) {
				if r.Offset != int64(i) || string(r.Value) != string(batch[i].Value) || len(r.Headers) != 1 {
					t.Fatalf("record %d: offset %d, %q, %d headers", i, r.Offset, r.Value, len(r.Headers))
				}
			}
		})
	}
}

func TestFranzRegex(t *testing.T) {
	b := listening(t, broker.Options{})
	for _, topic := range []string{"in-1", "in-2", "in-not", "out"} {
		createTopic(t, b, topic, 1)
		p := franz(t, b, kgo.DefaultProduceTopic(topic))
		if err := p.ProduceSync(testContext(t), kgo.StringRecord(topic)).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	c := franz(t, b, kgo.ConsumeRegex(), kgo.ConsumeTopics("^in-.*"), kgo.ConsumeExcludeTopics("not$"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(50*time.Millisecond))
	var got []string
	for len(got) < 2 {
		f := c.PollFetches(testContext(t))
		if err := f.Err(); err != nil {
			t.Fatal(err)
		}
		f.EachRecord(func(r *kgo.Record) { got = append(got, string(r.Value)) })
	}
	slices.Sort(got)
	if !slices.Equal(got, []string{"in-1", "in-2"}) {
		t.Errorf("read %v", got)
	}
}

// member is a group member that reads until the test ends.
type member struct {
	mu       sync.Mutex
	assigned map[int32]bool
	read     []string
}

func (m *member) partitions() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.assigned)
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %s", what, patience)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// TestFranzGroup lets two members share a topic; one leaves, and the other continues where it
// stopped. Nothing is read twice, because every handover commits.
func TestFranzGroup(t *testing.T) {
	for _, balancer := range []kgo.GroupBalancer{kgo.CooperativeStickyBalancer(), kgo.RangeBalancer()} {
		t.Run(balancer.ProtocolName(), func(t *testing.T) {
			b := listening(t, broker.Options{Groups: broker.GroupOptions{InitialRebalanceDelay: -1}})
			createTopic(t, b, "work", 8)
			join := func() (*member, *kgo.Client) {
				m := &member{assigned: map[int32]bool{}}
				lose := func(_ context.Context, cl *kgo.Client, parts map[string][]int32) {
					if err := cl.CommitMarkedOffsets(context.Background()); err != nil {
						t.Error(err)
					}
					m.mu.Lock()
					defer m.mu.Unlock()
					for _, p := range parts["work"] {
						delete(m.assigned, p)
					}
				}
				c := franz(t, b, kgo.ConsumerGroup("workers"), kgo.ConsumeTopics("work"), kgo.Balancers(balancer),
					kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.HeartbeatInterval(50*time.Millisecond), kgo.FetchMaxWait(50*time.Millisecond),
					kgo.AutoCommitMarks(), kgo.BlockRebalanceOnPoll(),
					kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, parts map[string][]int32) {
						m.mu.Lock()
						defer m.mu.Unlock()
						for _, p := range parts["work"] {
							m.assigned[p] = true
						}
					}),
					kgo.OnPartitionsRevoked(lose))
				go func() {
					for {
						f := c.PollFetches(t.Context())
						if f.IsClientClosed() || t.Context().Err() != nil {
							return
						}
						m.mu.Lock()
						f.EachRecord(func(r *kgo.Record) {
							m.read = append(m.read, string(r.Value))
							c.MarkCommitRecords(r)
						})
						m.mu.Unlock()
						c.AllowRebalance()
					}
				}()
				return m, c
			}
			p := franz(t, b, kgo.DefaultProduceTopic("work"), kgo.RecordPartitioner(kgo.RoundRobinPartitioner()))
			produced := 0
			produce := func() {
				var rs []*kgo.Record
				for range 80 {
					rs = append(rs, kgo.StringRecord(fmt.Sprint(produced)))
					produced++
				}
				if err := p.ProduceSync(testContext(t), rs...).FirstErr(); err != nil {
					t.Fatal(err)
				}
			}

			a, ca := join()
			eventually(t, "the first member has all", func() bool { return a.partitions() == 8 })
			produce()
			z, cz := join()
			eventually(t, "each has half", func() bool { return a.partitions() == 4 && z.partitions() == 4 })
			produce()
			read := func() int {
				a.mu.Lock()
				defer a.mu.Unlock()
				z.mu.Lock()
				defer z.mu.Unlock()
				return len(a.read) + len(z.read)
			}
			eventually(t, "all is read", func() bool { return read() >= produced })
			ca.CloseAllowingRebalance()
			eventually(t, "the second has all", func() bool { return z.partitions() == 8 })
			produce()
			eventually(t, "the rest is read", func() bool { return read() >= produced })
			cz.CloseAllowingRebalance()

			all := slices.Concat(a.read, z.read)
			slices.Sort(all)
			if distinct := len(slices.Compact(slices.Clone(all))); distinct != produced || len(all) != produced {
				t.Errorf("read %d, %d distinct, of %d", len(all), distinct, produced)
			}
			offsets, err := kadm.NewClient(franz(t, b)).FetchOffsets(testContext(t), "workers")
			if err != nil {
				t.Fatal(err)
			}
			var sum int64
			offsets.Offsets().Each(func(o kadm.Offset) { sum += o.At })
			if sum != int64(produced) {
				t.Errorf("committed %d in all, produced %d", sum, produced)
			}
		})
	}
}

// TestFranzAdmin does an operator's tasks with kadm.
func TestFranzAdmin(t *testing.T) {
	b := listening(t, broker.Options{})
	ctx := testContext(t)
	c := franz(t, b, kgo.DefaultProduceTopic("made"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	a := kadm.NewClient(c)
	check := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}

	made, err := a.CreateTopics(ctx, 2, 1, map[string]*string{"max.message.bytes": kadm.StringPtr("2000000")}, "made", "other")
	check("create", err)
	check("create", made.Error())
	again, err := a.CreateTopics(ctx, 2, 1, nil, "made")
	check("create again", err)
	if !errors.Is(again["made"].Err, kerr.TopicAlreadyExists) {
		t.Errorf("create again: %v", again["made"].Err)
	}
	grown, err := a.UpdatePartitions(ctx, 4, "made")
	check("partitions", err)
	check("partitions", grown.Error())
	shrunk, err := a.UpdatePartitions(ctx, 1, "made")
	check("fewer partitions", err)
	if !errors.Is(shrunk["made"].Err, kerr.InvalidPartitions) {
		t.Errorf("fewer partitions: %v", shrunk["made"].Err)
	}
	topics, err := a.ListTopics(ctx)
	check("list", err)
	if got := topics.Names(); !slices.Equal(got, []string{"made", "other"}) || len(topics["made"].Partitions) != 4 {
		t.Errorf("topics %v, %d partitions", got, len(topics["made"].Partitions))
	}

	value := func() string {
		configs, err := a.DescribeTopicConfigs(ctx, "made")
		check("configs", err)
		r, err := configs.On("made", nil)
		check("configs", err)
		for _, c := range r.Configs {
			if c.Key == "max.message.bytes" {
				return c.MaybeValue()
			}
		}
		return "none"
	}
	if got := value(); got != "2000000" {
		t.Errorf("max.message.bytes is %s", got)
	}
	altered, err := a.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "max.message.bytes", Value: kadm.StringPtr("3000000")}}, "made")
	check("alter", err)
	check("alter", altered[0].Err)
	if got := value(); got != "3000000" {
		t.Errorf("max.message.bytes is %s after it was altered", got)
	}

	cluster, err := a.BrokerMetadata(ctx)
	check("cluster", err)
	if cluster.Cluster != b.ClusterID() || len(cluster.Brokers) != 1 || cluster.Controller != cluster.Brokers[0].NodeID {
		t.Errorf("cluster %+v", cluster)
	}

	for range 10 {
		check("produce", c.ProduceSync(ctx, &kgo.Record{Partition: 3, Value: []byte("x")}).FirstErr())
	}
	ends, err := a.ListEndOffsets(ctx, "made")
	check("end offsets", err)
	if o, _ := ends.Lookup("made", 3); o.Offset != 10 {
		t.Errorf("end %d, want 10", o.Offset)
	}
	cut := kadm.Offsets{}
	cut.Add(kadm.Offset{Topic: "made", Partition: 3, At: 4})
	deleted, err := a.DeleteRecords(ctx, cut)
	check("delete records", err)
	check("delete records", deleted.Error())
	starts, err := a.ListStartOffsets(ctx, "made")
	check("start offsets", err)
	if o, _ := starts.Lookup("made", 3); o.Offset != 4 {
		t.Errorf("start %d, want 4", o.Offset)
	}

	// A group that never had a member.
	at := kadm.Offsets{}
	at.Add(kadm.Offset{Topic: "made", Partition: 3, At: 7, LeaderEpoch: 0, Metadata: "note"})
	at.Add(kadm.Offset{Topic: "none", Partition: 0, At: 1})
	committed, err := a.CommitOffsets(ctx, "lone", at)
	check("commit", err)
	if e := committed["none"][0].Err; !errors.Is(e, kerr.UnknownTopicOrPartition) {
		t.Errorf("commit to no topic: %v", e)
	}
	lag, err := a.Lag(ctx, "lone")
	check("lag", err)
	if l, _ := lag["lone"].Lag.Lookup("made", 3); l.Lag != 3 || l.Commit.Metadata != "note" {
		t.Errorf("lag %d, commit %+v", l.Lag, l.Commit)
	}
	check("delete offsets", func() error {
		r, err := a.DeleteOffsets(ctx, "lone", kadm.TopicsSet{"made": {3: {}}})
		if err != nil {
			return err
		}
		return r.Error()
	}())
	if o, err := a.FetchOffsets(ctx, "lone"); err != nil || len(o) != 0 {
		t.Errorf("offsets %v, %v after they were deleted", o, err)
	}
	_, err = a.CommitOffsets(ctx, "lone", at)
	check("commit", err)

	// A group with a member.
	m := franz(t, b, kgo.ConsumerGroup("busy"), kgo.ConsumeTopics("made"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	m.PollFetches(ctx)
	groups, err := a.ListGroups(ctx)
	check("list groups", err)
	if got := groups.Groups(); !slices.Equal(got, []string{"busy", "lone"}) {
		t.Errorf("groups %v", got)
	}
	described, err := a.DescribeGroups(ctx, "busy", "lone")
	check("describe groups", err)
	busy, lone := described["busy"], described["lone"]
	if busy.State != "Stable" || len(busy.Members) != 1 || !busy.AssignedPartitions().Lookup("made", 3) || lone.State != "Empty" {
		t.Errorf("busy %s with %d members, lone %s", busy.State, len(busy.Members), lone.State)
	}
	gone, err := a.DeleteGroups(ctx, "busy", "lone", "none")
	check("delete groups", err)
	if !errors.Is(gone["busy"].Err, kerr.NonEmptyGroup) || gone["lone"].Err != nil || !errors.Is(gone["none"].Err, kerr.GroupIDNotFound) {
		t.Errorf("delete groups: %+v", gone)
	}

	del, err := a.DeleteTopics(ctx, "made", "other")
	check("delete", err)
	check("delete", del.Error())
	// Use a new client, because this one remembers the names it has used.
	if topics, err = kadm.NewClient(franz(t, b)).ListTopics(ctx); err != nil || len(topics) != 0 {
		t.Errorf("topics left: %v, %v", topics.Names(), err)
	}
}

// saslBroker opens a broker with one user: ann, with the password secret.
func saslBroker(t testing.TB) *broker.Broker {
	t.Helper()
	c, err := broker.NewCredential("secret")
	if err != nil {
		t.Fatal(err)
	}
	return listening(t, broker.Options{SASL: broker.SASLOptions{Users: map[string]broker.Credential{"ann": c}}, AutoCreateTopics: true})
}

func TestFranzSASL(t *testing.T) {
	b := saslBroker(t)
	good, bad := scram.Auth{User: "ann", Pass: "secret"}, scram.Auth{User: "ann", Pass: "guess"}
	for name, m := range map[string][2]sasl.Mechanism{
		"PLAIN":         {plain.Auth{User: "ann", Pass: "secret"}.AsMechanism(), plain.Auth{User: "ann", Pass: "guess"}.AsMechanism()},
		"SCRAM-SHA-256": {good.AsSha256Mechanism(), bad.AsSha256Mechanism()},
		"SCRAM-SHA-512": {good.AsSha512Mechanism(), bad.AsSha512Mechanism()},
	} {
		t.Run(name, func(t *testing.T) {
			if err := franz(t, b, kgo.SASL(m[0])).Ping(testContext(t)); err != nil {
				t.Errorf("right password: %v", err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			if err := franz(t, b, kgo.SASL(m[1])).Ping(ctx); err == nil {
				t.Error("a wrong password was taken")
			} else {
				t.Log(err)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if err := franz(t, b, kgo.RequestRetries(1)).Ping(ctx); err == nil {
			t.Error("a client without credentials was served")
		}
	})
}
