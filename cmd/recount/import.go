package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/agentlog"
	"github.com/recountdb/recount/internal/history"
	"github.com/recountdb/recount/internal/importing"
	"github.com/recountdb/recount/internal/render/nodeview"
	"github.com/recountdb/recount/internal/usage"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// importFlags are the flags that all importers share.
type importFlags struct{ importing.Origin }

func (f *importFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.User, "user", "", "the user whose history it is (default you)")
	c.Flags().StringVar(&f.Host, "host", "", "the host that it is from (default this one)")
}

func (a *app) importCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "import",
		Short: "Import existing data",
		Long: `Import existing data: shell histories, Atuin's database, commits of git repositories,
spans, access logs, sessions of agents, or events, one a line. Importing again is safe
at any time: what the log already has is not appended again. So an interrupted import
is resumed by starting it again, and a history that has grown adds only what is new.
Secrets are redacted during the import.`,
		Example: `  recount import history                     every shell history found
  recount import history ~/old/.zsh_history
  recount import atuin
  recount import git ~/src/shop
  recount import otlp traces.json            spans of services
  recount import access-log access.log --service shop
  recount import agents ~/.claude/projects   sessions, trajectories, transcripts
  recount import jsonl events.jsonl          or - for the standard input`,
	}
	var wait bool
	c.PersistentFlags().BoolVar(&wait, "wait", a.Interactive, "wait until the imported data is visible to queries; the default on a terminal")
	c.PersistentPostRunE = func(cmd *cobra.Command, _ []string) error {
		if !wait {
			return nil
		}
		return a.CaughtUp(cmd.Context())
	}
	c.AddCommand(a.importHistoryCmd(), a.importAtuinCmd(), a.importGitCmd(), a.importOTLPCmd(), a.importAccessLogCmd(), a.importAgentsCmd(), a.importJSONLCmd())
	return c
}

func (a *app) importHistoryCmd() *cobra.Command {
	var f importFlags
	var shell string
	c := &cobra.Command{
		Use:   "history [FILE...]",
		Short: "Import histories of bash, zsh or fish",
		Long: `Import histories of bash (with and without times), zsh (plain and extended) or
fish. Without a FILE: the histories in their default places, and $HISTFILE.

An entry without a time gets the time of the entry before it; if there is none, its
time is unknown, and it counts as the oldest. Commands that a hook or an earlier import
recorded are recognised. Files may be compressed with gzip, bzip2 or zstd.`,
		Example: `  recount import history
  recount import history --shell bash --host oldbox --user me backup/history.txt`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if shell != "" && !slices.ContainsFunc(history.Formats, func(x history.Format) bool { return x.Name == shell }) {
				return usage.Errorf("--shell %q: want bash, zsh or fish", shell)
			}
			if len(args) == 0 {
				if args = importing.Histories(a.Getenv); len(args) == 0 {
					return errors.New("no shell history found in the default places: name the file")
				}
			}
			return a.imports(cmd.Context(), f, func(im *importing.Importer) error {
				for _, file := range args {
					if err := im.History(cmd.Context(), file, shell); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	f.add(c)
	c.Flags().StringVar(&shell, "shell", "", "the format: bash, zsh or fish (default detected from name and content)")
	return c
}

func (a *app) importAtuinCmd() *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:     "atuin [history.db]",
		Short:   "Import Atuin's history",
		Long:    "Import Atuin's history from its database, which may be in use and is only read.\nDeleted entries are left out. Default: ~/.local/share/atuin/history.db.",
		Example: "  recount import atuin",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := importing.AtuinPath(a.Getenv)
			if len(args) > 0 {
				path = args[0]
			}
			db, err := history.OpenAtuin(cmd.Context(), path)
			if err != nil {
				return err
			}
			defer db.Close()
			return a.imports(cmd.Context(), f, func(im *importing.Importer) error { return im.Atuin(cmd.Context(), path, db) })
		},
	}
	f.add(c)
	return c
}

func (a *app) importJSONLCmd() *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:   "jsonl FILE",
		Short: "Import events, one JSON object a line",
		Long: `Import events, one JSON object a line: a command.executed payload, or a CloudEvent
in structured mode of any kind. FILE may be - for the standard input.`,
		Example: `  echo '{"command":"make test","cwd":"/src/app","exit_code":2}' | recount import jsonl -`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.imports(cmd.Context(), f, func(im *importing.Importer) error { return im.JSONL(cmd.Context(), args[0]) })
		},
	}
	f.add(c)
	return c
}

// imports runs an import and prints its results.
func (a *app) imports(ctx context.Context, f importFlags, fn func(im *importing.Importer) error) error {
	done, err := importing.Run(ctx, a.Connector, f.Origin, fn)
	return errors.Join(err, a.printImports(done))
}

// printImports prints what was imported, if an import began. It fails if a source had no usable
// event, because that is a wrong file, not a history with gaps.
func (a *app) printImports(r *importing.Report) error {
	a.ClearProgress()
	if r == nil {
		return nil
	}
	var err error
	if a.JSON {
		err = a.PrintJSON(r)
	} else {
		nodeview.Imports(a.Terminal, r)
	}
	if slices.ContainsFunc(r.Imports, importing.Result.Unusable) {
		err = errors.Join(err, exitError(exitFailed))
	}
	return err
}

func (a *app) importAccessLogCmd() *cobra.Command {
	var service string
	c := &cobra.Command{
		Use:   "access-log FILE... --service NAME",
		Short: "Import access logs of an HTTP server",
		Long: `Import access logs of an HTTP server: Common or Combined Log Format, as Apache and
nginx write them, or JSON objects, one a line. gzip and zstd are detected by their
first bytes. Query strings of URLs are left out. FILE may be - for the standard input.

If a file has grown since or was renamed, the import continues where the last import of
it ended.`,
		Example: `  recount import access-log /var/log/nginx/access.log --service shop
  recount import access-log access.log.2.gz access.log.1 access.log --service shop`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if service == "" || len(service) > 256 {
				return usage.Errorf("--service %q: want the name of the service that wrote the log, as in its spans (service.name)", service)
			}
			return a.imports(cmd.Context(), importFlags{}, func(im *importing.Importer) error { return im.AccessLogs(cmd.Context(), args, service) })
		},
	}
	c.Flags().StringVar(&service, "service", "", "the name of the service that wrote the log (required)")
	return c
}

// agentImport are the flags of `import agents`.
type agentImport struct {
	agentlog.Options
	visibility string
	dryRun     bool
}

// agentFormats lists the formats for the help, with their files.
func agentFormats() string {
	var b strings.Builder
	for _, f := range agentlog.Formats {
		fmt.Fprintf(&b, "  %-15s %s\n", f.Name, f.Files)
	}
	return b.String()
}

func (a *app) importAgentsCmd() *cobra.Command {
	var f agentImport
	c := &cobra.Command{
		Use:   "agents FILE...",
		Short: "Import agents' trajectories, transcripts and sessions",
		Long: `Import what agents said and did. The format is detected from the content of a file;
--format sets it if that fails:

` + agentFormats() + `
A FILE may be a directory: its files ending in .traj, .json and .jsonl are read, and those
that are not an agent's are passed over. It may be - for the standard input. gzip and zstd
are detected by their first bytes. The session is the run's own id if the file has one,
otherwise the file's name. Importing again is safe: what the log already has is not
appended again. docs/agents.md lists which events each format becomes.`,
		Example: `  recount import agents ~/.claude/projects --commands
  recount import agents ~/.codex/sessions ~/.gemini/tmp --commands
  opencode export SESSION | recount import agents -
  claude -p "fix the test" --output-format stream-json --verbose | recount import agents -
  recount import agents run/*.traj --workspace /src/shop
  recount import agents transcript.json --agent helper --session 2026-11-20
  recount import agents output.jsonl --dry-run`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.Format != "auto" && !slices.Contains(agentlog.Names(), f.Format) {
				return usage.Errorf("--format %q: want auto, %s", f.Format, strings.Join(agentlog.Names(), ", "))
			}
			if f.visibility != "" {
				v, ok := recountv1.Visibility_value["VISIBILITY_"+strings.ToUpper(f.visibility)]
				if !ok || v == 0 {
					return usage.Errorf("--visibility %q: want private, session, workspace or tenant", f.visibility)
				}
				f.Visibility = recountv1.Visibility(v)
			}
			for flag, x := range map[string]struct {
				value string
				most  int
			}{"--tenant": {f.Tenant, 256}, "--agent": {f.Agent, 256}, "--session": {f.Session, 256}, "--workspace": {f.Workspace, 4096}} {
				if len(x.value) > x.most {
					return usage.Errorf("%s: %d bytes, the maximum is %d", flag, len(x.value), x.most)
				}
			}
			files, err := importing.AgentFiles(args)
			if err != nil {
				return err
			}
			run := func(im *importing.Importer) error { return im.Agents(cmd.Context(), files, f.Options) }
			if f.dryRun {
				done, err := importing.DryRun(a.Connector, run)
				return errors.Join(err, a.printImports(done))
			}
			return a.imports(cmd.Context(), importFlags{}, run)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.Format, "format", "auto", "the format: auto, "+strings.Join(agentlog.Names(), ", "))
	flags.StringVar(&f.Workspace, "workspace", "", "the workspace (default the repository or directory that the file names)")
	flags.StringVar(&f.Agent, "agent", "", "the agent's name (default the name in the file)")
	flags.StringVar(&f.Tenant, "tenant", "", "the tenant (default the default tenant)")
	flags.StringVar(&f.Session, "session", "", "the session (default the run's own id, or the file's name)")
	flags.StringVar(&f.visibility, "visibility", "", "who may see it: private, session, workspace or tenant (default workspace)")
	flags.BoolVar(&f.Commands, "commands", false, "also append each shell command as a command, so that find and why include it")
	flags.BoolVar(&f.dryRun, "dry-run", false, "read and count, append nothing")
	return c
}

func (a *app) importOTLPCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "otlp FILE...",
		Short: "Import spans from files of OTLP",
		Long: `Import spans from files of OTLP, as collectors and SDKs write them: in JSON, one
document or one a line; in protobuf, as one TracesData or as length-prefixed messages
(the collector's file exporter). gzip and zstd are detected by their first bytes. FILE
may be - for the standard input.`,
		Example: `  recount import otlp traces.json
  recount import otlp collector/*.pb.zst
  zcat traces.json.gz | recount import otlp -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.imports(cmd.Context(), importFlags{}, func(im *importing.Importer) error { return im.OTLP(cmd.Context(), args) })
		},
	}
}
