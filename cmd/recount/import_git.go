package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/commits"
	"github.com/recountdb/recount/internal/git"
	"github.com/recountdb/recount/internal/githook"
	"github.com/recountdb/recount/internal/importing"
	"github.com/recountdb/recount/internal/installed"
	"github.com/recountdb/recount/internal/render/nodeview"
	"github.com/recountdb/recount/internal/usage"
)

// gitFlags are the flags that import git and watch git share.
type gitFlags struct{ importing.GitOptions }

func (f *gitFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.Repo, "repo", "", "the repository's name (default from the remote origin, else go.mod, else the folder)")
	c.Flags().IntVar(&f.History, "history", -1, "import file contents of this many commits before HEAD (default 0 the first time)")
	c.Flags().Lookup("history").DefValue = "0" // the help is not to name -1, which stands for the default
	c.Flags().IntVar(&f.MaxPaths, "max-paths", git.DefaultMaxPaths, "maximum number of paths that a commit may have or change; beyond it the repository is refused")
	c.Flags().BoolVar(&f.Secrets, "keep-file-secrets", false, "store files unchanged, with tokens and keys in them (default keep_file_secrets in the config file)")
	c.Flags().BoolVar(&f.All, "all", false, "every branch, local and remote (default HEAD and branches imported before)")
}

func (f *gitFlags) check(cmd *cobra.Command, paths []string) error {
	if f.History < 0 && cmd.Flags().Changed("history") {
		return usage.Errorf("--history %d: want 0 or more", f.History)
	}
	if f.MaxPaths < 1 {
		return usage.Errorf("--max-paths %d: want 1 or more", f.MaxPaths)
	}
	if f.Repo != "" && len(paths) > 1 {
		return usage.Errorf("--repo %q: want one PATH with it, not %d", f.Repo, len(paths))
	}
	return nil
}

func (a *app) importGitCmd() *cobra.Command {
	var f gitFlags
	var hook bool
	c := &cobra.Command{
		Use:   "git PATH...",
		Short: "Import the commits of a git repository",
		Long: `Import the commits of a git repository: for the whole history author, time, message and
changed files; from a base commit on also the contents of files, each content once. The
base is HEAD the first time, or --history commits before it. A later import adds the
commits since then, and --history moves the base further back.

Files that are left out (binary, vendored, minified, very large, links, submodules) are
recorded with the reason. Importing again is safe at any time. Secrets in commit
messages are redacted, and so are tokens and private keys of recognisable formats in
files; --keep-file-secrets leaves files unchanged.`,
		Example: `  recount import git .
  recount import git ~/src/shop --history 500 --all
  recount import git . --working-tree        with uncommitted changes`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd, args); err != nil {
				return err
			}
			err := a.importGit(cmd.Context(), f, args, hook)
			if hook && err != nil {
				a.HookLog(err) // the hook must not disturb the commit
				return nil
			}
			return err
		},
	}
	f.add(c)
	c.Flags().BoolVar(&f.WorkingTree, "working-tree", false, "also record the uncommitted changes, as a temporary snapshot on top of HEAD")
	c.Flags().BoolVar(&hook, "hook", false, "for git's hooks: print nothing, and write errors to the hooks' log")
	return c
}

func (a *app) importGit(ctx context.Context, f gitFlags, paths []string, hook bool) error {
	started := time.Now()
	if hook {
		return importing.FromHook(ctx, a.Connector, f.GitOptions, paths)
	}
	reports, err := importing.Repositories(ctx, a.Connector, f.GitOptions, paths, func(r commits.Report) {
		if !a.JSON {
			nodeview.Commits(a.Terminal, r)
		}
	})
	if err == nil && a.JSON {
		return a.PrintJSON(map[string]any{"imports": reports, "elapsed_ms": time.Since(started).Milliseconds()})
	}
	return err
}

func (a *app) watchCmd() *cobra.Command {
	c := &cobra.Command{
		Use:     "watch",
		Short:   "Keep importing new data as it appears",
		Long:    "Watch a source and append new data as it appears.",
		Example: "  recount watch git ~/src/shop",
	}
	c.AddCommand(a.watchGitCmd())
	return c
}

// watchFlags are the flags of watch git, including those of the importer.
type watchFlags struct {
	gitFlags
	poll               time.Duration
	install, uninstall bool
	bin                string
}

func (a *app) watchGitCmd() *cobra.Command {
	var f watchFlags
	c := &cobra.Command{
		Use:   "git PATH...",
		Short: "Import commits as they are made",
		Long: `Import commits as they are made, until ctrl-c: first those made since the last import,
then new ones as the file system reports changes of HEAD, branches and tags. Without a
server, the data directory is opened only during each import.

--install-hooks uses git's own hooks instead, so that no process needs to run: it
creates the hooks post-commit, post-merge, post-rewrite and post-checkout if they do
not exist, and prints what to add to existing ones.`,
		Example: `  recount watch git ~/src/shop ~/src/infra
  recount watch git . --install-hooks`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.install && f.uninstall:
				return usage.Errorf("--install-hooks and --uninstall-hooks: give one of them")
			case f.poll < 0 || f.poll > 0 && f.poll < 100*time.Millisecond:
				return usage.Errorf("--poll %s: want at least 100ms", f.poll)
			}
			if err := f.check(cmd, args); err != nil {
				return err
			}
			if f.install || f.uninstall {
				return a.gitHooks(cmd.Context(), f, args)
			}
			return a.watchGit(cmd.Context(), f, args)
		},
	}
	f.add(c)
	c.Flags().DurationVar(&f.poll, "poll", 0, "also check at this interval (default 5s, only if the file system reports no changes)")
	c.Flags().BoolVar(&f.install, "install-hooks", false, "create git hooks and exit")
	c.Flags().StringVar(&f.bin, "bin", "", "the program that the hooks call (default this one)")
	c.Flags().BoolVar(&f.uninstall, "uninstall-hooks", false, "remove the hooks that --install-hooks made and exit")
	return c
}

func (a *app) watchGit(ctx context.Context, f watchFlags, paths []string) error {
	return importing.Follow(ctx, a.Connector, f.GitOptions, f.poll, paths, func(r commits.Report) error {
		if a.JSON {
			return a.PrintJSON(r)
		}
		nodeview.Commits(a.Terminal, r)
		return nil
	})
}

// gitHooks installs or removes hooks.
func (a *app) gitHooks(ctx context.Context, f watchFlags, paths []string) error {
	if f.History >= 0 {
		return usage.Errorf("--history %d: not allowed with hooks: import the history once with recount import git", f.History)
	}
	var all []githook.Result
	foreign := false
	for _, path := range paths {
		repo, err := git.Open(ctx, path)
		if err != nil {
			return err
		}
		dir, shared, err := repo.HooksDir(ctx)
		if err != nil {
			return err
		}
		line, err := a.hookLine(f)
		if err != nil {
			return err
		}
		var results []githook.Result
		switch {
		case f.uninstall:
			results, err = githook.Uninstall(dir)
		case shared:
			return fmt.Errorf("%s: core.hooksPath is %s, outside the repository, and may serve other repositories too; add this line there to %v, or unset it: %s", path, dir, githook.Names, line)
		default:
			results, err = githook.Install(dir, line)
		}
		if err != nil {
			return err
		}
		for _, r := range results {
			foreign = foreign || r.Add != ""
			if !a.JSON {
				nodeview.GitHook(a.Terminal, r)
			}
		}
		all = append(all, results...)
	}
	if a.JSON {
		if err := a.PrintJSON(map[string]any{"hooks": all}); err != nil {
			return err
		}
	}
	if foreign {
		return exitError(exitFailed)
	}
	return nil
}

// hookLine returns the command of a hook: this program on the current data directory.
func (a *app) hookLine(f watchFlags) (string, error) {
	bin, err := f.bin, error(nil)
	if bin == "" {
		if bin, err = installed.Recount(); err != nil {
			return "", fmt.Errorf("%w; give it with --bin", err)
		}
	}
	cfg, err := a.NodeConfig()
	if err != nil {
		return "", err
	}
	args := []string{"--data-dir", cfg.DataDir}
	if a.Config != "" {
		config, err := filepath.Abs(a.Config)
		if err != nil {
			return "", err
		}
		args = append(args, "--config", config)
	}
	if url := a.ServerURL(); url != "" {
		args = append(args, "--server", url)
	}
	args = append(args, "import", "git", "--hook")
	if f.Repo != "" {
		args = append(args, "--repo", f.Repo)
	}
	if f.All {
		args = append(args, "--all")
	}
	return githook.Line(bin, args...), nil
}
