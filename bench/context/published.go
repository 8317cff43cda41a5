package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// published is the half of samples that Agent Retrieval Bench publishes itself.
const published = "published"

// readPublished reads the code2test samples of a file of Agent Retrieval Bench (data/benchmark/*.jsonl)
// of whose repositories there are mirrors. In its other tasks, the question names the file that is to
// be found.
func readPublished(ctx context.Context, file, mirrors string) (all []sample, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one struct {
			Repo       string
			TaskType   string `json:"task_type"`
			BaseCommit string `json:"base_commit"`
			Query      struct {
				Title string `json:"pr_title"`
				Body  string `json:"pr_body"`
				Given string `json:"changed_file"`
			}
			Gold struct {
				Fix   string   `json:"fix_commit"`
				Tests []string `json:"related_tests"`
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if one.TaskType != code2test {
			continue
		}
		s := sample{half: published, repo: one.Repo, task: code2test, change: one.Gold.Fix, base: one.BaseCommit, given: one.Query.Given, gold: one.Gold.Tests, title: one.Query.Title, body: one.Query.Body}
		if m := mirrorOf(mirrors, s.repo); !m.has(ctx, s.base) {
			fmt.Fprintf(os.Stderr, "%s is left out: %s lacks %s\n", s.id(), m.dir, s.base)
			continue
		}
		all = append(all, s)
	}
	return all, lines.Err()
}

// openFor opens the graph of a sample's repository. Published samples have one for each base, since
// theirs are on several branches.
func (r *recount) openFor(ctx context.Context, s sample) error {
	if s.half != published {
		return r.open(ctx, s.repo)
	}
	name := strings.ReplaceAll(s.repo, "/", "+") + "@" + s.base[:12]
	return r.openAs(ctx, s.repo, name, []string{s.base}, filepath.Join(r.dir, name))
}
