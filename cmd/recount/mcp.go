package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/recountdb/recount/internal/commits"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/git"
	"github.com/recountdb/recount/internal/importing"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/mcp"
	"github.com/recountdb/recount/server/node"
	"github.com/recountdb/recount/server/runs"
)

func (a *app) mcpCmd() *cobra.Command {
	var dir string
	var asData, executes bool
	c := &cobra.Command{
		Use:   "mcp [flags]", // its own verb besides those below it
		Short: "Answer a coding agent by the Model Context Protocol, on standard input and output",
		Long: `Serve Recount to a coding agent as an MCP server on standard input and output. Agents
start it themselves, with the entry that recount mcp install writes into their settings.

It asks the server that runs on the data directory, or else opens the directory for
each call and closes it a second after the last, so that other verbs can use it.
Questions about code are about the repository of the agent's directory: its roots, else
--dir, else the working directory. It may import repositories below these directories,
and no others.

With --replay-execute the agent may run plans of recorded commands, as you, in a sandbox,
and apply what they changed (docs/replay.md); it can't import repositories then.

A running server (recount up) also serves MCP over HTTP, at /mcp with the same tokens as
the API. docs/mcp.md describes the tools.`,
		Example: `  recount mcp install claude-code         write the entry into the agent's settings
  recount mcp                             what the agent runs
  recount mcp --dir ~/src/shop --data     answers with JSON in place of text
  recount mcp --replay-execute            let the agent replay commands, in a sandbox`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.serveMCP(cmd.Context(), dir, asData, executes)
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "the directory of the agent's repository, if it names none (default the working directory)")
	c.Flags().BoolVar(&asData, "data", false, "answer with JSON in place of compact text, for programs")
	c.Flags().BoolVar(&executes, "replay-execute", false, "let the agent run plans in a sandbox, with the tool replay in place of import")
	c.AddCommand(a.mcpInstallCmd(false), a.mcpInstallCmd(true))
	return c
}

// serveMCP answers the client on standard input and output until it disconnects.
func (a *app) serveMCP(ctx context.Context, dir string, asData, executes bool) (err error) {
	if dir == "" {
		if dir, err = os.Getwd(); err != nil {
			return err
		}
	}
	// Standard output belongs to the protocol.
	quiet := *a.Connector
	quiet.Terminal = &render.Terminal{In: a.In, Out: io.Discard, Err: a.Err, HomeDir: a.HomeDir, JSON: true, Silence: time.Hour}
	cfg, err := quiet.NodeConfig()
	if err != nil {
		return err
	}
	lender := connect.NewLender(&quiet, cfg)
	defer func() {
		if closed := lender.Close(); err == nil {
			err = closed
		}
	}()
	o := mcp.Options{
		Version: a.Version, Dir: dir, AsData: asData,
		Open: func(ctx context.Context, writes bool) (api.Backend, func(), error) {
			b, release, err := lender.Borrow(ctx, writes)
			if err != nil {
				return nil, nil, err
			}
			return b, release, nil
		},
		Locate: func(ctx context.Context, dir string) (mcp.Place, error) {
			p := mcp.Place{Workspace: recording.Workspace(dir), Memory: recording.MemoryWorkspace(dir)}
			var err error
			p.Repo, err = repositoryOf(ctx, dir)
			return p, err
		},
		Behind: func(ctx context.Context, dir, commit string) string {
			behind := behindClone(ctx, dir, true, commit)
			if behind != "" {
				behind += ": import it, or recount import git ."
			}
			return behind
		},
		Import: func(ctx context.Context, dir string, history int, workingTree bool, progress func(api.Progress)) (report any, err error) {
			err = lender.Alone(ctx, func() error {
				con := quiet
				con.Terminal = &render.Terminal{In: a.In, Out: io.Discard, Err: a.Err, HomeDir: a.HomeDir, JSON: true, Silence: time.Hour, Observe: progress}
				all, err := importing.Repositories(ctx, &con, importing.GitOptions{History: history, WorkingTree: workingTree}, []string{dir}, func(commits.Report) {})
				if err == nil {
					report = all[0]
				}
				return err
			})
			if err != nil {
				return nil, err
			}
			// The next question shall see what was imported.
			b, release, err := lender.Borrow(ctx, true)
			if err != nil {
				return nil, err
			}
			defer release()
			if err := connect.Settle(ctx, b); err != nil && !errors.Is(err, connect.ErrServesNot) {
				return nil, err
			}
			return report, nil
		},
	}
	if executes {
		// In place of import, so that the list of tools stays as small as it has to be.
		o.Import = nil
		if o.Runs, err = a.replays(cfg, lender); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	o.Stopping = ctx
	if out, ok := a.Stdout().(*os.File); ok {
		go func() {
			untilUnread(ctx, out)
			stop()
		}()
	}
	return mcp.New(o).Serve(ctx, io.NopCloser(a.In), nopWriteCloser{a.Out})
}

// untilUnread returns when nobody has the other end of a pipe open any more, or ctx is done: an agent that
// is gone waits for no answer.
func untilUnread(ctx context.Context, out *os.File) {
	fds := []unix.PollFd{{Fd: int32(out.Fd())}}
	for ctx.Err() == nil {
		if n, err := unix.Poll(fds, 1000); n > 0 || err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// repositoryOf returns the name of the repository that a directory is in, as an import gives it; ""
// if it is in none.
func repositoryOf(ctx context.Context, dir string) (string, error) {
	repo, err := git.Open(ctx, dir)
	if err != nil {
		return "", nil
	}
	head, err := repo.Head(ctx)
	if err != nil {
		return "", err
	}
	return repo.Name(ctx, head.Commit)
}

type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }

// replays returns what executes plans for the agent.
func (a *app) replays(cfg node.Config, lender *connect.Lender) (*runs.Runs, error) {
	redactor, err := connect.Redactor(cfg)
	if err != nil {
		return nil, err
	}
	data, err := filepath.Abs(cfg.DataDir)
	if err != nil {
		return nil, err
	}
	state, err := a.StateDir("recount-replays")
	if err != nil {
		return nil, err
	}
	return runs.New(runs.Options{Log: lender.Log(), Redact: redactor, State: state, Hide: []string{data}, Getenv: a.Getenv}), nil
}
