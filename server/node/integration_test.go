//go:build integration

package node_test

import (
	"testing"

	"github.com/recountdb/recount/internal/kafkatest"
	"github.com/recountdb/recount/server/node"
)

// TestPartitionsAreAddedOnApacheKafka grows a topic from 4 to 8 to 24 partitions under load, in
// split roles with two processes that share the processing.
func TestPartitionsAreAddedOnApacheKafka(t *testing.T) {
	brokers := node.KafkaConfig{Brokers: []string{kafkatest.Start(t)}}
	role := func(roles ...string) *running {
		cfg := config(t.TempDir())
		cfg.Roles, cfg.Kafka = roles, brokers
		return start(t, cfg)
	}
	ingest := role(node.RoleIngest)
	serve := role(node.RoleProject, node.RoleServe)
	role(node.RoleProcess)
	role(node.RoleProcess)
	grown(t, ingest, serve, 24)
}
