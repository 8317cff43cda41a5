package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// tasksFile has a line for each task: the repository, the description, and the expected
// symbols. repositories.tsv has the address and the commit of each repository.
//
//go:embed testdata/tasks.tsv
var tasksFile string

// unseenFile has tasks of the same form on repositories that nothing was chosen on.
//
//go:embed testdata/unseen.tsv
var unseenFile string

type task struct {
	repo        string
	Description string   `yaml:"description"`
	Expected    []string `yaml:"ground_truth"`
}

// heldOut reports whether a task belongs to the half that nobody looked at while the
// ranking was written.
func (t task) heldOut() bool {
	h := fnv.New32a()
	h.Write([]byte(t.repo + "\t" + t.Description))
	return h.Sum32()>>7&1 == 1
}

func tasksOf(file string) ([]task, error) {
	var all []task
	for s := bufio.NewScanner(strings.NewReader(file)); s.Scan(); {
		fields := strings.Split(s.Text(), "\t")
		if len(fields) != 3 {
			return nil, fmt.Errorf("testdata/tasks.tsv: want repository, description and symbols: %q", s.Text())
		}
		all = append(all, task{fields[0], fields[1], strings.Split(fields[2], ",")})
	}
	return all, nil
}

// questionsOf reads the YAML files of a folder as tasks of one repository.
func questionsOf(dir, repo string) ([]task, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("%s: no questions (%v)", dir, err)
	}
	var all []task
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		t := task{repo: repo}
		if err := yaml.Unmarshal(b, &t); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, t)
	}
	return all, nil
}

// figures are sums over tasks.
type figures struct {
	precision, recall, reciprocal float64
	tasks                         int
}

// add compares the names that were found, the best first, with what was expected. Each
// expected name counts once; a found name counts for the longest of those that it ends with.
func (f *figures) add(found, expected []string) (right int) {
	met := map[string]bool{}
	first := 0.0
	for i, name := range found[:min(len(found), shown)] {
		best := ""
		for _, want := range expected {
			if !met[want] && len(want) > len(best) && (name == want || strings.HasSuffix(name, "."+want)) {
				best = want
			}
		}
		if best == "" {
			continue
		}
		met[best] = true
		if first == 0 {
			first = 1 / float64(i+1)
		}
	}
	f.tasks++
	f.precision += float64(len(met)) / shown
	f.recall += float64(len(met)) / float64(max(1, len(expected)))
	f.reciprocal += first
	return len(met)
}

func (f figures) String() string {
	n := float64(max(1, f.tasks))
	return fmt.Sprintf("%4d tasks: P@%d %.3f, R@%d %.3f, MRR %.3f", f.tasks, shown, f.precision/n, shown, f.recall/n, f.reciprocal/n)
}
