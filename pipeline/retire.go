package pipeline

import (
	"context"
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// What retention gives up is an event of topic erasures too: the first offset that stays,
// of each partition. From then on nobody reads what stands before it, whether the brokers
// have deleted it or not, so that whoever makes a projection anew makes the same.

// Cut is where a partition begins since retention gave up what stands before.
type Cut struct {
	First int64 // that stays
	// Known is since when the topic is known: the time of the newest record that went.
	Known time.Time
	// Unsummed is that of the newest one of which not even sums stayed.
	Unsummed time.Time
}

// Cuts are those of the partitions that have one.
func (l *Log) Cuts() map[schemas.TopicPartition]Cut {
	if now := l.erased.now.Load(); now != nil {
		return maps.Clone(now.cuts)
	}
	return nil
}

// first is where a partition is read from, at the earliest, that is asked for from an
// offset on.
func (l *Log) first(tp schemas.TopicPartition, from int64) int64 {
	if now := l.erased.now.Load(); now != nil {
		return max(from, now.cuts[tp].First)
	}
	return from
}

// Retirable reports whether retention may apply to a topic: whether what is made of its
// later events stands without the earlier ones.
func (l *Log) Retirable(topic string) bool { return topic == l.Topic(schemas.TopicSpans) }

// lasting says why retention does not apply to a topic, and what does instead.
var lasting = map[string]string{
	schemas.TopicCommands: "imports know commands by their ids, and would bring removed ones back: recount forget removes some and keeps their ids",
	schemas.TopicCommits:  "each graph of the code rests on the commits before it: recount gc removes the graphs of old commits",
	schemas.TopicAgents:   "imports and hooks know agents' events by their ids, and would bring removed ones back: recount forget removes some and keeps their ids",
	schemas.TopicFacts:    "it holds the sums of removed spans, which are nowhere else",
	schemas.TopicErasures: "it says what is removed, and readers would see that again",
	schemas.TopicRejected: "it is the only note of events that could not be applied",
}

// CheckRetirable says why retention does not apply to a topic, or nil. The error is of class
// ErrPoison.
func (l *Log) CheckRetirable(topic string) error {
	topic = l.Topic(topic)
	if l.Retirable(topic) {
		return nil
	}
	why, ok := lasting[schemas.TopicName(topic)]
	if !ok {
		why = "nothing is known of what rests on its events"
	}
	return schemas.Poisonf("retention of %s: %s; only %s can be retired", topic, why, l.Topic(schemas.TopicSpans))
}

// cut notes what an event of topic erasures says is retired. Of other topics than those
// that may be it says nothing.
func (l *Log) cut(cuts map[schemas.TopicPartition]Cut, m *recountv1.RecordsRetired) {
	for _, c := range m.GetCuts() {
		at := schemas.PositionOf(c.GetPosition())
		if tp := at.TP(); l.Retirable(tp.Topic) && at.Offset > cuts[tp].First {
			cut := Cut{at.Offset, c.GetTime().AsTime(), cuts[tp].Unsummed}
			if len(m.Summaries) == 0 {
				cut.Unsummed = cut.Known
			}
			cuts[tp] = cut
		}
	}
}

// retire notes a records.retired. One with summaries that were made before another one took
// effect has none itself: both sum what goes.
func (l *Log) retire(now *erased, e Erasing) {
	if e.Retired == nil {
		return
	}
	if len(e.Retired.Summaries) > 0 {
		var follows schemas.Position
		if p := e.Retired.Follows; p != nil {
			follows = schemas.PositionOf(p)
		}
		if follows != now.summarised {
			now.void[e.At] = true
			return
		}
		for _, p := range e.Retired.Summaries {
			now.summaries = append(now.summaries, schemas.PositionOf(p))
		}
		now.summarised = e.At
	}
	l.cut(now.cuts, e.Retired)
}

// Summaries are where the events stand that sum what is retired, and the records.retired
// that named the last of them; zero where none did.
func (l *Log) Summaries() (at []schemas.Position, by schemas.Position) {
	if now := l.erased.now.Load(); now != nil {
		return now.summaries, now.summarised
	}
	return nil, schemas.Position{}
}

// Void reports that a records.retired has no effect, as another one came before it.
func (l *Log) Void(at schemas.Position) bool {
	now := l.erased.now.Load()
	return now != nil && now.void[at]
}

// Cutting says what retention would give up of a topic.
type Cutting struct {
	// Cuts are the new ones; none where nothing is to go.
	Cuts map[schemas.TopicPartition]Cut
	// Events are how many offsets that is, Bytes what the topic takes, where it was asked.
	Events, Bytes int64
}

// PlanRetention says what is to go of a topic, so that no record is left that is older
// than before, and the topic takes no more than maxBytes. Either may be zero: no bound.
// Records whose times do not ascend go as late as the last of them before the first that
// stays; by size, so many of each partition as would do if records were of one size.
func (l *Log) PlanRetention(ctx context.Context, topic string, before time.Time, maxBytes int64) (c Cutting, err error) {
	topic = l.Topic(topic)
	if err := l.CheckRetirable(topic); err != nil {
		return c, err
	}
	starts, err := l.Starts(ctx, topic)
	if err != nil {
		return c, err
	}
	ends, err := l.Ends(ctx, topic)
	if err != nil {
		return c, err
	}
	first := maps.Clone(starts)
	for tp := range first {
		first[tp] = l.first(tp, first[tp])
	}
	have := maps.Clone(first)
	if !before.IsZero() {
		listed, err := l.admin.ListOffsetsAfterMilli(ctx, before.UnixMilli(), topic)
		if err == nil {
			err = listed.Error()
		}
		if err != nil {
			return c, classify(fmt.Errorf("offsets of %s at %s: %w", topic, before.Format(time.RFC3339), err))
		}
		listed.Each(func(o kadm.ListedOffset) {
			tp := schemas.TopicPartition{Topic: o.Topic, Partition: o.Partition}
			if o.Timestamp < 0 {
				o.Offset = ends[tp] // all of them are older
			}
			first[tp] = max(first[tp], min(o.Offset, ends[tp]))
		})
	}
	if maxBytes > 0 {
		if c.Bytes, err = l.topicBytes(ctx, topic); err != nil {
			return c, err
		}
		if c.Bytes > maxBytes {
			stays := float64(maxBytes) / float64(c.Bytes)
			for tp := range first {
				first[tp] = max(first[tp], ends[tp]-int64(math.Floor(float64(ends[tp]-starts[tp])*stays)))
			}
		}
	}
	c.Cuts = map[schemas.TopicPartition]Cut{}
	for tp, at := range first {
		if at <= have[tp] {
			continue
		}
		last, err := l.Read(ctx, schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: at - 1})
		if err != nil {
			return c, fmt.Errorf("the newest record to go: %w", err)
		}
		c.Cuts[tp] = Cut{First: at, Known: last.Timestamp.UTC()}
		c.Events += at - have[tp]
	}
	return c, nil
}

// topicBytes is what a topic's records take, as the brokers say.
func (l *Log) topicBytes(ctx context.Context, topic string) (total int64, err error) {
	if l.embedded != nil {
		return l.embedded.TopicBytes(topic), nil
	}
	dirs, err := l.admin.DescribeAllLogDirs(ctx, nil)
	if err != nil {
		return 0, classify(fmt.Errorf("sizes of topics: %w", err))
	}
	largest := map[int32]int64{} // of a partition's replicas
	dirs.Each(func(d kadm.DescribedLogDir) {
		d.Topics.Each(func(p kadm.DescribedLogDirPartition) {
			if p.Topic == topic {
				largest[p.Partition] = max(largest[p.Partition], p.Size)
			}
		})
	})
	for _, n := range largest {
		total += n
	}
	return total, nil
}

// Retire has the brokers delete what stands before the cuts. Done twice it changes nothing.
func (l *Log) Retire(ctx context.Context, cuts map[schemas.TopicPartition]Cut) error {
	offsets := kadm.Offsets{}
	for tp, c := range cuts {
		offsets.AddOffset(tp.Topic, tp.Partition, c.First, -1)
	}
	if len(offsets) == 0 {
		return nil
	}
	done, err := l.admin.DeleteRecords(ctx, offsets)
	if err == nil {
		err = done.Error()
	}
	if err != nil {
		return classify(fmt.Errorf("delete what is retired: %w", err))
	}
	return nil
}
