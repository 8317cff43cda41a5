package node

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/recountdb/recount/configs"
	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/processors/adapter"
	"github.com/recountdb/recount/schemas"
)

// stream is a Benthos config to run.
type stream struct{ name, yaml string }

// streams are those of the roles, or those that the configuration names in their
// place.
func (n *Node) streams() ([]stream, error) {
	if len(n.cfg.Pipelines) > 0 {
		var all []stream
		for _, path := range n.cfg.Pipelines {
			b, err := os.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("pipelines: %w", err)
			}
			all = append(all, stream{path, string(b)})
		}
		return all, nil
	}
	var names []string
	switch process, project := n.cfg.Has(RoleProcess), n.cfg.Has(RoleProject); {
	case process && project:
		names = []string{configs.Commands, configs.Commits, configs.Spans, configs.Agents}
	case process:
		names = []string{configs.Process}
	case project:
		// No derived topic for what is large: content, spans and what agents say are
		// processed where they are projected.
		names = []string{configs.Project, configs.Commits, configs.Spans, configs.Agents}
	}
	var all []stream
	for _, name := range names {
		yaml, err := configs.Read(name)
		if err != nil {
			return nil, err
		}
		all = append(all, stream{name, yaml})
	}
	return all, nil
}

// runStreams runs them until the context ends, then drains them. An error stops
// the node: starting again recovers.
func (n *Node) runStreams(ctx context.Context, streams []stream) error {
	if n.cfg.Has(RoleProject) && !n.cfg.Has(RoleProcess) {
		// The place in the derived topic is kept apart from the projections. Should
		// these have started anew, what lies before that place is read from the log.
		if err := n.replay(ctx, n.set, n.starts, n.log.Reject, func(int64) {}); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("catch up with the log: %w", err)
		}
	}
	prefix := n.cfg.Kafka.Prefix
	if prefix == "" {
		prefix = pipeline.DefaultPrefix
	}
	g, ctx := errgroup.WithContext(ctx)
	for _, s := range streams {
		o := pipeline.StreamOptions{
			YAML: s.yaml,
			Vars: map[string]string{"RECOUNT_TOPIC_PREFIX": prefix, "RECOUNT_EMBEDDER": n.cfg.Embedder},
			Log:  n.log, Processors: adapter.Register, Metrics: n.reg,
			CheckpointDir: filepath.Join(n.dir.path, "checkpoints"),
			Logger:        n.cfg.Logger.With("stream", s.name), StopWithin: n.cfg.ShutdownTimeout,
		}
		if n.set != nil {
			o.Target = gated{n}
		}
		g.Go(func() error {
			if err := pipeline.RunStream(ctx, o); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if ctx.Err() == nil {
				return schemas.Fatalf("%s: it ended by itself", s.name)
			}
			return nil
		})
	}
	return g.Wait()
}
