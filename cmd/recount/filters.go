package main

import (
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/query/commands"
)

// filterFlags are the flags that select commands.
type filterFlags struct {
	f            commands.Filters
	since, until string
	here         bool
}

func (w *filterFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&w.f.Cwd, "cwd", "", "ran in this directory or below")
	f.BoolVar(&w.here, "here", false, "ran in the current directory or below")
	f.StringVar(&w.f.Session, "session", "", "in this session")
	f.StringVar(&w.f.Workspace, "workspace", "", "in this workspace")
	f.StringVar(&w.f.Host, "host", "", "on this host")
	f.StringVar(&w.f.User, "user", "", "by this user")
	f.StringVar(&w.f.Author, "author", "", "typed by this human or agent")
	f.StringVar(&w.f.Shell, "shell", "", "in this shell")
	f.StringVar(&w.f.Exit, "exit", "", "how it ended: ok, fail, unknown or an exit code")
	f.StringVar(&w.f.Category, "category", "", "build, deploy, debug, configure, query, navigate or other")
	f.StringVar(&w.f.Program, "program", "", "runs this binary")
	f.StringVar(&w.f.Resource, "resource", "", "reads or writes this: a name, its end behind a slash, or KIND:NAME")
	f.StringVar(&w.f.Template, "template", "", "has this normalised template")
	f.StringVar(&w.since, "since", "", "started at this time or later: 2h, 3d, 2026-11-20, or RFC 3339")
	f.StringVar(&w.until, "until", "", "started before this time")
}

// filters returns the filters that the flags describe; relative times count back from now.
func (w *filterFlags) filters(now time.Time) (commands.Filters, error) {
	r := w.f
	var err error
	if r.Since, err = parseWhen(now, w.since); err != nil {
		return r, usagef("--since %q: %w", w.since, err)
	}
	if r.Until, err = parseWhen(now, w.until); err != nil {
		return r, usagef("--until %q: %w", w.until, err)
	}
	if w.here {
		if r.Cwd != "" {
			return r, usagef("--here and --cwd: give one of them")
		}
		r.Cwd = "."
	}
	if r.Cwd != "" {
		if r.Cwd, err = filepath.Abs(r.Cwd); err != nil {
			return r, err
		}
	}
	return r, nil
}
