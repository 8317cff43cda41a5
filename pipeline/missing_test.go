package pipeline_test

import (
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/pipeline/streams"
	"github.com/recountdb/recount/schemas"
)

// TestAnOldAnswerEndsNothing gives a client an answer that is older than a topic, as it may arrive
// after a newer one: what the client then lists is tried again. A topic that does not exist any more is
// an error that a retry does not help. (A stream that began in this moment gave up.)
func TestAnOldAnswerEndsNothing(t *testing.T) {
	ctx, c := testContext(t), outside(t)
	l := openLog(t, pipeline.Config{Brokers: c.ListenAddrs()})
	topic := l.Topic(schemas.TopicCommands)
	old := func(r kmsg.Request) (kmsg.Response, error, bool) {
		resp := r.ResponseKind().(*kmsg.MetadataResponse)
		one := kmsg.NewMetadataResponseTopic()
		one.Topic, one.ErrorCode = &topic, kerr.UnknownTopicOrPartition.Code
		resp.Topics = append(resp.Topics, one)
		return resp, nil, true
	}
	asked := false
	c.ControlKey(int16(kmsg.Metadata), func(r kmsg.Request) (kmsg.Response, error, bool) {
		if topics := r.(*kmsg.MetadataRequest).Topics; asked || len(topics) != 1 || topics[0].Topic == nil || *topics[0].Topic != topic {
			c.KeepControl()
			return nil, nil, false
		}
		asked = true
		return old(r)
	})
	// A part of the client may have remembered the topic for the first of these.
	for !asked {
		if _, err := l.Starts(ctx, schemas.TopicCommands); err != nil && !errors.Is(err, schemas.ErrTransient) {
			t.Fatalf("after an old answer: %v", err)
		}
	}
	for {
		starts, err := l.Starts(ctx, schemas.TopicCommands)
		if err == nil {
			if len(starts) == 0 {
				t.Error("no partitions")
			}
			break
		}
		if !errors.Is(err, schemas.ErrTransient) {
			t.Fatalf("after an old answer: %v", err)
		}
	}

	cl, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if _, err := kadm.NewClient(cl).DeleteTopics(ctx, topic); err != nil {
		t.Fatal(err)
	}
	for {
		_, err := l.Starts(ctx, schemas.TopicCommands)
		if errors.Is(err, schemas.ErrPoison) {
			break
		}
		if err != nil && !errors.Is(err, schemas.ErrTransient) {
			t.Fatalf("the topic is deleted: %v", err)
		}
	}
}

// TestAReaderWaitsForANewTopic begins to read a topic that the broker has, but that the client's list
// does not show yet: the stream waits until it does, and logs no error.
func TestAReaderWaitsForANewTopic(t *testing.T) {
	ctx, c, m := testContext(t), outside(t), newFlushing()
	l := openLog(t, pipeline.Config{Brokers: c.ListenAddrs()})
	appendCommands(ctx, t, l, 0, 10)
	olds := 0
	c.ControlKey(int16(kmsg.Metadata), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		topics := r.(*kmsg.MetadataRequest).Topics
		if olds > 0 || len(topics) == 0 {
			return nil, nil, false
		}
		olds++
		resp := r.ResponseKind().(*kmsg.MetadataResponse)
		for _, topic := range topics {
			one := kmsg.NewMetadataResponseTopic()
			one.Topic, one.ErrorCode = topic.Topic, kerr.UnknownTopicOrPartition.Code
			resp.Topics = append(resp.Topics, one)
		}
		return resp, nil, true
	})
	lines := make(chan string, 1000)
	r := runStream(t, streams.Options{Log: l, Target: m, CheckpointDir: t.TempDir(), Logger: linesTo(lines)})
	m.waitFor(ctx, t, ends(ctx, t, l, schemas.TopicCommands))
	r.end()
	for len(lines) > 0 {
		if line := <-lines; contains(line, "level=ERROR") {
			t.Error(line)
		}
	}
	if olds == 0 {
		t.Error("the client was given no old answer")
	}
}
