// Package clienttests tests the broker with Kafka clients that nothing else of Recount needs: IBM's
// sarama and segmentio's kafka-go. It is a module of its own, so that their dependencies are in no
// user's build (docs/decisions/0067). franz-go and kcat are tested in pipeline/broker itself.
package clienttests

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/segmentio/kafka-go"

	"github.com/recountdb/recount/pipeline/broker"
)

// patience is the maximum wait of a test. It stops a test that hangs and measures nothing, since a
// machine may be very slow.
const patience = 2 * time.Minute

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// listening opens a broker on loopback that is closed at the end of the test.
func listening(t testing.TB, opts broker.Options) *broker.Broker {
	t.Helper()
	opts.Listen = []string{"127.0.0.1:0"}
	b, err := broker.Open(t.TempDir(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return b
}

// saslBroker opens a broker on which ann authenticates with "secret".
func saslBroker(t testing.TB) *broker.Broker {
	t.Helper()
	c, err := broker.NewCredential("secret")
	if err != nil {
		t.Fatal(err)
	}
	return listening(t, broker.Options{SASL: broker.SASLOptions{Users: map[string]broker.Credential{"ann": c}}, AutoCreateTopics: true})
}

// createTopic creates a topic.
func createTopic(t testing.TB, b *broker.Broker, name string, partitions int) {
	t.Helper()
	c := &kafka.Client{Addr: kafka.TCP(b.Addr()), Timeout: patience, Transport: kafkaGo(t)}
	made, err := c.CreateTopics(testContext(t), &kafka.CreateTopicsRequest{
		Topics: []kafka.TopicConfig{{Topic: name, NumPartitions: partitions, ReplicationFactor: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := made.Errors[name]; err != nil {
		t.Fatal(err)
	}
}

// closing closes c at the end of the test.
func closing(t testing.TB, c interface{ Close() error }) {
	t.Helper()
	t.Cleanup(func() {
		if err := c.Close(); err != nil && !errors.Is(err, sarama.ErrClosedClient) {
			t.Error(err)
		}
	})
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
