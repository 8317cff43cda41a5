package broker_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recountdb/recount/pipeline/broker"
)

// Example opens a log in a directory and connects a Kafka client without a socket.
func Example() {
	dir, err := os.MkdirTemp("", "log")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	b, err := broker.Open(dir, broker.Options{AutoCreateTopics: true})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()

	c, err := kgo.NewClient(
		kgo.SeedBrokers("any:1"),
		kgo.Dialer(func(ctx context.Context, _, _ string) (net.Conn, error) { return b.Dial(ctx) }),
		kgo.AllowAutoTopicCreation(),
	)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	r, err := c.ProduceSync(context.Background(), &kgo.Record{Topic: "greetings", Value: []byte("hello")}).First()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("on disk at offset", r.Offset)

	// The same, without a client.
	base, err := b.Append(context.Background(), "greetings", r.Partition, broker.Record{Value: []byte("again")})
	fmt.Println("on disk at offset", base, err)
	// Output:
	// on disk at offset 0
	// on disk at offset 1 <nil>
}
