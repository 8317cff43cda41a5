package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/recountdb/recount/query/code"
	packing "github.com/recountdb/recount/query/context"
)

// tasksFile has tasks written from the documentation of their repositories, before any answer was
// seen: the repository, the description, and the symbols that a person expects.
//
//go:embed testdata/tasks.tsv
var tasksFile string

// task asks for symbols of a repository.
type task struct {
	repo        string
	Description string   `yaml:"description"`
	Expected    []string `yaml:"ground_truth"`
}

// half is that of a task; the halves are those of bench/symbols.
func (t task) half() string {
	h := fnv.New32a()
	h.Write([]byte(t.repo + "\t" + t.Description))
	if h.Sum32()>>7&1 == 1 {
		return "held"
	}
	return "dev"
}

// tasks reads tasks.tsv, and the YAML files of each repository in a folder, whose folders are named
// flask and caddy.
func tasks(questions string) (all []task, err error) {
	for lines := bufio.NewScanner(strings.NewReader(tasksFile)); lines.Scan(); {
		f := strings.Split(lines.Text(), "\t")
		if len(f) != 3 {
			return nil, fmt.Errorf("testdata/tasks.tsv: want repository, description and symbols: %q", lines.Text())
		}
		all = append(all, task{f[0], f[1], strings.Split(f[2], ",")})
	}
	if questions == "" {
		return all, nil
	}
	for _, repo := range []string{"pallets/flask", "caddyserver/caddy"} {
		files, err := filepath.Glob(filepath.Join(questions, filepath.Base(repo), "*.yaml"))
		if err != nil || len(files) == 0 {
			return nil, fmt.Errorf("%s has no questions about %s (%v)", questions, repo, err)
		}
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
	}
	return all, nil
}

const shown = 10

// symbolFigures are strict: each expected name counts once, a symbol is right where its name or the
// end of it behind a dot is an expected one, and precision is over ten whatever comes back.
type symbolFigures struct {
	System string  `json:"system"`
	Set    string  `json:"set"`
	Tasks  int     `json:"tasks"`
	P10    float64 `json:"p_10"`
	R10    float64 `json:"r_10"`
	MRR    float64 `json:"mrr"`
	// Most is the precision of an answer that has every expected name.
	Most float64 `json:"most_p_10"`
}

func (f *symbolFigures) add(found, expected []string) {
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
	f.Tasks++
	f.P10 += float64(len(met)) / shown
	f.R10 += float64(len(met)) / float64(max(1, len(expected)))
	f.MRR += first
	f.Most += float64(min(shown, len(expected))) / shown
}

func (r *recount) openHead(ctx context.Context, repo string) (head string, err error) {
	head = r.heads[repo]
	if head == "" {
		if head, err = mirrorOf(r.mirrors, repo).out(ctx, "rev-parse", "HEAD"); err != nil {
			return "", err
		}
		head = strings.TrimSpace(head)
		r.heads[repo] = head
	}
	if r.repo == repo+" head" {
		return head, nil
	}
	dir := filepath.Join(r.dir, strings.ReplaceAll(repo, "/", "+")+"-head")
	return head, r.openAs(ctx, repo, repo+" head", []string{head}, dir)
}

func runSymbols(ctx context.Context, o options) error {
	all, err := tasks(o.questions)
	if err != nil {
		return err
	}
	r := newRecount(o, nil)
	sums := map[string]*symbolFigures{}
	var order []string
	for i, t := range all {
		if o.half != "" && t.half() != o.half || !wanted(o.repos, t.repo) {
			continue
		}
		fmt.Fprintf(os.Stderr, "\r%d of %d, %s                    ", i+1, len(all), t.repo)
		head, err := r.openHead(ctx, t.repo)
		if err != nil {
			return fmt.Errorf("%s: %w", t.repo, err)
		}
		began := time.Now()
		resp, err := packing.Pack(ctx, r.sources, packing.Request{Task: t.Description, Repository: t.repo, Revision: head})
		if err != nil {
			return fmt.Errorf("%s: %w", t.Description, err)
		}
		r.times = append(r.times, time.Since(began))
		plain, err := code.Symbols(ctx, r.sources.Code, code.SymbolsRequest{Text: t.Description, Scope: code.Scope{Repo: t.repo, At: head}, Limit: shown})
		if err != nil {
			return err
		}
		found := map[string][]string{}
		for _, item := range resp.Items {
			if item.Symbol != nil {
				found["context"] = append(found["context"], item.Symbol.Name)
			}
		}
		for _, s := range plain.Symbols {
			found["symbols"] = append(found["symbols"], s.Name)
		}
		if o.misses {
			fmt.Printf("\n%s: %s\n  want    %s\n  context %s\n  symbols %s\n", t.repo, t.Description, strings.Join(t.Expected, " "), strings.Join(found["context"][:min(shown, len(found["context"]))], " "), strings.Join(found["symbols"], " "))
		}
		set := "new tasks"
		if strings.HasPrefix(t.repo, "pallets/flask") || strings.HasPrefix(t.repo, "caddyserver/") {
			set = t.repo
		}
		for _, system := range []string{"context", "symbols"} {
			for _, set := range []string{set, set + " " + t.half()} {
				key := set + "\t" + system
				if sums[key] == nil {
					sums[key] = &symbolFigures{System: system, Set: set}
					order = append(order, key)
				}
				sums[key].add(found[system], t.Expected)
			}
		}
	}
	fmt.Fprintln(os.Stderr)
	slices.Sort(order)
	var rows []symbolFigures
	for _, key := range order {
		f := *sums[key]
		n := float64(f.Tasks)
		f.P10, f.R10, f.MRR, f.Most = f.P10/n, f.R10/n, f.MRR/n, f.Most/n
		rows = append(rows, f)
	}
	if err := r.close(); err != nil {
		return err
	}
	if o.json {
		return json.NewEncoder(os.Stdout).Encode(rows)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "tasks of\tsystem\ttasks\tP@10\tR@10\tMRR\thighest P@10 that is possible")
	for _, f := range rows {
		fmt.Fprintf(w, "%s\t%s\t%d\t%.3f\t%.3f\t%.3f\t%.3f\n", f.Set, f.System, f.Tasks, f.P10, f.R10, f.MRR, f.Most)
	}
	return w.Flush()
}
