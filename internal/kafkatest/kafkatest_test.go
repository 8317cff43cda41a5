//go:build integration

package kafkatest_test

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recountdb/recount/internal/kafkatest"
)

func TestStartApacheKafka(t *testing.T) {
	c, err := kgo.NewClient(kgo.SeedBrokers(kafkatest.Start(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := c.Ping(ctx); err != nil {
		t.Fatal(err)
	}
}
