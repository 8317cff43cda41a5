package pipeline_test

import (
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/configs"
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
	asked := false
	c.ControlKey(int16(kmsg.Metadata), func(r kmsg.Request) (kmsg.Response, error, bool) {
		if topics := r.(*kmsg.MetadataRequest).Topics; asked || len(topics) != 1 || topics[0].Topic == nil || *topics[0].Topic != topic {
			c.KeepControl()
			return nil, nil, false
		}
		asked = true
		return unknownTopic(r, topic), nil, true
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

// unknownTopic returns the answer of a broker that does not know the topic.
func unknownTopic(r kmsg.Request, topic string) kmsg.Response {
	resp := r.ResponseKind().(*kmsg.MetadataResponse)
	one := kmsg.NewMetadataResponseTopic()
	one.Topic, one.ErrorCode = &topic, kerr.UnknownTopicOrPartition.Code
	resp.Topics = append(resp.Topics, one)
	return resp
}

// TestAReaderWaitsForANewTopic begins to read a topic that is made between the client's list of topics
// and its question for this one: the stream waits until the client knows it, and logs no error.
func TestAReaderWaitsForANewTopic(t *testing.T) {
	ctx, c, m := testContext(t), outside(t), newFlushing()
	l := openLog(t, pipeline.Config{Brokers: c.ListenAddrs()})
	appendCommands(ctx, t, l, 0, 10)
	const derived = "recount.records.commands"
	if _, err := l.TopicPartitions(ctx, derived); !errors.Is(err, schemas.ErrPoison) {
		t.Fatalf("the topic does not exist yet: %v", err)
	}
	from, err := l.TopicPartitions(ctx, schemas.TopicCommands)
	if err != nil {
		t.Fatal(err)
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if _, err := kadm.NewClient(cl).CreateTopic(ctx, int32(len(from)), 1, nil, derived); err != nil {
		t.Fatal(err)
	}
	listed := make(chan struct{})
	c.ControlKey(int16(kmsg.Metadata), func(r kmsg.Request) (kmsg.Response, error, bool) {
		if topics := r.(*kmsg.MetadataRequest).Topics; len(topics) != 1 || topics[0].Topic == nil || *topics[0].Topic != derived {
			c.KeepControl()
			return nil, nil, false
		}
		close(listed)
		return unknownTopic(r, derived), nil, true
	})
	lines := make(chan string, 1000)
	project := runStream(t, streams.Options{
		YAML: builtin(t, configs.Project), Log: l, Target: m, CheckpointDir: t.TempDir(), Logger: linesTo(lines),
	})
	<-listed
	process := runStream(t, streams.Options{YAML: builtin(t, configs.Process), Log: l})
	m.waitFor(ctx, t, ends(ctx, t, l, schemas.TopicCommands))
	process.end()
	project.end()
	for len(lines) > 0 {
		if line := <-lines; contains(line, "level=ERROR") {
			t.Error(line)
		}
	}
}
