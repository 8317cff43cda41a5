package pipeline_test

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/schemas"
)

// TestAnIdlePartitionHoldsNoOtherUp checks that a fetch that finds nothing does not delay
// partitions that are not part of it because they were assigned or resumed later. (A stream used to
// start five seconds late if the first of four partitions was idle.)
func TestAnIdlePartitionHoldsNoOtherUp(t *testing.T) {
	ctx, stop := context.WithCancel(testContext(t))
	defer stop()
	c := outside(t)
	waits := make(chan time.Duration, 1)
	c.ControlKey(int16(kmsg.Fetch), func(r kmsg.Request) (kmsg.Response, error, bool) {
		select {
		case waits <- time.Duration(r.(*kmsg.FetchRequest).MaxWaitMillis) * time.Millisecond:
		default:
		}
		return nil, nil, false
	})
	l := openLog(t, pipeline.Config{Brokers: c.ListenAddrs()})
	done := make(chan error, 1)
	go func() {
		done <- l.Follow(ctx, pipeline.FollowOptions{Topics: []string{schemas.TopicCommands}},
			func(context.Context, schemas.TopicPartition, []schemas.LogRecord, int64) error { return nil })
	}()
	select {
	case wait := <-waits:
		if wait > time.Second {
			t.Errorf("a fetch waits %s at the broker", wait)
		}
	case err := <-done:
		t.Fatalf("follow ended: %v", err)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
