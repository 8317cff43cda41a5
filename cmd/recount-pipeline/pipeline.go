package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/cmd/internal/cli"
	"github.com/recountdb/recount/cmd/internal/program"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/pipeline/streams"
	"github.com/recountdb/recount/processors/adapter"
)

// pipelineCmd returns the verb pipeline, which is Benthos' command line.
func pipelineCmd(con *connect.Connector) *cobra.Command {
	c := program.PipelineUsage()
	c.RunE = func(cmd *cobra.Command, args []string) (err error) {
		cfg, err := con.NodeConfig()
		if err != nil {
			return err
		}
		var opened *connect.Backend
		local := func(ctx context.Context) (*connect.Backend, error) {
			if opened == nil {
				if opened, err = con.Open(ctx, cfg, connect.DefaultWait); err != nil {
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
			Version: con.Version,
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
					released <- con.WithLog(ctx, true, func(l *pipeline.Log) error {
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
			Logger:        slog.New(slog.NewTextHandler(con.Err, nil)),
		})
		if err == nil && code != 0 {
			return cli.ExitError(code)
		}
		return err
	}
	return c
}
