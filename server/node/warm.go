package node

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/recountdb/recount/query/code"
	packing "github.com/recountdb/recount/query/context"
	"github.com/recountdb/recount/schemas"
)

const (
	// warmAfter is how long the projections must have been quiet before what changed is warmed, and
	// warmAtLatest the time after a change at which it is warmed anyhow.
	warmAfter    = 2 * time.Second
	warmAtLatest = 30 * time.Second
)

// followHeads derives what questions for context need of the code whenever a repository's HEAD has
// moved, so that a question seldom waits for it. What was there at the start waits for the first
// question.
func (n *Node) followHeads(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(n.stopping, cancel)()
	var known map[string]schemas.Hash
	for {
		changed := n.set.Changed()
		if heads, err := code.Heads(ctx, n.packingSources().Code); err == nil {
			if known != nil {
				n.warm(ctx, known, heads)
			}
			known = heads
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
			n.awaitQuiet(ctx)
		}
	}
}

// warm warms the repositories whose heads differ.
func (n *Node) warm(ctx context.Context, known, heads map[string]schemas.Hash) {
	for _, repo := range slices.Sorted(maps.Keys(heads)) {
		if heads[repo] == known[repo] {
			continue
		}
		if err := packing.Warm(ctx, n.packingSources(), repo); err != nil && ctx.Err() == nil {
			n.cfg.Logger.LogAttrs(ctx, slog.LevelDebug, "the first question for context has to wait", slog.String("repository", repo), slog.Any("err", err))
		}
	}
}

// awaitQuiet waits until no batch has been applied for a while.
func (n *Node) awaitQuiet(ctx context.Context) {
	latest := time.After(warmAtLatest)
	for {
		select {
		case <-ctx.Done():
			return
		case <-latest:
			return
		case <-time.After(warmAfter):
			return
		case <-n.set.Changed():
		}
	}
}
