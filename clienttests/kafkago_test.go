package clienttests

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"

	"github.com/recountdb/recount/pipeline/broker"
)

// kafkaGo returns a transport for one test, because the default one remembers the topics of earlier
// tests.
func kafkaGo(t testing.TB) *kafka.Transport {
	tr := &kafka.Transport{Dial: (&net.Dialer{}).DialContext}
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

func TestKafkaGoCodecs(t *testing.T) {
	b := listening(t, broker.Options{})
	for _, codec := range []kafka.Compression{0, kafka.Gzip, kafka.Snappy, kafka.Lz4, kafka.Zstd} {
		t.Run(fmt.Sprint("codec ", codec), func(t *testing.T) {
			topic := fmt.Sprint("kafka-go-", int(codec))
			createTopic(t, b, topic, 1)
			ctx := testContext(t)
			w := &kafka.Writer{Addr: kafka.TCP(b.Addr()), Topic: topic, Compression: codec, RequiredAcks: kafka.RequireAll, BatchTimeout: time.Millisecond, Transport: kafkaGo(t)}
			closing(t, w)
			var batch []kafka.Message
			for i := range 200 {
				batch = append(batch, kafka.Message{Key: []byte("k"), Value: []byte(fmt.Sprint("a value like the others ", i)), Headers: []kafka.Header{{Key: "h", Value: []byte("v")}}})
			}
			if err := w.WriteMessages(ctx, batch...); err != nil {
				t.Fatal(err)
			}
			r := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{b.Addr()}, Topic: topic, MaxWait: 50 * time.Millisecond})
			closing(t, r)
			for i := range batch {
				m, err := r.ReadMessage(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if m.Offset != int64(i) || string(m.Value) != string(batch[i].Value) || len(m.Headers) != 1 {
					t.Fatalf("message %d: offset %d, %q", i, m.Offset, m.Value)
				}
			}
		})
	}
}

func TestKafkaGoGroup(t *testing.T) {
	b := listening(t, broker.Options{})
	createTopic(t, b, "work", 4)
	ctx := testContext(t)
	w := &kafka.Writer{Addr: kafka.TCP(b.Addr()), Topic: "work", BatchTimeout: time.Millisecond, Balancer: &kafka.RoundRobin{}, Transport: kafkaGo(t)}
	closing(t, w)
	var mu sync.Mutex
	reads := map[string]int{}       // by member
	values := map[string]struct{}{} // a record read twice, because of a rebalance, counts once
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(values)
	}
	join := func(name string) (leave func()) {
		r := kafka.NewReader(kafka.ReaderConfig{
			Brokers: []string{b.Addr()}, GroupID: "workers", Topic: "work", MaxWait: 50 * time.Millisecond,
			HeartbeatInterval: 50 * time.Millisecond, JoinGroupBackoff: 50 * time.Millisecond, StartOffset: kafka.FirstOffset,
		})
		done := make(chan struct{})
		ctx, cancel := context.WithCancel(ctx)
		go func() {
			defer close(done)
			for {
				m, err := r.FetchMessage(ctx)
				if err != nil {
					return
				}
				mu.Lock()
				reads[name]++
				values[string(m.Value)] = struct{}{}
				mu.Unlock()
				if err := r.CommitMessages(ctx, m); err != nil && ctx.Err() == nil {
					t.Log(err) // there was a rebalance: the record is read again
				}
			}
		}()
		return func() {
			cancel()
			<-done
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	produced := 0
	produce := func() {
		var ms []kafka.Message
		for range 80 {
			ms = append(ms, kafka.Message{Value: []byte(strconv.Itoa(produced))})
			produced++
		}
		if err := w.WriteMessages(ctx, ms...); err != nil {
			t.Fatal(err)
		}
	}
	produce()
	leaveA := join("a")
	eventually(t, "the first reads all", func() bool { return count() >= produced })
	leaveZ := join("z")
	eventually(t, "the second gets work", func() bool {
		if count() >= produced { // only then, because otherwise a slow reader would fall behind
			produce()
		}
		mu.Lock()
		defer mu.Unlock()
		return reads["z"] > 0
	})
	leaveA()
	eventually(t, "the rest is read", func() bool { return count() >= produced })
	leaveZ()
	if count() != produced {
		t.Errorf("read %d of %d", count(), produced)
	}
}

func TestKafkaGoAdmin(t *testing.T) {
	b := listening(t, broker.Options{})
	ctx := testContext(t)
	c := &kafka.Client{Addr: kafka.TCP(b.Addr()), Timeout: patience, Transport: kafkaGo(t)}
	made, err := c.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{Topic: "made", NumPartitions: 3, ReplicationFactor: 1}}})
	if err != nil || made.Errors["made"] != nil {
		t.Fatal(err, made)
	}
	meta, err := c.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{"made", "none"}})
	if err != nil || len(meta.Topics) != 2 || len(meta.Topics[0].Partitions) != 3 || !errors.Is(meta.Topics[1].Error, kafka.UnknownTopicOrPartition) {
		t.Errorf("metadata: %+v, %v", meta, err)
	}
	if _, err := c.Produce(ctx, &kafka.ProduceRequest{Topic: "made", Partition: 1, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(kafka.Record{Value: kafka.NewBytes([]byte("x"))})}); err != nil {
		t.Error(err)
	}
	offsets, err := c.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{"made": {kafka.FirstOffsetOf(1), kafka.LastOffsetOf(1)}}})
	if err != nil || offsets.Topics["made"][0].FirstOffset != 0 || offsets.Topics["made"][0].LastOffset != 1 {
		t.Errorf("offsets: %+v, %v", offsets, err)
	}
	commit, err := c.OffsetCommit(ctx, &kafka.OffsetCommitRequest{GroupID: "g", GenerationID: -1, Topics: map[string][]kafka.OffsetCommit{"made": {{Partition: 1, Offset: 1}}}})
	if err != nil || commit.Topics["made"][0].Error != nil {
		t.Errorf("commit: %+v, %v", commit, err)
	}
	fetch, err := c.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: "g", Topics: map[string][]int{"made": {0, 1}}})
	if err != nil || fetch.Topics["made"][0].CommittedOffset != -1 || fetch.Topics["made"][1].CommittedOffset != 1 {
		t.Errorf("fetch: %+v, %v", fetch, err)
	}
	groups, err := c.ListGroups(ctx, &kafka.ListGroupsRequest{})
	if err != nil || len(groups.Groups) != 1 || groups.Groups[0].GroupID != "g" {
		t.Errorf("groups: %+v, %v", groups, err)
	}
	gone, err := c.DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: []string{"made"}})
	if err != nil || gone.Errors["made"] != nil {
		t.Errorf("delete: %+v, %v", gone, err)
	}
}

func TestKafkaGoSASL(t *testing.T) {
	b := saslBroker(t)
	mechanisms := map[string]func(password string) (sasl.Mechanism, error){
		"PLAIN": func(p string) (sasl.Mechanism, error) { return plain.Mechanism{Username: "ann", Password: p}, nil },
		"SCRAM-SHA-256": func(p string) (sasl.Mechanism, error) {
			return scram.Mechanism(scram.SHA256, "ann", p)
		},
		"SCRAM-SHA-512": func(p string) (sasl.Mechanism, error) {
			return scram.Mechanism(scram.SHA512, "ann", p)
		},
	}
	for name, mechanism := range mechanisms {
		t.Run(name, func(t *testing.T) {
			dial := func(password string) error {
				m, err := mechanism(password)
				if err != nil {
					return err
				}
				d := &kafka.Dialer{Timeout: patience, SASLMechanism: m, DialFunc: (&net.Dialer{}).DialContext}
				c, err := d.DialContext(testContext(t), "tcp", b.Addr())
				if err != nil {
					return err
				}
				defer c.Close()
				_, err = c.Brokers()
				return err
			}
			if err := dial("secret"); err != nil {
				t.Errorf("right password: %v", err)
			}
			if err := dial("guess"); err == nil {
				t.Error("a wrong password was taken")
			}
		})
	}
}
