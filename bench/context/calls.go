package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/tokens"
	"github.com/recountdb/recount/query/code"
	packing "github.com/recountdb/recount/query/context"
)

// budgetFigures say whether answers stay within their budget.
type budgetFigures struct {
	Calls    int     `json:"calls"`
	Exceeded int     `json:"exceeded"`
	Miscount int     `json:"miscounted"`
	Enough   int     `json:"with_enough_to_say"`
	Used90   float64 `json:"used_at_least_90_percent"`
	Used     float64 `json:"used_mean"`
}

// runBudget makes random calls and counts the tokens of each answer's text with the real tokenizer.
// A call has enough to say if an answer with four times its budget is longer than the budget.
func runBudget(ctx context.Context, o options) error {
	all, err := tasks(o.questions)
	if err != nil {
		return err
	}
	repo := all[0].repo
	if o.repos != "" {
		repo = o.repos
	}
	r := newRecount(o, nil)
	head, err := r.openHead(ctx, repo)
	if err != nil {
		return err
	}
	files, err := mirrorOf(o.mirrors, repo).tree(ctx, head)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(uint64(o.seed), 0))
	var f budgetFigures
	for f.Calls < o.calls {
		if f.Calls%50 == 0 {
			fmt.Fprintf(os.Stderr, "\r%d of %d calls", f.Calls, o.calls)
		}
		req := packing.Request{Repository: repo, Revision: head, Budget: packing.MinBudget + int(random.ExpFloat64()*3000), Limit: 1 + random.IntN(60)}
		req.Budget = min(req.Budget, 40_000)
		for range 1 + random.IntN(3) {
			switch t := all[random.IntN(len(all))]; random.IntN(4) {
			case 0:
				req.Task += t.Description + "\n"
			case 1:
				req.Task += strings.Join(t.Expected, ", ") + " "
			case 2:
				req.Files = append(req.Files, files[random.IntN(len(files))].path)
			case 3:
				words := strings.Fields(t.Description)
				req.Task += words[random.IntN(len(words))] + " é世界 " + strings.Repeat("x", random.IntN(30))
			}
		}
		resp, err := packing.Pack(ctx, r.sources, req)
		if err != nil {
			return fmt.Errorf("%+v: %w", req, err)
		}
		n := tokens.Count(resp.Text())
		f.Calls++
		f.Exceeded += one(n > req.Budget)
		f.Miscount += one(n != resp.Tokens)
		if resp.Known && f.Calls%10 == 0 { // the longer answer costs as much again
			more := req
			more.Budget *= 4
			longer, err := packing.Pack(ctx, r.sources, more)
			if err != nil {
				return err
			}
			if longer.Tokens > req.Budget {
				f.Enough++
				f.Used += float64(n) / float64(req.Budget)
				f.Used90 += float64(one(float64(n) >= 0.9*float64(req.Budget)))
			}
		}
	}
	fmt.Fprintln(os.Stderr)
	f.Used /= float64(max(1, f.Enough))
	f.Used90 /= float64(max(1, f.Enough))
	if err := r.close(); err != nil {
		return err
	}
	if o.json {
		return json.NewEncoder(os.Stdout).Encode(f)
	}
	fmt.Printf("%d calls of %s, seed %d: %d above their budget, %d with a wrong count; of %d with enough to say %.3f used at least 90 %%, mean %.3f\n", f.Calls, repo, o.seed, f.Exceeded, f.Miscount, f.Enough, f.Used90, f.Used)
	return nil
}

// timeFigures are times of calls on one repository.
type timeFigures struct {
	Symbols int           `json:"symbols"`
	Files   int           `json:"files"`
	First   time.Duration `json:"first_ns"`
	P50     time.Duration `json:"p50_ns"`
	P99     time.Duration `json:"p99_ns"`
}

// titles is the number of newest commits whose titles are asked of a repository without tasks.
const titles = 200

// timed returns what runTime asks of a repository: its tasks, else the titles of its newest commits.
func timed(ctx context.Context, m mirror, repo string) (texts []string, err error) {
	all, err := tasks("")
	for _, t := range all {
		if t.repo == repo {
			texts = append(texts, t.Description)
		}
	}
	if err != nil || len(texts) > 0 {
		return texts, err
	}
	out, err := m.out(ctx, "log", "--first-parent", "-n", fmt.Sprint(titles), "--format=%x00%B", "HEAD")
	if err != nil {
		return nil, err
	}
	for _, message := range strings.Split(out, "\x00")[1:] {
		if title, _ := described(message); title != "" {
			texts = append(texts, title)
		}
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("%s has no commit with a message to ask about", m.dir)
	}
	return texts, nil
}

// runTime measures calls on a repository. With -copies above 1 its files are copied into so many
// folders of one commit, so that it has many symbols.
func runTime(ctx context.Context, o options) error {
	repo := "apache/commons-lang"
	if o.repos != "" {
		repo = o.repos
	}
	m := mirrorOf(o.mirrors, repo)
	texts, err := timed(ctx, m, repo)
	if err != nil {
		return err
	}
	r := newRecount(o, nil)
	var head string
	if o.copies > 1 {
		dir := filepath.Join(o.keep, "copies", fmt.Sprintf("%s-%d", strings.ReplaceAll(repo, "/", "+"), o.copies))
		if head, err = copies(ctx, m, filepath.Join(dir, "repo"), o.copies); err != nil {
			return err
		}
		r.contents = mirror{filepath.Join(dir, "repo")}
		err = r.openAs(ctx, repo, dir, []string{head}, filepath.Join(dir, "graph"))
	} else {
		head, err = r.openHead(ctx, repo)
	}
	if err != nil {
		return err
	}
	var f timeFigures
	if f.Symbols, f.Files, err = sizes(ctx, r.sources.Code, repo, head); err != nil {
		return err
	}
	var times []time.Duration
	for i := range max(o.calls, 1) {
		req := packing.Request{Task: texts[i%len(texts)], Repository: repo, Revision: head}
		began := time.Now()
		if _, err := packing.Pack(ctx, r.sources, req); err != nil {
			return err
		}
		if took := time.Since(began); i == 0 {
			f.First = took
		} else {
			times = append(times, took)
		}
	}
	slices.Sort(times)
	f.P50, f.P99 = times[len(times)/2], times[len(times)*99/100]
	if err := r.close(); err != nil {
		return err
	}
	if o.json {
		return json.NewEncoder(os.Stdout).Encode(f)
	}
	fmt.Printf("%d symbols in %d files: first call %v, then p50 %v, p99 %v of %d\n", f.Symbols, f.Files, f.First.Round(time.Millisecond), f.P50.Round(100*time.Microsecond), f.P99.Round(100*time.Microsecond), len(times))
	return nil
}

// copies makes a repository with one commit, whose tree has another's in several folders.
func copies(ctx context.Context, m mirror, dir string, n int) (head string, err error) {
	if _, err := os.Stat(dir); err != nil {
		if out, err := exec.CommandContext(ctx, "git", "clone", "--quiet", "--shared", "--bare", m.dir, dir).CombinedOutput(); err != nil {
			return "", fmt.Errorf("git clone: %w: %s", err, out)
		}
	}
	made := mirror{dir}
	tree, err := m.out(ctx, "rev-parse", "HEAD^{tree}")
	if err != nil {
		return "", err
	}
	var list strings.Builder
	for i := range n {
		fmt.Fprintf(&list, "040000 tree %s\tcopy%02d\n", strings.TrimSpace(tree), i)
	}
	cmd := exec.CommandContext(ctx, "git", "-C", dir, "mktree")
	cmd.Stdin = strings.NewReader(list.String())
	whole, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git mktree: %w", err)
	}
	commit := exec.CommandContext(ctx, "git", "-C", made.dir, "commit-tree", "-m", "copies", strings.TrimSpace(string(whole)))
	commit.Env = append(os.Environ(), "GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=bench@example.org", "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z",
		"GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=bench@example.org", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
	b, err := commit.Output()
	if err != nil {
		return "", fmt.Errorf("git commit-tree: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

func sizes(ctx context.Context, s code.Sources, repo, at string) (symbols, files int, err error) {
	st, err := code.OpenStudy(ctx, s, code.Scope{Repo: repo, At: at})
	if err != nil {
		return 0, 0, err
	}
	defer st.Close()
	for n := range int32(st.Len()) {
		if st.Chain(n) != "" {
			symbols++
		}
	}
	all, err := st.Files()
	return symbols, len(all), err
}
