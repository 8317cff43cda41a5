package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

const (
	// maxPageBytes bounds the payloads of a page; a page has at least one event.
	maxPageBytes = 4 << 20
	// pageTimeout bounds the time to read a page: reading waits for outages to end.
	pageTimeout = 20 * time.Second
)

// LogTopics implements api.Backend.
func (n *Node) LogTopics(ctx context.Context) (api.LogTopics, error) {
	infos, err := n.log.Topics(ctx)
	if err != nil {
		return api.LogTopics{}, err
	}
	all := api.LogTopics{Topics: []api.LogTopic{}}
	for _, t := range infos {
		topic := api.LogTopic{Name: t.Name}
		for _, p := range t.Partitions {
			topic.Partitions = append(topic.Partitions, api.LogPartition(p))
		}
		all.Topics = append(all.Topics, topic)
	}
	return all, nil
}

// LogPage implements api.Backend. It reads the log and no projection; erased events appear as what is
// left of them. The topic may be named without its prefix.
func (n *Node) LogPage(ctx context.Context, r api.LogRequest) (api.LogPage, error) {
	limit := cmp.Or(r.Limit, api.DefaultLogPage)
	if limit < 1 || limit > api.MaxLogPage {
		return api.LogPage{}, &query.RequestError{Field: "limit", Value: r.Limit, Reason: fmt.Sprintf("want 1 to %d", api.MaxLogPage)}
	}
	r.Topic = n.log.Topic(r.Topic)
	at, err := n.logPartition(ctx, r.Topic, r.Partition)
	if err != nil {
		return api.LogPage{}, err
	}
	page := api.LogPage{Topic: r.Topic, LogPartition: at, From: max(at.Start, at.End-int64(limit)), Events: []api.LogEvent{}}
	if r.From != nil {
		page.From = min(max(at.Start, *r.From), at.End)
	}
	page.Next = min(page.From+int64(limit), at.End)
	if page.Next == page.From {
		return page, nil
	}
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	tp := schemas.TopicPartition{Topic: r.Topic, Partition: r.Partition}
	size := 0
	full := errors.New("the page is full")
	err = n.log.Follow(ctx, pipeline.FollowOptions{
		Partitions: []schemas.TopicPartition{tp}, Until: schemas.Watermark{tp: page.Next}, MaxRecords: limit,
		From: func(schemas.TopicPartition) int64 { return page.From },
	}, func(_ context.Context, _ schemas.TopicPartition, recs []schemas.LogRecord, _ int64) error {
		for _, rec := range recs {
			if size += len(rec.Value); size > maxPageBytes && len(page.Events) > 0 {
				page.Next = rec.Position.Offset
				return schemas.Poisonf("%w", full) // ends Follow
			}
			e, err := api.NewLogEvent(rec, r.Raw)
			if err != nil {
				return schemas.Poisonf("%s: %w", rec.Position, err)
			}
			page.Events = append(page.Events, e)
		}
		return nil
	})
	if err != nil && !errors.Is(err, full) {
		return api.LogPage{}, err
	}
	return page, nil
}

// logPartition returns where a partition begins and ends, of a topic that is Recount's.
func (n *Node) logPartition(ctx context.Context, topic string, partition int32) (api.LogPartition, error) {
	all, err := n.LogTopics(ctx)
	if err != nil {
		return api.LogPartition{}, err
	}
	for _, t := range all.Topics {
		if t.Name != topic {
			continue
		}
		for _, p := range t.Partitions {
			if p.Partition == partition {
				return p, nil
			}
		}
		return api.LogPartition{}, &query.NotFoundError{Ref: fmt.Sprintf("%s/%d", topic, partition), Hint: fmt.Sprintf("the topic has partitions 0 to %d", len(t.Partitions)-1)}
	}
	return api.LogPartition{}, &query.NotFoundError{Ref: topic, Hint: "no topic of that name; GET /v1/log lists them"}
}
