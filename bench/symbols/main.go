// Command symbols scores `recount symbols` on questions in words, each with the symbols
// that a person expects: precision and recall of the first ten, and the mean
// reciprocal rank of the first that is right.
//
//	go -C bench run ./symbols -questions DIR -repo DIR [-misses]
//
// DIR of -questions holds YAML files with `description` and `ground_truth`; -repo is a
// repository whose HEAD they are about. Scored strictly: a symbol is right where its
// name, or the end of it behind a dot, is an expected one; each expected name counts
// once, so that two symbols of one name are one; precision is over ten whatever comes
// back; a question without an answer scores 0.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

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

func main() {
	log.SetFlags(0)
	questions := flag.String("questions", "", "the folder of questions")
	repo := flag.String("repo", "", "the repository's folder")
	misses := flag.Bool("misses", false, "print what was found and what was expected")
	flag.Parse()
	if *questions == "" || *repo == "" {
		log.Fatal("bench/symbols: -questions DIR and -repo DIR are needed")
	}
	if err := run(context.Background(), *questions, *repo, *misses); err != nil {
		log.Fatal("bench/symbols: ", err)
	}
}

type question struct {
	Description string   `yaml:"description"`
	Expected    []string `yaml:"ground_truth"`
}

const shown = 10

func run(ctx context.Context, dir, repo string, misses bool) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("%s: no questions (%v)", dir, err)
	}
	scratch, err := os.MkdirTemp("", "recount-bench-symbols-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	set, err := load(ctx, repo, scratch)
	if err != nil {
		return err
	}
	defer set.Close()
	s := code.Sources{Set: set, Graphs: code.NewCache(0)}
	var precision, recall, reciprocal float64
	var took time.Duration
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var q question
		if err := yaml.Unmarshal(b, &q); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		began := time.Now()
		r, err := code.Symbols(ctx, s, code.SymbolsRequest{Text: q.Description, Limit: shown})
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		took += time.Since(began)
		p, rc, rr := score(r.Symbols, q.Expected)
		precision, recall, reciprocal = precision+p, recall+rc, reciprocal+rr
		if misses {
			fmt.Printf("%s %.2f %.2f %.2f\n  %s\n  want %s\n", filepath.Base(file), p, rc, rr, q.Description, strings.Join(q.Expected, ", "))
			for _, h := range r.Symbols {
				fmt.Printf("    %s %s %s\n", h.Name, h.Kind, h.Place())
			}
		}
	}
	n := float64(len(files))
	fmt.Printf("%d questions: P@%d %.3f, R@%d %.3f, MRR %.3f; %v a question\n", len(files), shown, precision/n, shown, recall/n, reciprocal/n, (took / time.Duration(len(files))).Round(10*time.Microsecond))
	return nil
}

// score compares what was found, the best first, with what was expected.
func score(found []code.SymbolHit, expected []string) (precision, recall, reciprocal float64) {
	met := map[string]bool{}
	for i, h := range found[:min(len(found), shown)] {
		for _, want := range expected {
			if met[want] || h.Name != want && !strings.HasSuffix(h.Name, "."+want) {
				continue
			}
			met[want] = true
			if reciprocal == 0 {
				reciprocal = 1 / float64(i+1)
			}
			break
		}
	}
	return float64(len(met)) / shown, float64(len(met)) / float64(max(1, len(expected))), reciprocal
}

// load makes the graph of a repository's HEAD, as `recount import git` does.
func load(ctx context.Context, dir, scratch string) (*projections.Set, error) {
	repo, err := git.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	const name = "bench"
	state, err := commits.OpenState(ctx, filepath.Join(scratch, "state"), "bench", name)
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
	records, err := processors.Records(ctx, in, processors.Chain{})
	if err != nil {
		return nil, err
	}
	set, err := projections.Open(filepath.Join(scratch, "graph"), projections.Options{}, snapshots.Kind(snapshots.Options{}))
	if err != nil {
		return nil, err
	}
	return set, set.Apply(ctx, schemas.Batch{Topic: "recount.commits", Next: int64(len(records)), Records: records})
}
