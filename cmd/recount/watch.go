package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/recountdb/recount/internal/commits"
	"github.com/recountdb/recount/internal/git"
	"github.com/recountdb/recount/internal/githook"
	"github.com/recountdb/recount/internal/gitwatch"
	"github.com/recountdb/recount/internal/render/nodeview"
)

func (a *app) watchCmd() *cobra.Command {
	c := &cobra.Command{
		Use:     "watch",
		Short:   "Keep following what happens",
		Long:    "Keep following what happens elsewhere, and append it as it does.",
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
		Long: `Import commits as they are made, until ctrl-c: what was committed while nobody
watched first, then what the file system tells of HEAD, branches and tags. Without
a server on the data directory it is opened for each import only.

--install-hooks lets git itself tell of commits, with nothing running between
them: it makes the hooks post-commit, post-merge, post-rewrite and post-checkout,
where there are none yet, and says what to add to those that are another's.`,
		Example: `  recount watch git ~/src/shop ~/src/infra
  recount watch git . --install-hooks`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.install && f.uninstall:
				return usagef("--install-hooks and --uninstall-hooks: want one of them")
			case f.poll < 0 || f.poll > 0 && f.poll < 100*time.Millisecond:
				return usagef("--poll %s: want at least 100ms", f.poll)
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
	c.Flags().DurationVar(&f.poll, "poll", 0, "look this often, too (default only where the file system gives no notice, every 5s)")
	c.Flags().BoolVar(&f.install, "install-hooks", false, "make git's hooks, and end")
	c.Flags().StringVar(&f.bin, "bin", "", "the program that hooks call (default this one)")
	c.Flags().BoolVar(&f.uninstall, "uninstall-hooks", false, "remove the hooks that --install-hooks made, and end")
	return c
}

func (a *app) watchGit(ctx context.Context, f watchFlags, paths []string) error {
	return followRepositories(ctx, a.connector, f.gitOptions, f.poll, paths, func(r commits.Report) error {
		if a.JSON {
			return a.PrintJSON(r)
		}
		nodeview.Commits(a.Terminal, r)
		return nil
	})
}

// followRepositories imports what is new in repositories as it is made, until ctx ends, and calls
// done after each import. poll is how often to look besides, 0 only where the file system gives no
// notice.
func followRepositories(ctx context.Context, con *connector, o gitOptions, poll time.Duration, paths []string, done func(commits.Report) error) error {
	var repos []*git.Repo
	for _, path := range paths {
		repo, err := git.Open(ctx, path)
		if err != nil {
			return err
		}
		repos = append(repos, repo)
	}
	// Run one import at a time, because only one process can use the data directory.
	var turn sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	for _, repo := range repos {
		g.Go(func() error {
			return gitwatch.Run(ctx, repo.GitDir, repo.CommonDir, gitwatch.Options{
				Poll:        poll,
				Fingerprint: func(ctx context.Context) (string, error) { return refsPrint(ctx, repo, o.all) },
				Sync: func(ctx context.Context) error {
					turn.Lock()
					defer turn.Unlock()
					return followed(ctx, con, o, repo, done)
				},
				Trouble: func(err error) {
					turn.Lock()
					defer turn.Unlock()
					fmt.Fprintf(con.Err, "recount: %s: %v\n", con.Home(repo.Root()), err)
				},
			})
		})
	}
	return g.Wait()
}

// followed imports what is new in a repository that is followed.
func followed(ctx context.Context, con *connector, o gitOptions, repo *git.Repo, done func(commits.Report) error) (err error) {
	cfg, err := con.nodeConfig()
	if err != nil {
		return err
	}
	b, err := con.open(ctx, cfg, defaultWait, appendOnly...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	r, err := gitImport{term: con.Terminal, cfg: cfg, b: b, repo: repo, options: o}.run(ctx)
	con.ClearProgress()
	switch {
	case errors.Is(err, commits.ErrNoCommits):
		con.Printf("%s: no commits yet\n", con.Home(repo.Root()))
		return nil
	case err != nil:
		return err
	}
	return done(r)
}

// refsPrint returns a fingerprint of HEAD and the refs.
func refsPrint(ctx context.Context, repo *git.Repo, all bool) (string, error) {
	prefixes := []string{"refs/heads", "refs/tags"}
	if all {
		prefixes = append(prefixes, "refs/remotes")
	}
	head, err := repo.Head(ctx)
	if err != nil {
		return "", err
	}
	refs, err := repo.Refs(ctx, prefixes...)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, r := range append(refs, head) {
		fmt.Fprintf(h, "%q %s %q\n", r.Name, r.Commit, r.Target)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// gitHooks installs or removes hooks.
func (a *app) gitHooks(ctx context.Context, f watchFlags, paths []string) error {
	if f.history >= 0 {
		return usagef("--history %d: not with hooks: import that much once, with recount import git", f.history)
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
			return fmt.Errorf("%s: core.hooksPath is %s, outside of the repository, where other repositories' hooks may be, too; add this line there to %v, or unset it: %s", path, dir, githook.Names, line)
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
		if bin, err = os.Executable(); err != nil {
			return "", fmt.Errorf("where this program is: %w; say it with --bin", err)
		}
	}
	cfg, err := a.nodeConfig()
	if err != nil {
		return "", err
	}
	args := []string{"--data-dir", cfg.DataDir}
	if a.config != "" {
		config, err := filepath.Abs(a.config)
		if err != nil {
			return "", err
		}
		args = append(args, "--config", config)
	}
	if url := a.serverURL(); url != "" {
		args = append(args, "--server", url)
	}
	args = append(args, "import", "git", "--hook")
	if f.repo != "" {
		args = append(args, "--repo", f.repo)
	}
	if f.all {
		args = append(args, "--all")
	}
	return githook.Line(bin, args...), nil
}

// waiting takes the single place of a hook that waits for an import to end. If taken is true,
// another hook holds it and the caller may exit, because that one will import the same commits.
func waiting(dataDir, path string) (leave func(), taken bool, err error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, false, err
	}
	sum := sha256.Sum256([]byte(abs))
	return commits.Wait(filepath.Join(dataDir, "imports", "git"), "hook-"+hex.EncodeToString(sum[:8]))
}
