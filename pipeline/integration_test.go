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

// TestLogApacheKafka runs the suite against a real Apache Kafka. Each test has its own prefix, and
// so its own topics.
func TestLogApacheKafka(t *testing.T) {
	addr := kafkatest.Start(t)
	var n atomic.Int64
	logtest.Run(t, func(t *testing.T, change func(*pipeline.Config)) *pipeline.Log {
		cfg := pipeline.Config{Brokers: []string{addr}, Prefix: fmt.Sprintf("t%d.", n.Add(1))}
		change(&cfg)
		return openLog(t, cfg)
	})
}

// TestGrowthApacheKafka adds partitions, from 4 to 8 to 24, while streams run in split roles.
func TestGrowthApacheKafka(t *testing.T) {
	addr := kafkatest.Start(t)
	growthSplit(t, func() *pipeline.Log { return openLog(t, pipeline.Config{Brokers: []string{addr}}) })
}
