package clienttests

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"hash"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/xdg-go/scram"

	"github.com/recountdb/recount/pipeline/broker"
)

func saramaConfig() *sarama.Config {
	c := sarama.NewConfig()
	c.Version = sarama.V3_6_0_0
	c.Producer.Return.Successes = true
	c.Producer.RequiredAcks = sarama.WaitForAll
	c.Consumer.Offsets.Initial = sarama.OffsetOldest
	c.Consumer.Group.Heartbeat.Interval = 50 * time.Millisecond
	c.Consumer.MaxWaitTime = 50 * time.Millisecond
	return c
}

func TestSaramaCodecs(t *testing.T) {
	b := listening(t, broker.Options{})
	for _, codec := range []sarama.CompressionCodec{sarama.CompressionNone, sarama.CompressionGZIP, sarama.CompressionSnappy, sarama.CompressionLZ4, sarama.CompressionZSTD} {
		t.Run(codec.String(), func(t *testing.T) {
			topic := "sarama-" + codec.String()
			createTopic(t, b, topic, 1)
			conf := saramaConfig()
			conf.Producer.Compression = codec
			conf.Producer.Idempotent = true
			conf.Net.MaxOpenRequests = 1
			p, err := sarama.NewSyncProducer([]string{b.Addr()}, conf)
			if err != nil {
				t.Fatal(err)
			}
			closing(t, p)
			var batch []*sarama.ProducerMessage
			for i := range 200 {
				batch = append(batch, &sarama.ProducerMessage{
					Topic: topic, Key: sarama.StringEncoder("k"), Value: sarama.StringEncoder(fmt.Sprint("a value like the others ", i)),
					Headers: []sarama.RecordHeader{{Key: []byte("h"), Value: []byte("v")}},
				})
			}
			if err := p.SendMessages(batch); err != nil {
				t.Fatal(err)
			}
			c, err := sarama.NewConsumer([]string{b.Addr()}, conf)
			if err != nil {
				t.Fatal(err)
			}
			closing(t, c)
			pc, err := c.ConsumePartition(topic, 0, sarama.OffsetOldest)
			if err != nil {
				t.Fatal(err)
			}
			closing(t, pc)
			ctx := testContext(t)
			for i := range batch {
				select {
				case m := <-pc.Messages():
					if m.Offset != int64(i) || string(m.Value) != fmt.Sprint("a value like the others ", i) || len(m.Headers) != 1 {
						t.Fatalf("message %d: offset %d, %q", i, m.Offset, m.Value)
					}
				case <-ctx.Done():
					t.Fatalf("message %d did not come", i)
				}
			}
		})
	}
}

// saramaMember is a group member that reads and marks what it has read.
type saramaMember struct {
	mu     sync.Mutex
	claims int
	read   []string
}

func (m *saramaMember) Setup(s sarama.ConsumerGroupSession) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.claims = len(s.Claims()["work"])
	return nil
}

func (m *saramaMember) Cleanup(s sarama.ConsumerGroupSession) error {
	s.Commit()
	return nil
}

func (m *saramaMember) ConsumeClaim(s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
	for msg := range c.Messages() {
		m.mu.Lock()
		m.read = append(m.read, string(msg.Value))
		m.mu.Unlock()
		s.MarkMessage(msg, "")
	}
	return nil
}

func (m *saramaMember) has() (claims, read int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.claims, len(m.read)
}

func TestSaramaGroup(t *testing.T) {
	b := listening(t, broker.Options{})
	createTopic(t, b, "work", 6)
	join := func() (*saramaMember, func()) {
		g, err := sarama.NewConsumerGroup([]string{b.Addr()}, "workers", saramaConfig())
		if err != nil {
			t.Fatal(err)
		}
		m := &saramaMember{}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			for ctx.Err() == nil {
				if err := g.Consume(ctx, []string{"work"}, m); err != nil {
					t.Error(err)
					return
				}
			}
		}()
		return m, func() {
			cancel()
			<-done
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	p, err := sarama.NewSyncProducer([]string{b.Addr()}, saramaConfig())
	if err != nil {
		t.Fatal(err)
	}
	closing(t, p)
	produced := 0
	produce := func() {
		for range 60 {
			m := &sarama.ProducerMessage{Topic: "work", Key: sarama.StringEncoder(fmt.Sprint(produced)), Value: sarama.StringEncoder(fmt.Sprint(produced))}
			if _, _, err := p.SendMessage(m); err != nil {
				t.Fatal(err)
			}
			produced++
		}
	}

	a, leaveA := join()
	eventually(t, "the first member has all", func() bool { n, _ := a.has(); return n == 6 })
	produce()
	eventually(t, "it reads them", func() bool { _, n := a.has(); return n == produced })
	z, leaveZ := join()
	eventually(t, "each has half", func() bool { n, _ := a.has(); k, _ := z.has(); return n == 3 && k == 3 })
	produce()
	all := func() bool { _, n := a.has(); _, k := z.has(); return n+k >= produced }
	eventually(t, "all is read", all)
	leaveA()
	eventually(t, "the second has all", func() bool { n, _ := z.has(); return n == 6 })
	produce()
	eventually(t, "the rest is read", all)
	leaveZ()
	read := slices.Concat(a.read, z.read)
	slices.Sort(read)
	if distinct := len(slices.Compact(slices.Clone(read))); distinct != produced || len(read) != produced {
		t.Errorf("read %d, %d distinct, of %d", len(read), distinct, produced)
	}
}

func TestSaramaAdmin(t *testing.T) {
	b := listening(t, broker.Options{})
	a, err := sarama.NewClusterAdmin([]string{b.Addr()}, saramaConfig())
	if err != nil {
		t.Fatal(err)
	}
	closing(t, a)
	if err := a.CreateTopic("made", &sarama.TopicDetail{NumPartitions: 2, ReplicationFactor: 1}, false); err != nil {
		t.Fatal(err)
	}
	if err := a.CreateTopic("made", &sarama.TopicDetail{NumPartitions: 2, ReplicationFactor: 1}, false); !errors.Is(err, sarama.ErrTopicAlreadyExists) {
		t.Errorf("create it again: %v", err)
	}
	if err := a.CreatePartitions("made", 5, nil, false); err != nil {
		t.Error(err)
	}
	topics, err := a.ListTopics()
	if err != nil {
		t.Fatal(err)
	}
	if topics["made"].NumPartitions != 5 {
		t.Errorf("topics: %+v", topics)
	}
	configs, err := a.DescribeConfigs([]*sarama.ConfigResource{{Type: sarama.TopicResource, Name: "made"}}, sarama.DescribeConfigsOptions{})
	if err != nil || len(configs) != 1 || len(configs[0].Configs) == 0 {
		t.Errorf("configs: %v, %v", configs, err)
	}
	brokers, controller, err := a.DescribeCluster()
	if err != nil || len(brokers) != 1 || brokers[0].ID() != controller {
		t.Errorf("cluster: %d brokers, controller %d, %v", len(brokers), controller, err)
	}
	p, err := sarama.NewSyncProducer([]string{b.Addr()}, saramaConfig())
	if err != nil {
		t.Fatal(err)
	}
	closing(t, p)
	for range 3 {
		if _, _, err := p.SendMessage(&sarama.ProducerMessage{Topic: "made", Partition: 0, Value: sarama.StringEncoder("x")}); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.DeleteTopic("made"); err != nil {
		t.Error(err)
	}
	if topics, err = a.ListTopics(); err != nil || len(topics) != 0 {
		t.Errorf("topics left: %v, %v", topics, err)
	}
}

// saramaScram is a SCRAM client for Sarama, which needs one from its caller.
type saramaScram struct {
	hash func() hash.Hash
	*scram.ClientConversation
}

func (s *saramaScram) Begin(user, password, authz string) error {
	c, err := scram.HashGeneratorFcn(s.hash).NewClient(user, password, authz)
	if err != nil {
		return err
	}
	s.ClientConversation = c.NewConversation()
	return nil
}

func TestSaramaSASL(t *testing.T) {
	b := saslBroker(t)
	for _, version := range []int16{sarama.SASLHandshakeV0, sarama.SASLHandshakeV1} {
		for mechanism, h := range map[sarama.SASLMechanism]func() hash.Hash{sarama.SASLTypePlaintext: nil, sarama.SASLTypeSCRAMSHA256: sha256.New, sarama.SASLTypeSCRAMSHA512: sha512.New} {
			t.Run(fmt.Sprintf("%s/handshake v%d", mechanism, version), func(t *testing.T) {
				dial := func(password string) error {
					conf := saramaConfig()
					conf.Net.SASL.Enable, conf.Net.SASL.Handshake = true, true
					conf.Net.SASL.Version = version
					conf.ApiVersionsRequest = version > 0 // required by Sarama
					conf.Net.SASL.Mechanism = mechanism
					conf.Net.SASL.User, conf.Net.SASL.Password = "ann", password
					conf.Net.SASL.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient { return &saramaScram{hash: h} }
					conf.Metadata.Retry.Max = 0
					c, err := sarama.NewClient([]string{b.Addr()}, conf)
					if err != nil {
						return err
					}
					defer c.Close()
					_, err = c.Topics()
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
}
