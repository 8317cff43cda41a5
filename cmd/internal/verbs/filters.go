package verbs

import (
	"cmp"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/timespec"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query/commands/ask"
)

// Filters are the flags that select commands.
type Filters struct {
	f            ask.Filters
	since, until string
	here         bool
}

// Add adds the flags to a verb.
func (w *Filters) Add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&w.f.Cwd, "cwd", "", "ran in this directory or below")
	f.BoolVar(&w.here, "here", false, "ran in the current directory or below")
	f.StringVar(&w.f.Session, "session", "", "in this session")
	f.StringVar(&w.f.Workspace, "workspace", "", "in this workspace; . is that of the current directory")
	f.StringVar(&w.f.Host, "host", "", "on this host")
	f.StringVar(&w.f.User, "user", "", "by this user")
	f.StringVar(&w.f.Author, "author", "", "by this author, a person or an agent")
	f.StringVar(&w.f.Shell, "shell", "", "in this shell")
	f.StringVar(&w.f.Exit, "exit", "", "the outcome: ok, fail, unknown or an exit code")
	f.StringVar(&w.f.Category, "category", "", "build, deploy, debug, configure, query, navigate or other")
	f.StringVar(&w.f.Program, "program", "", "runs this program")
	f.StringVar(&w.f.Resource, "resource", "", "reads or writes this resource: a name, the part of it after a slash, or KIND:NAME")
	f.StringVar(&w.f.Template, "template", "", "has this normalised template")
	f.StringVar(&w.since, "since", "", "started at this time or later: 2h, 3d, 2026-11-20, or RFC 3339")
	f.StringVar(&w.until, "until", "", "started before this time")
	for name, values := range map[string][]cobra.Completion{
		"exit":     {"ok", "fail", "unknown"},
		"category": {"build", "deploy", "debug", "configure", "query", "navigate", "other"},
	} {
		_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // fails only for a flag that does not exist
	}
}

// Filters returns the filters that the flags describe; relative times count back from now.
func (w *Filters) Filters(now time.Time) (ask.Filters, error) {
	r := w.f
	var err error
	if r.Since, err = timespec.Parse(now, w.since); err != nil {
		return r, usage.Errorf("--since %q: %w", w.since, err)
	}
	if r.Until, err = timespec.Parse(now, w.until); err != nil {
		return r, usage.Errorf("--until %q: %w", w.until, err)
	}
	if w.here {
		if r.Cwd != "" {
			return r, usage.Errorf("--here and --cwd: give one of them")
		}
		r.Cwd = "."
	}
	if r.Cwd != "" {
		if r.Cwd, err = filepath.Abs(r.Cwd); err != nil {
			return r, err
		}
	}
	if dir := r.Workspace; dir == "." || dir == ".." || strings.HasPrefix(dir, "./") || strings.HasPrefix(dir, "../") {
		if dir, err = filepath.Abs(dir); err != nil {
			return r, err
		}
		r.Workspace = cmp.Or(recording.Workspace(dir), dir)
	}
	return r, nil
}
