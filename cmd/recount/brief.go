package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/cmd/internal/verbs"
	"github.com/recountdb/recount/internal/agentsmd"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/settingsfile"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/recall"
)

// briefFlags are the flags of `recount brief`.
type briefFlags struct {
	verbs.MomentFlags
	workspace, agent string
	tokens           int
	agentsMD, print  bool
	file             string
}

func (a *app) briefCmd() *cobra.Command {
	var f briefFlags
	c := &cobra.Command{
		Use:   "brief",
		Short: "What to know before work in this workspace begins",
		Long: `Print what an agent is told at the start of a session if its hooks were installed with
--recall: open tasks and decisions of this workspace, what failed last and what mended
it, commits since the agent was last here, and commands that are flaky or slow. Each
record has its source, age and position; lines with > quote it.

--agents-md writes the brief into AGENTS.md in the root of the workspace, between two
markers, for agents without hooks. The rest of the file is kept, and the same records
give the same text. --print shows the file instead of writing it.
Exits with 1 if there is nothing to say.`,
		Example: `  recount brief
  recount brief --agent claude-code --json
  recount brief --agents-md            write it into AGENTS.md
  recount brief --agents-md --print    show what the file would be`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := f.request()
			if err != nil {
				return err
			}
			return a.WithBackend(cmd.Context(), func(b *connect.Backend) error {
				return a.brief(cmd.Context(), b, r, &f)
			})
		},
	}
	c.Flags().StringVar(&f.workspace, "workspace", "", "the workspace (default the repository that this directory is in, else this directory)")
	c.Flags().StringVar(&f.agent, "agent", "", "the agent: commits since it was last here (default any agent)")
	c.Flags().IntVar(&f.tokens, "tokens", recall.BriefTokens, fmt.Sprintf("maximum number of tokens, %d to %d", recall.MinTokens, recall.MaxTokens))
	c.Flags().BoolVar(&f.agentsMD, "agents-md", false, "write the brief into AGENTS.md, between markers")
	c.Flags().StringVar(&f.file, "file", "", "with --agents-md: the file (default AGENTS.md in the workspace)")
	c.Flags().BoolVar(&f.print, "print", false, "with --agents-md: print the file, and write nothing")
	f.MomentFlags.Add(c)
	return c
}

// request returns the request that the flags describe.
func (f *briefFlags) request() (recall.BriefRequest, error) {
	r := recall.BriefRequest{Workspace: f.workspace, Agent: f.agent, Tokens: f.tokens, Dates: f.agentsMD}
	if (f.print || f.file != "") && !f.agentsMD {
		return r, usage.Errorf("--print and --file: only with --agents-md")
	}
	if f.tokens <= 0 {
		return r, usage.Errorf("--tokens %d: want %d to %d", f.tokens, recall.MinTokens, recall.MaxTokens)
	}
	m, err := f.Moment(time.Now())
	if err != nil {
		return r, err
	}
	r.Moment = m
	if r.Workspace == "" {
		cwd, err := os.Getwd()
		if err != nil {
			return r, fmt.Errorf("this directory: %w; name the workspace by --workspace", err)
		}
		r.Workspace = cmp.Or(recording.MemoryWorkspace(cwd), cwd)
		f.file = cmp.Or(f.file, filepath.Join(cmp.Or(recording.Workspace(cwd), cwd), "AGENTS.md"))
	}
	f.file = cmp.Or(f.file, filepath.Join(r.Workspace, "AGENTS.md"))
	if !r.Dates && m.AsOf.IsZero() {
		r.Now = time.Now()
	}
	return r, nil
}

func (a *app) brief(ctx context.Context, b *connect.Backend, r recall.BriefRequest, f *briefFlags) error {
	resp, err := recall.BriefQuestion.Ask(ctx, b, r)
	a.ClearProgress()
	if err != nil {
		return a.unanswered(err)
	}
	switch {
	case f.agentsMD && resp.Status != query.StatusEmpty:
		return a.writeAgentsMD(f.file, resp.Text, f.print)
	case a.JSON:
		if err := a.PrintJSON(resp); err != nil {
			return err
		}
	case resp.Status == query.StatusEmpty:
		a.Tell(fmt.Sprintf("%s: %s", r.Workspace, resp.Hint))
	default:
		a.Printf("%s\n", resp.Text)
		if f.Proof {
			a.PrintProof(resp.Proof, resp.Watermark.String())
		}
	}
	if resp.Status == query.StatusEmpty {
		return exitError(exitNothing)
	}
	return nil
}

// writeAgentsMD writes a brief into a file between markers, or prints the file.
func (a *app) writeAgentsMD(file, text string, print bool) error {
	before, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	after, err := agentsmd.Put(before, text)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	changed := string(before) != string(after)
	if print {
		a.Printf("%s", after)
		return nil
	}
	if changed {
		mode := os.FileMode(0o644)
		if st, err := os.Stat(file); err == nil {
			mode = st.Mode().Perm()
		}
		if real, err := filepath.EvalSymlinks(file); err == nil {
			file = real
		}
		if err := settingsfile.Write(file, after, mode, func() error { return nil }); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"file": file, "changed": changed})
	}
	if changed {
		a.Printf("%s: written\n", file)
	} else {
		a.Printf("%s: nothing to change\n", file)
	}
	return nil
}
