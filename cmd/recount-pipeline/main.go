// Command recount-pipeline is the part of Recount that has Benthos: the verb pipeline, and the verb up
// for configurations with pipelines of the user. recount starts it for these, with its own
// arguments; the built-in streams and every other verb do without Benthos, so that recount is
// smaller and starts faster (docs/decisions/0076).
package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/cmd/internal/cli"
	"github.com/recountdb/recount/cmd/internal/program"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/pipeline/streams"
	"github.com/recountdb/recount/processors/adapter"
	"github.com/recountdb/recount/server/node"
)

// version is set by the build: -ldflags "-X main.version=1.2.3".
var version string

func main() { program.Main(cli.Version(version), render.DefaultSilence, 0, root) }

func root(con *connect.Connector) *cobra.Command {
	root := &cobra.Command{
		Use:   "recount-pipeline",
		Short: "Run Benthos pipelines with Recount",
		Long: `The part of Recount that has Benthos. recount starts it for the verb pipeline, and for up
with pipelines of your own; it takes the same arguments.`,
		Example: `  recount-pipeline pipeline lint my.yaml
  recount-pipeline up --pipeline my.yaml`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage.Errorf("unknown verb %q: recount has the others", args[0])
			}
			return cmd.Help()
		},
	}
	root.AddCommand(program.Up(con, run), pipelineCmd(con))
	program.Prepare(root, con)
	return root
}

// run runs a pipeline of a server's configuration.
func run(ctx context.Context, p node.Pipeline) error {
	return streams.Run(ctx, streams.Options{
		YAML: p.YAML, Vars: p.Vars, Log: p.Log, Target: p.Target, Processors: adapter.Register,
		Metrics: p.Metrics, CheckpointDir: p.CheckpointDir,
		Logger: p.Config.Logger, StopWithin: p.Config.ShutdownTimeout,
	})
}
