// Package graphs makes the code graphs that benchmarks ask.
package graphs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/recountdb/recount/internal/commits"
	"github.com/recountdb/recount/internal/git"
	"github.com/recountdb/recount/languages"
	"github.com/recountdb/recount/processors"
	"github.com/recountdb/recount/processors/source"
	"github.com/recountdb/recount/projections"
	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/schemas"
)

// Load makes the graph of a repository's HEAD, as `recount import git` does, unless the
// scratch folder has it.
func Load(ctx context.Context, dir, scratch string) (*projections.Set, error) {
	graph := filepath.Join(scratch, "graph")
	_, err := os.Stat(graph)
	have := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	set, err := projections.Open(graph, projections.Options{}, snapshots.Kind(snapshots.Options{}))
	if err != nil || have {
		return set, err
	}
	in, err := events(ctx, dir, filepath.Join(scratch, "state"))
	if err != nil {
		return nil, err
	}
	records, err := processors.Records(ctx, in, processors.Chain{})
	if err != nil {
		return nil, err
	}
	return set, set.Apply(ctx, schemas.Batch{Topic: "recount.commits", Next: int64(len(records)), Records: records})
}

// Contents returns a function that yields what files of the graph of Load contain, by the positions of
// their events, as a node reads them from its log. It makes the events anew, in a scratch folder.
func Contents(ctx context.Context, dir, scratch string) (func(context.Context, []schemas.Position, func(schemas.Position, []byte) error) error, error) {
	in, err := events(ctx, dir, scratch)
	if err != nil {
		return nil, err
	}
	return func(_ context.Context, at []schemas.Position, yield func(schemas.Position, []byte) error) error {
		for _, p := range at {
			if p.Offset < 0 || p.Offset >= int64(len(in)) {
				return fmt.Errorf("no event at %s", p)
			}
			content, err := code.ContentOf(in[p.Offset], code.MaxContent)
			if err == nil {
				err = yield(p, content)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// events returns the events that an import of HEAD appends, in order.
func events(ctx context.Context, dir, scratch string) ([]schemas.LogRecord, error) {
	repo, err := git.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	const name = "bench"
	state, err := commits.OpenState(ctx, scratch, "bench", name)
	if err != nil {
		return nil, err
	}
	defer state.Close()
	var in []schemas.LogRecord
	_, err = commits.Import(ctx, repo, state, commits.Options{
		Repository: name,
		Language:   func(path string) string { l, _ := languages.OfPath(path); return l.Name },
		Limits:     commits.Limits{Content: source.MaxContent, Event: 8 << 20},
		Now:        time.Now,
		Append: func(_ context.Context, more []schemas.Event) (commits.Appended, error) {
			for _, e := range more {
				in = append(in, schemas.LogRecord{
					Position: schemas.Position{Topic: "recount.commits", Offset: int64(len(in))},
					Key:      []byte(name), Headers: e.Headers(), Value: e.Payload, Timestamp: e.Time,
				})
			}
			return commits.Appended{}, nil
		},
	})
	if err != nil {
		return nil, err
	}
	return in, nil
}
