package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/pipeline/streams"
	"github.com/recountdb/recount/processors/adapter"
)

func (a *app) pipelineCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "pipeline {run|lint|test|streams|list|create|blobl} ...",
		Short: "Run and check your own Benthos pipelines",
		Long: `Run, lint and test Benthos configs with Recount's plugins: the input and output
recount_log, the output recount_project, and the processors. The remaining arguments
are Benthos' own command line; recount pipeline --help prints it.

A config that reads or writes the log without seed_brokers uses the log of the data
directory, or of the server that runs on it. recount_project needs exclusive use of the
data directory: stop the server, or pass the config to it with up --pipeline.`,
		Example: `  recount pipeline lint my.yaml
  recount pipeline test ./configs/...
  recount pipeline run my.yaml
  recount pipeline list inputs`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			cfg, err := a.NodeConfig()
			if err != nil {
				return err
			}
			var opened *connect.Backend
			local := func(ctx context.Context) (*connect.Backend, error) {
				if opened == nil {
					if opened, err = a.Open(ctx, cfg, connect.DefaultWait); err != nil {
						return nil, err
					}
				}
				return opened, nil
			}
			// The log's resources are released when the command has ended.
			release := make(chan struct{})
			released := make(chan error, 1)
			lent := false
			defer func() {
				close(release)
				if lent {
					err = errors.Join(err, <-released)
				}
				if opened != nil {
					err = errors.Join(err, opened.Close())
				}
			}()
			code, err := streams.CLI(cmd.Context(), args, streams.CLIOptions{
				Version: version,
				Log: func(ctx context.Context) (*pipeline.Log, error) {
					b, err := local(ctx)
					if err != nil {
						return nil, err
					}
					if b.Local != nil {
						return b.Local.Log(), nil
					}
					got := make(chan *pipeline.Log, 1)
					lent = true
					go func() {
						released <- a.WithLog(ctx, true, func(l *pipeline.Log) error {
							got <- l
							<-release
							return nil
						})
					}()
					select {
					case l := <-got:
						return l, nil
					case err := <-released:
						lent = false
						return nil, err
					}
				},
				Target: func(ctx context.Context) (pipeline.Target, error) {
					b, err := local(ctx)
					if err != nil {
						return nil, err
					}
					if b.Local == nil {
						return nil, errors.New("recount_project: a server has the projections open; stop it, or pass it this config with recount up --pipeline")
					}
					return b.Local.Projections(), nil
				},
				Processors:    adapter.Register,
				CheckpointDir: filepath.Join(cfg.DataDir, "checkpoints"),
				Logger:        slog.New(slog.NewTextHandler(a.Err, nil)),
			})
			if err == nil && code != 0 {
				return exitError(code)
			}
			return err
		},
	}
}
