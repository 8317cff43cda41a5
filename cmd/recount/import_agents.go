package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/internal/agentlog"
	"github.com/recountdb/recount/internal/history"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/api"
)

// agentImport are the flags of `import agents`.
type agentImport struct {
	agentlog.Options
	visibility string
	dryRun     bool
}

func (a *app) importAgentsCmd() *cobra.Command {
	var f agentImport
	c := &cobra.Command{
		Use:   "agents FILE...",
		Short: "Import what agents said and did: trajectories, transcripts, sessions",
		Long: `Import what agents said and did. The format is told by what a file holds; --format
says it where that does not tell:

  traj         trajectories of SWE-agent (.traj)
  openhands    OpenHands: output.jsonl, or a trajectory saved from its page
  claude-code  sessions of Claude Code (~/.claude/projects)
  anthropic    transcripts as Anthropic's Messages API has them
  openai       transcripts as OpenAI's chat completions or responses have them
  jsonl        events, one a line, as docs/agents.md describes them

A FILE may be a directory, of which the files ending in .traj, .json and .jsonl are
read, or - for the standard input; gzip and zstd are told by their first bytes. The
session is the run's own id where the file has one, else the file's name. Importing
again is safe: what is there already is not appended again. docs/agents.md says what
becomes what.`,
		Example: `  recount import agents ~/.claude/projects --commands
  recount import agents run/*.traj --workspace /src/shop
  recount import agents transcript.json --agent helper --session 2026-11-20
  recount import agents output.jsonl --dry-run`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.Format != "auto" && !slices.Contains(agentlog.Names(), f.Format) {
				return usagef("--format %q: want auto, %s", f.Format, strings.Join(agentlog.Names(), ", "))
			}
			if f.visibility != "" {
				v, ok := recountv1.Visibility_value["VISIBILITY_"+strings.ToUpper(f.visibility)]
				if !ok || v == 0 {
					return usagef("--visibility %q: want private, session, workspace or tenant", f.visibility)
				}
				f.Visibility = recountv1.Visibility(v)
			}
			for flag, x := range map[string]struct {
				value string
				most  int
			}{"--tenant": {f.Tenant, 256}, "--agent": {f.Agent, 256}, "--session": {f.Session, 256}, "--workspace": {f.Workspace, 4096}} {
				if len(x.value) > x.most {
					return usagef("%s: %d bytes, at most %d", flag, len(x.value), x.most)
				}
			}
			files, err := agentFiles(args)
			if err != nil {
				return err
			}
			run := func(im *importer) error { return im.agents(cmd.Context(), files, f.Options) }
			if f.dryRun {
				done, err := dryRun(a.connector, run)
				return errors.Join(err, a.printImports(done))
			}
			return a.imports(cmd.Context(), importFlags{}, run)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.Format, "format", "auto", "the format: auto, "+strings.Join(agentlog.Names(), ", "))
	flags.StringVar(&f.Workspace, "workspace", "", "the workspace (default what the file says: a repository, a directory)")
	flags.StringVar(&f.Agent, "agent", "", "the agent's name (default what the file says)")
	flags.StringVar(&f.Tenant, "tenant", "", "whose data it is (default the default tenant)")
	flags.StringVar(&f.Session, "session", "", "the session (default the run's own id, or the file's name)")
	flags.StringVar(&f.visibility, "visibility", "", "who may see it: private, session, workspace or tenant (default workspace)")
	flags.BoolVar(&f.Commands, "commands", false, "append each shell command as a command too, so that find and why know it")
	flags.BoolVar(&f.dryRun, "dry-run", false, "read and count, append nothing")
	return c
}

// agentFiles returns the files that the arguments name; the files of a directory are sorted.
func agentFiles(args []string) ([]string, error) {
	var files []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		if arg == "-" || err == nil && !info.IsDir() {
			files = append(files, arg)
			continue
		}
		if err != nil {
			return nil, err
		}
		before := len(files)
		err = filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && slices.Contains([]string{".traj", ".json", ".jsonl"}, filepath.Ext(path)) {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(files) == before {
			return nil, fmt.Errorf("%s: no file in it ends in .traj, .json or .jsonl", arg)
		}
	}
	return files, nil
}

// agents imports what files say that agents said and did.
func (im *importer) agents(ctx context.Context, files []string, o agentlog.Options) error {
	im.unit = "session"
	for _, file := range files {
		if err := im.agentFile(ctx, file, o, len(files) > 1); err != nil {
			return err
		}
	}
	return nil
}

// agentFile imports one file. If it is one of many, an error in it does not stop the import of the
// others.
func (im *importer) agentFile(ctx context.Context, path string, o agentlog.Options, many bool) error {
	leftOut := map[string]int{}
	format := ""
	o.LeftOut = func(what string) { leftOut[what]++ }
	o.Found = func(f string) { format = f }
	o.Began = func(string) { im.held++ }
	o.WorkspaceOf = im.options.Workspace
	o.Redact = func(m proto.Message) { im.redacted += int64(len(im.redactor.Event(m))) }
	o.Time = im.started
	o.Name, _, _ = strings.Cut(filepath.Base(path), ".")
	if path == "-" {
		o.Name = "stdin"
	}
	if info, err := os.Stat(path); path != "-" && err == nil {
		o.Time = info.ModTime()
	}
	before := len(im.results)
	err := im.open(ctx, path, func(r io.Reader) iter.Seq2[schemas.Event, error] { return agentEvents(ctx, r, o, many) })
	if len(im.results) > before {
		im.results[before].Format, im.results[before].LeftOut = format, leftOut
	}
	return err
}

// agentEvents yields the events of a file until ctx ends. If the file is one of many, an error that
// ends reading counts as something skipped.
func agentEvents(ctx context.Context, r io.Reader, o agentlog.Options, many bool) iter.Seq2[schemas.Event, error] {
	return func(yield func(schemas.Event, error) bool) {
		for e, err := range agentlog.Read(r, o) {
			var skip *agentlog.SkipError
			var end *agentlog.FileError
			switch {
			case errors.As(err, &skip):
				err = &history.SkipError{Line: skip.Line, Reason: skip.Reason}
			case errors.As(err, &end) && many:
				err = &history.SkipError{Line: end.Line, Reason: end.Reason}
			}
			if ctx.Err() != nil {
				yield(schemas.Event{}, ctx.Err())
				return
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// dryRun runs an import that appends nothing.
func dryRun(con *connector, fn func(im *importer) error) (*importReport, error) {
	cfg, err := con.nodeConfig()
	if err != nil {
		return nil, err
	}
	r, err := redactor(cfg)
	if err != nil {
		return nil, err
	}
	im := &importer{term: con.Terminal, started: time.Now(), redactor: r, backend: nowhere{}, dry: true}
	im.options.Workspace = recording.Workspaces()
	err = fn(im)
	return im.report(), err
}

// nowhere is a backend that discards events. An import without questions needs no other method.
type nowhere struct{ api.Backend }

func (nowhere) Append(_ context.Context, events []schemas.Event) ([]api.Appended, error) {
	return make([]api.Appended, len(events)), nil
}

// leftOut describes what was left out, the most frequent first.
func leftOut(counts map[string]int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(x, y string) int {
		if n := counts[y] - counts[x]; n != 0 {
			return n
		}
		return strings.Compare(x, y)
	})
	for i, name := range names {
		names[i] = render.Count(counts[name], name)
	}
	return strings.Join(names, ", ")
}
