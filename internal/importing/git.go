package importing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/commits"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/git"
	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/languages"
	"github.com/recountdb/recount/processors/source"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/httpapi"
	"github.com/recountdb/recount/server/node"
)

// GitOptions select what is imported of a repository.
type GitOptions struct {
	// Repo is the repository's name, "" for that of the remote origin, else of go.mod, else of the
	// folder.
	Repo string
	// History is how many commits back from HEAD contents begin; negative means 0 the first time.
	History int
	// All imports every branch, local and remote, in place of HEAD and the branches known already.
	All bool
	// MaxPaths is the maximum number of paths that a commit may have, or change.
	MaxPaths int
	// Secrets stores files as they are, with the tokens and keys in them.
	Secrets bool
	// WorkingTree records the working tree above HEAD, too.
	WorkingTree bool
}

// Repositories imports repositories, one after the other, and calls done after each.
func Repositories(ctx context.Context, con *connect.Connector, o GitOptions, paths []string, done func(commits.Report)) ([]commits.Report, error) {
	reports := []commits.Report{}
	err := eachRepository(ctx, con, paths, func(g gitImport) error {
		g.options = o
		r, err := g.run(ctx)
		con.ClearProgress()
		if err == nil {
			reports = append(reports, r)
			done(r)
		}
		return err
	})
	return reports, err
}

// FromHook imports repositories as git's hooks ask for it: it prints nothing, and leaves it to
// another hook that waits already.
func FromHook(ctx context.Context, con *connect.Connector, o GitOptions, paths []string) error {
	cfg, err := con.NodeConfig()
	if err != nil {
		return err
	}
	// A rebase makes many commits, and each one calls the hook.
	leave, taken, err := waiting(cfg.DataDir, paths[0])
	if err != nil || taken {
		return err
	}
	defer leave()
	return eachRepository(ctx, con, paths, func(g gitImport) error {
		g.options, g.quiet, g.began = o, true, leave
		_, err := g.run(ctx)
		return err
	})
}

// eachRepository opens a backend, and calls fn with each repository.
func eachRepository(ctx context.Context, con *connect.Connector, paths []string, fn func(gitImport) error) (err error) {
	cfg, err := con.NodeConfig()
	if err != nil {
		return err
	}
	// The state of imports knows what was imported before, so the projections need not catch up.
	b, err := con.Open(ctx, cfg, connect.DefaultWait, connect.AppendOnly...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	for _, path := range paths {
		repo, err := git.Open(ctx, path)
		if err != nil {
			return err
		}
		if err := fn(gitImport{term: con.Terminal, cfg: cfg, b: b, repo: repo}); err != nil {
			return err
		}
	}
	return nil
}

// gitImport is one import of one repository through one backend.
type gitImport struct {
	term    *render.Terminal
	cfg     node.Config
	b       *connect.Backend
	repo    *git.Repo
	options GitOptions
	quiet   bool
	// began, if not nil, is called before the refs are read.
	began func()
}

// importWait is the maximum wait for another import of the same repository.
const importWait = time.Minute

// run imports the repository.
func (g gitImport) run(ctx context.Context) (r commits.Report, err error) {
	g.repo.MaxPaths = g.options.MaxPaths
	name, err := g.name(ctx)
	if err != nil {
		return r, err
	}
	redactor, err := connect.Redactor(g.cfg)
	if err != nil {
		return r, err
	}
	stop := g.term.UnlessSoon(func() string { return "waiting for the process that holds the log" })
	st, err := g.b.Status(ctx, api.StatusRequest{})
	stop()
	if err != nil {
		return r, err
	}
	waiting, cancel := context.WithTimeout(ctx, importWait)
	defer cancel()
	s, err := commits.OpenState(waiting, filepath.Join(g.cfg.DataDir, "imports", "git"), st.DataID, name)
	if err != nil {
		return r, errors.Join(ctx.Err(), err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if g.began != nil {
		g.began()
	}
	if last := s.LastPosition(); last != nil {
		mark, err := markOf(ctx, g.b, *last)
		if err != nil {
			return r, err
		}
		if lost(st.Log.Ends, *last) || mark != nil && !s.OfLog(*mark) {
			g.term.Tell(fmt.Sprintf("%s: the log no longer has the event at %s, where the last import ended: importing everything again", name, last))
			s.Forget()
		}
	}
	redactFile := redactor.Source
	if g.options.Secrets || g.cfg.KeepFileSecrets {
		redactFile = nil
	}
	r, err = commits.Import(ctx, g.repo, s, commits.Options{
		Repository: name, History: g.options.History, All: g.options.All, WorkingTree: g.options.WorkingTree,
		Language: languages.NameOf,
		Unread:   languages.Unread,
		Limits:   commits.Limits{Content: source.MaxContent, Event: httpapi.MaxEvent},
		Append:   g.append, Redact: redacting(redactor), RedactFile: redactFile, Now: time.Now, Progress: g.progress(name),
	})
	if errors.Is(err, context.Canceled) {
		err = fmt.Errorf("%s: stopped after %s events: start it again to continue: %w", name, render.Thousands(r.Appended+r.Present), err)
	}
	if err != nil {
		return r, err
	}
	return r, s.SetMark(func(at schemas.Position) (string, error) {
		mark, err := markOf(ctx, g.b, at)
		if err != nil || mark == nil {
			return "", err
		}
		return *mark, nil
	})
}

// markOf returns the log's mark of the event at a position; nil if the server does not support
// marks.
func markOf(ctx context.Context, b api.Backend, at schemas.Position) (*string, error) {
	st, err := b.Status(ctx, api.StatusRequest{Mark: &at})
	return st.Log.Mark, err
}

// name returns the name of the repository.
func (g gitImport) name(ctx context.Context) (string, error) {
	if name := g.options.Repo; name != "" {
		if len(name) > 512 || strings.ContainsAny(name, "\x00\n") {
			return "", usage.Errorf("--repo %q: want at most 512 bytes on one line", name)
		}
		return name, nil
	}
	head, err := g.repo.Head(ctx)
	if err != nil {
		return "", err
	}
	return g.repo.Name(ctx, head.Commit)
}

// lost reports whether a log ends before a position that was once in it. ends may lack topics that
// no projection consumes.
func lost(ends schemas.Watermark, last schemas.Position) bool {
	for tp, end := range ends {
		if tp.Topic == last.Topic && tp.Partition == last.Partition {
			return end <= last.Offset
		}
	}
	return false
}

func (g gitImport) append(ctx context.Context, events []schemas.Event) (commits.Appended, error) {
	var done commits.Appended
	all, err := g.b.Append(ctx, events)
	if err != nil {
		return done, err
	}
	for _, d := range all {
		if d.Duplicate {
			done.Present++
		}
	}
	done.Last = &all[len(all)-1].Position
	return done, nil
}

func redacting(r *redact.Redactor) func(*recountv1.CommitRecorded) int {
	return func(m *recountv1.CommitRecorded) int { return len(r.Event(m)) }
}

// progress returns a function that reports the progress of an import; nil if none is wanted.
func (g gitImport) progress(name string) func(done, of, files int64) {
	draw := g.term.Progress()
	if draw == nil || g.quiet {
		return nil
	}
	var drawn time.Time
	return func(done, of, files int64) {
		if now := time.Now(); now.Sub(drawn) > 100*time.Millisecond {
			drawn = now
			draw(api.Progress{Phase: fmt.Sprintf("import %s: %s files, commits", name, render.Thousands(files)), Done: min(done, of-1), Total: of})
		}
	}
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
