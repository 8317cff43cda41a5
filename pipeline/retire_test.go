package pipeline_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/schemas"
)

// TestRetentionOfSpansAlone checks that retention is refused for topics whose later events depend
// on earlier ones, by name or with the prefix.
func TestRetentionOfSpansAlone(t *testing.T) {
	l := openLog(t, pipeline.Config{DataDir: t.TempDir(), Partitions: 1})
	for _, topic := range []string{schemas.TopicCommands, l.Topic(schemas.TopicCommands), schemas.TopicErasures, ""} {
		if _, err := l.PlanRetention(t.Context(), topic, time.Now(), 1); !errors.Is(err, schemas.ErrPoison) || !strings.Contains(err.Error(), "only recount.spans can be retired") {
			t.Errorf("%q: %v", topic, err)
		}
	}
	if plan, err := l.PlanRetention(t.Context(), schemas.TopicSpans, time.Now(), 1); err != nil || len(plan.Cuts) != 0 {
		t.Errorf("of no spans: %+v, %v", plan, err)
	}
}
