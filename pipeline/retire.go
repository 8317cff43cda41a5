package pipeline

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// A retention is an event of topic erasures, too: it holds the first offset that is kept, for each
// partition. From then on nobody reads the records before it, even if the brokers have not deleted
// them yet, so that a rebuilt projection equals every other rebuild.

// Cut is the start of a partition after retention.
type Cut struct {
	First int64 // the first offset that is kept
	// Known is the time from which on the topic is complete: the time of the newest record that was
	// removed.
	Known time.Time
	// Unsummed is the time of the newest removed record that is not even part of a summary.
	Unsummed time.Time
}

// Cuts returns the cuts of the partitions that have one.
func (l *Log) Cuts() map[schemas.TopicPartition]Cut {
	if now := l.erased.now.Load(); now != nil {
		return maps.Clone(now.cuts)
	}
	return nil
}

// first returns the offset at which reading a partition starts if it is requested from an offset
// on: never below the partition's cut.
func (l *Log) first(tp schemas.TopicPartition, from int64) int64 {
	if now := l.erased.now.Load(); now != nil {
		return max(from, now.cuts[tp].First)
	}
	return from
}

// retirable are the topics that retention may apply to: the state derived from their later
// events does not depend on the earlier ones.
var retirable = []string{schemas.TopicSpans, schemas.TopicCommands, schemas.TopicAgents}

// Retirable reports whether retention may apply to a topic, given by its full name.
func (l *Log) Retirable(topic string) bool {
	return slices.ContainsFunc(retirable, func(t string) bool { return l.Topic(t) == topic })
}

// lasting maps topics to the reason why retention does not apply, and to the alternative.
var lasting = map[string]string{
	schemas.TopicCommits:  "each graph of the code depends on earlier commits: use recount gc to remove the graphs of old commits",
	schemas.TopicFacts:    "it holds the only copy of the sums of removed spans and the ids of removed events",
	schemas.TopicErasures: "it records what was removed, and readers would see removed events again",
	schemas.TopicRejected: "it is the only record of events that could not be applied",
}

// CheckRetirable returns an error of class ErrPoison with the reason if retention does not apply to
// a topic, else nil.
func (l *Log) CheckRetirable(topic string) error {
	topic = l.Topic(topic)
	if l.Retirable(topic) {
		return nil
	}
	why, ok := lasting[schemas.TopicName(topic)]
	if !ok {
		why = "it is not known what depends on its events"
	}
	return schemas.Poisonf("retention of %s: %s; only %s can be retired", topic, why, l.Topic(schemas.TopicSpans)+", "+l.Topic(schemas.TopicCommands)+" and "+l.Topic(schemas.TopicAgents))
}

// cut adds the cuts of an event of topic erasures. Cuts of topics that are not retirable are
// ignored.
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

// retire adds a records.retired event. If it has summaries that were made before another such event
// took effect, it is void: both would sum up the same records.
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
	for _, x := range e.Retired.Ids {
		now.retiredIDs = append(now.retiredIDs, RetiredIDs{schemas.PositionOf(x.GetPosition()), schemas.Hash(x.GetSha256())})
	}
	l.cut(now.cuts, e.Retired)
}

// RetiredIDs is where an ids.retired event stands, and the SHA-256 of its ids.
type RetiredIDs struct {
	At     schemas.Position
	SHA256 schemas.Hash
}

// RetiredIDs returns the ids.retired events that count, in the order in which they were
// named. Later calls return the same ones and perhaps more.
func (l *Log) RetiredIDs() []RetiredIDs {
	if now := l.erased.now.Load(); now != nil {
		return now.retiredIDs
	}
	return nil
}

// Summaries returns the positions of the events that sum up retired records, and of the
// records.retired event that named the last of them, which is zero if there is none.
func (l *Log) Summaries() (at []schemas.Position, by schemas.Position) {
	if now := l.erased.now.Load(); now != nil {
		return now.summaries, now.summarised
	}
	return nil, schemas.Position{}
}

// Void reports whether a records.retired event has no effect because another one preceded it.
func (l *Log) Void(at schemas.Position) bool {
	now := l.erased.now.Load()
	return now != nil && now.void[at]
}

// Cutting is a plan of what retention would remove from a topic.
type Cutting struct {
	// Cuts are the new cuts, empty if nothing is to be removed.
	Cuts map[schemas.TopicPartition]Cut
	// Events is the number of offsets before the cuts, Bytes the size of the topic, if it was
	// needed.
	Events, Bytes int64
}

// PlanRetention plans the removal of records older than before, and of as many others as needed to
// bring the topic down to maxBytes. Either limit may be zero, which means none. If the times of
// records do not ascend, a record is removed only with the last old one that precedes the first
// kept one. For maxBytes the same share of each partition is removed, as if all records had the
// same size.
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
		listed, err := l.admin.ListOffsetsAfterMilli(ctx, max(before.UnixMilli(), 0), topic)
		if err == nil {
			err = listed.Error()
		}
		if err != nil {
			return c, classify(fmt.Errorf("offsets of %s at %s: %w", topic, before.Format(time.RFC3339), err))
		}
		listed.Each(func(o kadm.ListedOffset) {
			tp := schemas.TopicPartition{Topic: o.Topic, Partition: o.Partition}
			if o.Timestamp < 0 {
				o.Offset = ends[tp] // all records are older
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

// topicBytes returns the size of a topic's records, as reported by the brokers.
func (l *Log) topicBytes(ctx context.Context, topic string) (total int64, err error) {
	if l.embedded != nil {
		return l.embedded.TopicBytes(topic), nil
	}
	dirs, err := l.admin.DescribeAllLogDirs(ctx, nil)
	if err != nil {
		return 0, classify(fmt.Errorf("sizes of topics: %w", err))
	}
	largest := map[int32]int64{} // the largest replica of each partition
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

// Retire makes the brokers delete the records before the cuts. It is idempotent.
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
		return classify(fmt.Errorf("delete retired records: %w", err))
	}
	return nil
}
