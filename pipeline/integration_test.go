//go:build integration

package pipeline_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/recountdb/recount/internal/kafkatest"
	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/pipeline/logtest"
)

// TestLogApacheKafka runs the suite against a real Apache Kafka; each test has a
// prefix, and so topics, of its own.
func TestLogApacheKafka(t *testing.T) {
	addr := kafkatest.Start(t)
	var n atomic.Int64
	logtest.Run(t, func(t *testing.T, change func(*pipeline.Config)) *pipeline.Log {
		cfg := pipeline.Config{Brokers: []string{addr}, Prefix: fmt.Sprintf("t%d.", n.Add(1))}
		change(&cfg)
		return openLog(t, cfg)
	})
}

// TestGrowthApacheKafka: partitions 4 to 8 to 24 while streams run, in split roles.
func TestGrowthApacheKafka(t *testing.T) {
	addr := kafkatest.Start(t)
	growthSplit(t, func() *pipeline.Log { return openLog(t, pipeline.Config{Brokers: []string{addr}}) })
}
