package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/commits"
	"github.com/recountdb/recount/internal/git"
	"github.com/recountdb/recount/languages"
	"github.com/recountdb/recount/processors"
	"github.com/recountdb/recount/processors/source"
	"github.com/recountdb/recount/projections"
	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/schemas"
)

const topic = "recount.commits"

// importGraph opens the graph of a repository. If dir does not have it, or has that of another
// version of the program or of other commits, it is imported first: as `recount import git` does,
// the newest of the wanted commits with the contents of its history as far as the oldest, and with
// the messages and changed paths of everything before.
func importGraph(ctx context.Context, m mirror, name string, wanted []string, dir string) (*projections.Set, error) {
	kind := snapshots.Kind(snapshots.Options{})
	done, stamp := filepath.Join(dir, "done"), stampOf(kind, wanted)
	kept, err := os.ReadFile(done)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if string(kept) != stamp {
		if err == nil {
			fmt.Fprintf(os.Stderr, "%s: the graph in %s is of another version or of other commits: importing it anew\n", name, dir)
		}
		if err := begin(dir, stamp); err != nil {
			return nil, err
		}
		if err := fill(ctx, m, name, wanted, dir, kind); err != nil {
			return nil, err
		}
		if err := os.WriteFile(done, []byte(stamp), 0o600); err != nil {
			return nil, err
		}
	}
	return projections.Open(filepath.Join(dir, "graph"), projections.Options{}, kind)
}

// begin makes a folder ready for an import: empty, unless an import of the same was interrupted there,
// which then goes on.
func begin(dir, stamp string) error {
	begun := filepath.Join(dir, "begun")
	_, err := os.Stat(filepath.Join(dir, "done"))
	if kept, reading := os.ReadFile(begun); reading == nil && string(kept) == stamp && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return err
	}
	return os.WriteFile(begun, []byte(stamp), 0o600)
}

// stampOf returns what the files begun and done have of a kept graph: the projection with its version, the
// extractors and resolvers with theirs, and the commits.
func stampOf(kind projections.Definition, wanted []string) string {
	wanted = slices.Sorted(slices.Values(wanted))
	return fmt.Sprintf("%s %d %s\n%s\n", kind.Name, kind.Version, kind.Params, strings.Join(slices.Compact(wanted), "\n"))
}

func fill(ctx context.Context, m mirror, name string, wanted []string, dir string, kind projections.Definition) (err error) {
	newest, history, err := m.span(ctx, wanted)
	if err != nil {
		return err
	}
	clone := filepath.Join(dir, "clone")
	if err := os.RemoveAll(clone); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"clone", "--quiet", "--shared", "--bare", m.dir, clone},
		{"-C", clone, "update-ref", "--no-deref", "HEAD", newest},
	} {
		if out, err := exec.CommandContext(ctx, "git", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	repo, err := git.Open(ctx, clone)
	if err != nil {
		return err
	}
	state, err := commits.OpenState(ctx, filepath.Join(dir, "state"), "bench", name)
	if err != nil {
		return err
	}
	defer state.Close()
	set, err := projections.Open(filepath.Join(dir, "graph"), projections.Options{}, kind)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, set.Close()) }()
	next := set.Next(schemas.TopicPartition{Topic: topic})
	_, err = commits.Import(ctx, repo, state, commits.Options{
		Repository: name, History: history,
		Language: func(path string) string { l, _ := languages.OfPath(path); return l.Name },
		Limits:   commits.Limits{Content: source.MaxContent, Event: 8 << 20},
		Now:      time.Now,
		Append: func(ctx context.Context, more []schemas.Event) (commits.Appended, error) {
			in := make([]schemas.LogRecord, len(more))
			for i, e := range more {
				in[i] = schemas.LogRecord{Position: schemas.Position{Topic: topic, Offset: next}, Key: []byte(name), Headers: e.Headers(), Value: e.Payload, Timestamp: e.Time}
				next++
			}
			records, err := processors.Records(ctx, in, processors.Chain{})
			if err != nil {
				return commits.Appended{}, err
			}
			return commits.Appended{}, set.Apply(ctx, schemas.Batch{Topic: topic, Next: next, Records: records})
		},
	})
	return err
}

// span returns the newest of the commits along first parents, and how far back the oldest is.
func (m mirror) span(ctx context.Context, wanted []string) (newest string, history int, err error) {
	for _, c := range wanted {
		out, err := m.out(ctx, append([]string{"rev-list", "--count", "--first-parent", c}, "--")...)
		if err != nil {
			return "", 0, err
		}
		var n int
		if _, err := fmt.Sscan(out, &n); err != nil {
			return "", 0, err
		}
		if n > history {
			newest, history = c, n
		}
	}
	out, err := m.out(ctx, "rev-list", "--first-parent", newest, "--")
	if err != nil {
		return "", 0, err
	}
	line := strings.Fields(out)
	for _, c := range wanted {
		if at := slices.Index(line, c); at < 0 {
			return "", 0, fmt.Errorf("%s is no first parent of %s: they need graphs of their own", c, newest)
		} else if c == newest {
			history = at
		}
	}
	for _, c := range wanted {
		history = max(history, slices.Index(line, c))
	}
	return newest, history, nil
}
