package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/recountdb/recount/schemas"
)

// Partitions may be added to a topic while it is read: by an operator of an outside
// Kafka, or by Grow. Whoever lists partitions asks for them anew; whoever follows
// topics looks for more of them now and then.

const (
	// growthEvery is how often those who follow topics look for added partitions.
	growthEvery = 2 * time.Second
	// metadataAge is how old what the client knows of partitions may be, where it
	// assigns or spreads by itself.
	metadataAge = 3 * time.Second
)

// watch looks for partitions that were added to the topics, and grows the lanes by
// them, until the context ends. from is where each starts; added, if not nil, is told
// how many they are.
func (l *Log) watch(ctx context.Context, topics []string, ls *lanes, from func(schemas.TopicPartition) int64, added func(n int)) {
	tick := time.NewTicker(growthEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		tps, err := l.TopicPartitions(ctx, topics...)
		if err != nil {
			continue // who reads them says what is wrong
		}
		more := ls.lacks(tps)
		if len(more) == 0 {
			continue
		}
		want := schemas.Watermark{}
		for _, tp := range more {
			want[tp] = from(tp)
		}
		starts, err := l.resolve(ctx, want)
		switch {
		case errors.Is(err, schemas.ErrFatal):
			ls.fail(err)
			return
		case err != nil:
			continue
		}
		l.cfg.Logger.Info("partitions were added: reading them from here on", slog.String("partitions", starts.String()))
		if added != nil {
			added(len(starts))
		}
		ls.grow(starts)
	}
}

// reader is who reads topics into lanes.
type reader struct{ topics []string }

// reading notes that all partitions of the topics are read into the lanes, until the
// function that it returns is called.
func (l *Log) reading(ls *lanes, topics []string) (left func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readers[ls] = reader{topics}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.readers, ls)
	}
}

// Unread are the partitions that nobody reads: of topics that this process' inputs read
// as a whole (not as members of a group) those that no input has, and of topics that
// others are derived from (records.*) those that have no counterpart there. While
// partitions are being added there are some for a few seconds.
func (l *Log) Unread(ctx context.Context) ([]schemas.TopicPartition, error) {
	l.mu.Lock()
	topics := map[*lanes][]string{}
	for ls, r := range l.readers {
		topics[ls] = r.topics
	}
	l.mu.Unlock()
	var unread []schemas.TopicPartition
	for ls, names := range topics {
		tps, err := l.TopicPartitions(ctx, names...)
		if err != nil {
			return nil, fmt.Errorf("look for partitions that nobody reads: %w", err)
		}
		unread = append(unread, ls.lacks(tps)...)
		for _, name := range names {
			source, ok := l.derivedFrom(name)
			if !ok {
				continue
			}
			of, err := l.TopicPartitions(ctx, source)
			if err != nil {
				return nil, fmt.Errorf("look for partitions that nobody reads: %w", err)
			}
			derived := slices.DeleteFunc(slices.Clone(tps), func(tp schemas.TopicPartition) bool { return tp.Topic != name })
			if len(derived) < len(of) {
				unread = append(unread, of[len(derived):]...)
			}
		}
	}
	slices.SortFunc(unread, schemas.TopicPartition.Compare)
	return slices.Compact(unread), nil
}

// derivedFrom is the topic whose records are handed on by a topic: that of
// recount.records.commands is recount.commands.
func (l *Log) derivedFrom(topic string) (string, bool) {
	for _, t := range schemas.Topics() {
		if topic == l.cfg.Prefix+DerivedPrefix+t {
			return l.Topic(t), true
		}
	}
	return "", false
}

// DerivedPrefix stands between the prefix and the name of the topics that records are
// handed on by, where processing and projecting are apart (configs/split).
const DerivedPrefix = "records."

// createLike makes sure that a topic exists, with as many partitions as another.
func (l *Log) createLike(ctx context.Context, topic, like string) error {
	tps, err := l.TopicPartitions(ctx, like)
	if err != nil {
		return err
	}
	if err := l.ensure(ctx, len(tps), l.Topic(topic)); err != nil {
		return err
	}
	return l.addPartitions(ctx, l.Topic(topic), len(tps))
}

// Grow gives a topic more partitions, count in all. Its keys stay in the partitions
// where they are (homes.go).
func (l *Log) Grow(ctx context.Context, topic string, count int) error {
	topic = l.Topic(topic)
	if count < 1 || count > maxPartitions {
		return schemas.Poisonf("partitions: %d: want 1 to %d", count, maxPartitions)
	}
	tps, err := l.TopicPartitions(ctx, topic)
	if err != nil {
		return err
	}
	if count < len(tps) {
		return schemas.Poisonf("partitions: %d: %s has %d, and a topic never gets fewer", count, topic, len(tps))
	}
	if count == len(tps) {
		return nil
	}
	if err := l.fixHomes(ctx); err != nil {
		return fmt.Errorf("note among how many partitions keys are spread, before %s grows: %w", topic, err)
	}
	return l.addPartitions(ctx, topic, count)
}

// addPartitions makes sure that a topic has count partitions at least. Two processes
// that do it at once both find them there.
func (l *Log) addPartitions(ctx context.Context, topic string, count int) error {
	return retry(ctx, backoff{limit: 8}, func() error {
		tps, err := l.TopicPartitions(ctx, topic)
		if err != nil || len(tps) >= count {
			return err
		}
		resps, err := l.admin.UpdatePartitions(ctx, count, topic)
		if err != nil {
			return classify(fmt.Errorf("add partitions to %s: %w", topic, err))
		}
		switch r := resps[topic]; {
		case errors.Is(r.Err, kerr.InvalidPartitions), r.Err == nil:
			return schemas.Transientf("add partitions to %s: added but not yet known", topic)
		case errors.Is(r.Err, kerr.PolicyViolation), errors.Is(r.Err, kerr.TopicAuthorizationFailed), errors.Is(r.Err, kerr.ClusterAuthorizationFailed):
			return schemas.Poisonf("add partitions to %s: %w: %s", topic, r.Err, r.ErrMessage)
		default:
			return classify(fmt.Errorf("add partitions to %s: %w: %s", topic, r.Err, r.ErrMessage))
		}
	})
}
