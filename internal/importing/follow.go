package importing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/recountdb/recount/internal/commits"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/git"
	"github.com/recountdb/recount/internal/gitwatch"
)

// Follow imports what is new in repositories as it is made, until ctx ends, and calls
// done after each import. poll is how often to look besides, 0 only where the file system gives no
// notice.
func Follow(ctx context.Context, con *connect.Connector, o GitOptions, poll time.Duration, paths []string, done func(commits.Report) error) error {
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
				Fingerprint: func(ctx context.Context) (string, error) { return refsPrint(ctx, repo, o.All) },
				Sync: func(ctx context.Context) error {
					turn.Lock()
					defer turn.Unlock()
					return followed(ctx, con, o, repo, done)
				},
				Trouble: func(err error) {
					turn.Lock()
					defer turn.Unlock()
					con.Tell(fmt.Sprintf("%s: %v", con.Home(repo.Root()), err))
				},
			})
		})
	}
	return g.Wait()
}

// followed imports what is new in a repository that is followed.
func followed(ctx context.Context, con *connect.Connector, o GitOptions, repo *git.Repo, done func(commits.Report) error) (err error) {
	cfg, err := con.NodeConfig()
	if err != nil {
		return err
	}
	b, err := con.Open(ctx, cfg, connect.DefaultWait, connect.AppendOnly...)
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
