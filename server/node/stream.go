package node

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/recountdb/recount/configs"
	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/pipeline/streams"
	"github.com/recountdb/recount/processors/adapter"
	"github.com/recountdb/recount/schemas"
)

// stream is a Benthos config to run.
type stream struct{ name, yaml string }

// streams returns the configs of the roles, or those that the configuration names instead.
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
		// There is no derived topic for large data: files, spans and agents' events are processed
		// in the process that projects them.
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

// runStreams runs the streams until the context ends, then drains them. After an error the node
// stops; the next start recovers.
func (n *Node) runStreams(ctx context.Context, all []stream) error {
	if n.cfg.Has(RoleProject) && !n.cfg.Has(RoleProcess) {
		// The position in the derived topic is stored apart from the projections. If these started
		// from zero, read what lies before that position from the log.
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
	for _, s := range all {
		o := streams.Options{
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
			if err := streams.Run(ctx, o); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if ctx.Err() == nil {
				return schemas.Fatalf("%s: the stream ended unexpectedly", s.name)
			}
			return nil
		})
	}
	return g.Wait()
}
