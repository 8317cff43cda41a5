package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/query/code"
	packing "github.com/recountdb/recount/query/context"
)

// recount asks `query/context` about the graphs of one repository after the other.
type recount struct {
	dir, mirrors string
	all          []sample
	heads        map[string]string // the newest commits of repositories
	contents     mirror            // if set, where contents are instead of in mirrors

	repo    string
	set     *projections.Set
	blobs   *reader
	sources packing.Sources
	times   []time.Duration
	dump    *json.Encoder // of answers, nil: not wanted
}

func newRecount(o options, all []sample) *recount {
	return &recount{dir: o.keep + "/graphs", mirrors: o.mirrors, all: all, heads: map[string]string{}}
}

// openAs opens the graph in a folder, which is called key, and imports it first if necessary.
func (r *recount) openAs(ctx context.Context, repo, key string, wanted []string, dir string) error {
	if r.repo == key {
		return nil
	}
	if err := r.close(); err != nil {
		return err
	}
	m := mirrorOf(r.mirrors, repo)
	if r.contents.dir != "" {
		m = r.contents
	}
	set, err := importGraph(ctx, m, repo, wanted, dir)
	if err != nil {
		return err
	}
	blobs, err := m.reader(ctx)
	if err != nil {
		return errors.Join(err, set.Close())
	}
	r.repo, r.set, r.blobs = key, set, blobs
	r.sources = packing.Sources{
		Code: code.Sources{Set: set, Graphs: code.NewCache(0)}, Cache: packing.NewCache(),
		// A node reads contents from the log; here they are in the mirror.
		Content: func(_ context.Context, of packing.Content) ([]byte, error) { return blobs.read(of.Blob) },
	}
	return nil
}

func (r *recount) close() error {
	if r.set == nil {
		return nil
	}
	err := errors.Join(r.set.Close(), r.blobs.close())
	r.set, r.repo = nil, ""
	return err
}

// request is what an agent asks that has a sample's description and file.
func (s sample) request() packing.Request {
	return packing.Request{Task: s.title + "\n\n" + s.body, Files: []string{s.given}, Repository: s.repo, Revision: s.base, Budget: 8_000}
}

func (r *recount) rank(ctx context.Context, q question) (paths []string, known bool, err error) {
	if err := r.openFor(ctx, q.sample); err != nil {
		return nil, false, err
	}
	began := time.Now()
	resp, err := packing.Rank(ctx, r.sources, q.request())
	if err != nil {
		return nil, false, err
	}
	r.times = append(r.times, time.Since(began))
	if r.dump != nil {
		if err := r.dump.Encode(map[string]any{"id": q.id(), "files": resp.Files}); err != nil {
			return nil, false, err
		}
	}
	for _, f := range resp.Files {
		paths = append(paths, f.Path)
	}
	return paths, true, nil
}

// runGraphs imports the graphs of all samples.
func runGraphs(ctx context.Context, o options) error {
	all, err := samples(ctx, o.mirrors, o.half)
	if err != nil {
		return err
	}
	r := newRecount(o, all)
	for _, s := range all {
		if r.repo == s.repo || !wanted(o.repos, s.repo) {
			continue
		}
		began := time.Now()
		if err := r.open(ctx, s.repo); err != nil {
			return fmt.Errorf("%s: %w", s.repo, err)
		}
		fmt.Printf("%s: %v\n", s.repo, time.Since(began).Round(time.Second))
	}
	return r.close()
}
