package pipeline_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/schemas"
)

// TestRetentionRefusesTopics checks that retention is refused for topics whose later events depend
// on earlier ones, by name or with the prefix.
func TestRetentionRefusesTopics(t *testing.T) {
	l := openLog(t, pipeline.Config{DataDir: t.TempDir(), Partitions: 1})
	for _, topic := range []string{schemas.TopicCommits, l.Topic(schemas.TopicCommits), schemas.TopicErasures, schemas.TopicFacts, schemas.TopicRejected, ""} {
		if _, err := l.PlanRetention(t.Context(), topic, time.Now(), 1); !errors.Is(err, schemas.ErrPoison) || !strings.Contains(err.Error(), "only recount.spans, recount.commands and recount.agents can be retired") {
			t.Errorf("%q: %v", topic, err)
		}
	}
	for _, topic := range []string{schemas.TopicSpans, schemas.TopicCommands, schemas.TopicAgents} {
		if plan, err := l.PlanRetention(t.Context(), topic, time.Now(), 1); err != nil || len(plan.Cuts) != 0 {
			t.Errorf("of no %s: %+v, %v", topic, plan, err)
		}
	}
}
