package node

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/recountdb/recount/internal/diskuse"
	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/projections/vector"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

func sinceMS(t time.Time) int64 { return time.Since(t).Milliseconds() }

// Status implements api.Backend.
func (n *Node) Status(ctx context.Context, r api.StatusRequest) (api.Status, error) {
	if err := n.catchUp(ctx); err != nil {
		return api.Status{}, err
	}
	s := api.Status{
		Version: n.cfg.Version, DataDir: n.dir.path, DataID: n.dir.ID, PID: os.Getpid(),
		Roles: n.cfg.Roles, Started: n.started.UTC(), Ready: n.ready.Load(),
		Projections: []api.ProjectionStatus{},
	}
	if watched := n.watched.Load(); watched != nil {
		s.Watch = (*watched)()
	}
	if f := n.tokens.File(); f != nil {
		st := f.State()
		s.Tokens = &api.TokensStatus{File: st.Path, InForce: st.InForce, Mistakes: append([]string{}, st.Mistakes...)}
	}
	s.Log, s.Spool, s.Erasing = n.logStatus(ctx), SpoolStatus(n.dir.path, n.spoolFault), n.erasingStatus()
	if r.Mark != nil {
		mark, err := n.log.RecordMark(ctx, *r.Mark)
		if err != nil {
			return s, err
		}
		s.Log.Mark = &mark
	}
	s.Intents.Shards = []api.IntentShard{}
	if n.set == nil {
		return s, nil
	}
	for _, name := range n.set.Names() {
		p, err := n.projectionStatus(ctx, name, s.Log.Ends, r.Roots)
		if err != nil {
			return s, err
		}
		s.Projections = append(s.Projections, p)
	}
	var err error
	s.Intents, err = n.intentStatus(ctx)
	return s, err
}

// SetWatched sets what Status reports of watched repositories.
func (n *Node) SetWatched(state func() []api.WatchStatus) { n.watched.Store(&state) }

func (n *Node) logStatus(ctx context.Context) api.LogStatus {
	l := api.LogStatus{Kind: "external", Brokers: n.cfg.Kafka.Brokers, FollowsLog: n.set != nil && !n.local}
	if n.log.Embedded() {
		l.Kind, l.Brokers = "embedded", nil
		l.Bytes = n.allocated(pipeline.LogDir)
		if addr := n.log.Addr(); addr != "" {
			l.Brokers = []string{addr}
		}
		if err := n.log.Full(); err != nil {
			l.Full = err.Error()
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	rejected := n.log.Topic(schemas.TopicRejected)
	all, err := n.log.Ends(ctx, append(n.topics(), rejected)...)
	if err != nil {
		l.Error = err.Error()
		return l
	}
	starts, err := n.log.Starts(ctx, rejected)
	if err != nil {
		l.Error = err.Error()
		return l
	}
	if l.Unread, err = n.unreadPartitions(ctx); err != nil {
		l.Error = err.Error()
		return l
	}
	spans, sums := n.knownSince(schemas.TopicSpans)
	if !spans.IsZero() {
		l.SpansSince = &spans
	}
	if commands, _ := n.knownSince(schemas.TopicCommands); !commands.IsZero() {
		l.CommandsSince = &commands
	}
	if agents, _ := n.knownSince(schemas.TopicAgents); !agents.IsZero() {
		l.AgentsSince = &agents
	}
	if !sums.IsZero() {
		l.SumsSince = &sums
	}
	l.Ends = schemas.Watermark{}
	for tp, end := range all {
		if tp.Topic == rejected {
			l.Rejected += end - starts[tp]
		} else {
			l.Ends[tp] = end
		}
	}
	return l
}

func (n *Node) projectionStatus(ctx context.Context, name string, ends schemas.Watermark, root bool) (api.ProjectionStatus, error) {
	s := api.ProjectionStatus{Name: name, Generation: n.generation(name), Partitions: []api.PartitionLag{}}
	p, release, err := n.set.Acquire(name)
	if err != nil {
		return s, err
	}
	defer release()
	s.Watermark = p.Watermark()
	s.Bytes = n.allocated(projectionsDir, name)
	for _, tp := range ends.Partitions() {
		if !n.set.Subscribes(name, tp.Topic) {
			continue
		}
		lag := api.PartitionLag{Topic: tp.Topic, Partition: tp.Partition, Next: s.Watermark[tp], End: ends[tp]}
		lag.Lag = max(lag.End-lag.Next, 0)
		s.Lag += lag.Lag
		s.Partitions = append(s.Partitions, lag)
	}
	switch p := p.(type) {
	case *segment.Projection:
		for _, st := range p.Stats() {
			s.Segments += st.Segments
		}
	case *vector.Projection:
		for _, st := range p.Stats() {
			s.Shards = append(s.Shards, api.VectorShard{
				Topic: st.TP.Topic, Partition: st.TP.Partition, Commands: st.Runs, Vectors: st.Rows, Files: st.Files,
			})
		}
	}
	if root {
		h, err := projections.Root(ctx, p)
		if err != nil {
			return s, fmt.Errorf("root of %s: %w", name, err)
		}
		s.Root = &h
	}
	return s, nil
}

// allocated returns the disk space of a folder in the data directory, 0 if it cannot be read.
func (n *Node) allocated(folder ...string) int64 {
	bytes, err := diskuse.Allocated(filepath.Join(append([]string{n.dir.path}, folder...)...))
	if err != nil {
		n.cfg.Logger.Warn("status: the disk usage of a folder cannot be determined", "err", err)
		return 0
	}
	return bytes
}

func (n *Node) intentStatus(ctx context.Context) (s api.IntentStatus, err error) {
	c, err := commands.Count(ctx, n.sources(), api.RecentCommands)
	if err != nil {
		return s, err
	}
	s.Count, s.Shards = c.Count, []api.IntentShard{}
	for _, st := range c.Shards {
		s.Shards = append(s.Shards, api.IntentShard{
			Topic: st.Partition.Topic, Partition: st.Partition.Partition, Count: int64(st.Rows()), Hot: int64(st.HotRows),
			Segments: st.Segments, Bytes: st.Bytes,
			Oldest: time.Unix(0, st.MinTime).UTC(), Newest: time.Unix(0, st.MaxTime).UTC(),
		})
	}
	if c.Count > 0 {
		s.Oldest, s.Newest = &c.Oldest, &c.Newest
	}
	s.Recent = api.Recent{Commands: c.Recent, OK: c.OK, Failed: c.Failed, Unknown: c.Unknown}
	if known := c.OK + c.Failed; known > 0 {
		s.Recent.FailureRate = float64(c.Failed) / float64(known)
	}
	return s, nil
}
