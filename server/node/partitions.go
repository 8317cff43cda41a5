package node

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

// Grow implements api.Backend.
func (n *Node) Grow(ctx context.Context, r api.GrowRequest, _ func(api.Progress)) (api.GrowReport, error) {
	if r.Topic == "" {
		return api.GrowReport{}, schemas.Poisonf("topic: missing: want one of %s", strings.Join(schemas.Topics(), ", "))
	}
	before, err := n.log.TopicPartitions(ctx, r.Topic)
	if err != nil {
		return api.GrowReport{}, err
	}
	if err := n.log.Grow(ctx, r.Topic, r.Partitions); err != nil {
		return api.GrowReport{}, err
	}
	n.cfg.Logger.Info("partitions added", "topic", n.log.Topic(r.Topic), "before", len(before), "now", r.Partitions)
	return api.GrowReport{Topic: n.log.Topic(r.Topic), Before: len(before), Partitions: r.Partitions}, nil
}

// unread caches for a second the partitions that nobody reads, to limit the load of concurrent
// callers.
type unread struct {
	mu  sync.Mutex
	at  time.Time
	tps []string
	err error
}

// unreadFor is how long the result is cached.
const unreadFor = time.Second

// unreadPartitions returns the partitions that no input of this process reads, so that their events
// are not seen. New partitions are among them for a few seconds.
func (n *Node) unreadPartitions(ctx context.Context) ([]string, error) {
	if n.set == nil {
		return nil, nil
	}
	n.unread.mu.Lock()
	defer n.unread.mu.Unlock()
	if time.Since(n.unread.at) > unreadFor {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		tps, err := n.log.Unread(ctx)
		n.unread.tps, n.unread.err = names(tps), err
		n.unread.at = time.Now()
	}
	return n.unread.tps, n.unread.err
}

// allRead returns an error if nobody reads some partition.
func (n *Node) allRead(ctx context.Context) error {
	tps, err := n.unreadPartitions(ctx)
	if err != nil || len(tps) == 0 {
		return err
	}
	return fmt.Errorf("no process reads %s: its events are not seen; with split roles, start a process with the role process; a pipeline of your own must read whole topics", strings.Join(tps, ", "))
}

func names(tps []schemas.TopicPartition) []string {
	var all []string
	for _, tp := range tps {
		all = append(all, tp.String())
	}
	return all
}

// unreadGrace is how long a verify waits until new partitions are read.
const unreadGrace = 5 * time.Second

// awaitRead waits until all partitions are read and returns those that still are not after
// unreadGrace.
func (n *Node) awaitRead(ctx context.Context) ([]string, error) {
	deadline := time.Now().Add(unreadGrace)
	for {
		tps, err := n.log.Unread(ctx)
		if err != nil || len(tps) == 0 || time.Now().After(deadline) {
			return names(tps), err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(unreadGrace / 10):
		}
	}
}
