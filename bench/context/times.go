package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	packing "github.com/recountdb/recount/query/context"
)

// timeFigures are times of calls on one repository.
type timeFigures struct {
	Symbols int           `json:"symbols"`
	Files   int           `json:"files"`
	First   time.Duration `json:"first_ns"`
	P50     time.Duration `json:"p50_ns"`
	P99     time.Duration `json:"p99_ns"`
	// FirstCPU and CPU are the times of all processors, that of the collector of garbage included: of
	// the first call, and the mean of the others.
	FirstCPU time.Duration `json:"first_cpu_ns"`
	CPU      time.Duration `json:"cpu_ns"`
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
	if o.dump != "" {
		file, err := os.Create(o.dump)
		if err != nil {
			return err
		}
		defer file.Close()
		r.dump = json.NewEncoder(file)
	}
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
	stop, err := profiled(o.profile, ".first")
	if err != nil {
		return err
	}
	before := processed()
	for i := range max(o.calls, 2) {
		req := packing.Request{Task: texts[i%len(texts)], Repository: repo, Revision: head}
		began := time.Now()
		resp, err := packing.Pack(ctx, r.sources, req)
		if err != nil {
			return err
		}
		took := time.Since(began)
		if err := r.write(resp); err != nil {
			return err
		}
		if i > 0 {
			times = append(times, took)
			continue
		}
		f.First, f.FirstCPU = took, processed()-before
		if err := stop(); err != nil {
			return err
		}
		if stop, err = profiled(o.profile, ".calls"); err != nil {
			return err
		}
		before = processed()
	}
	f.CPU = (processed() - before) / time.Duration(len(times))
	if err := stop(); err != nil {
		return err
	}
	slices.Sort(times)
	f.P50, f.P99 = times[len(times)/2], times[len(times)*99/100]
	if err := r.close(); err != nil {
		return err
	}
	if o.json {
		return json.NewEncoder(os.Stdout).Encode(f)
	}
	fmt.Printf("%d symbols in %d files: first call %v (%v of processors), then p50 %v, p99 %v of %d, in the mean %v of processors\n", f.Symbols, f.Files, f.First.Round(time.Millisecond), f.FirstCPU.Round(time.Millisecond), f.P50.Round(100*time.Microsecond), f.P99.Round(100*time.Microsecond), len(times), f.CPU.Round(100*time.Microsecond))
	return nil
}

// write adds an answer to the file of -dump, so that two versions can be compared.
func (r *recount) write(resp packing.Response) error {
	if r.dump == nil {
		return nil
	}
	resp.Timing = query.Timing{}
	return r.dump.Encode(resp)
}

// processed returns the time that the process has spent on processors.
func processed() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// profiled begins a profile in the file of -profile, if there is one, and returns what ends it.
func profiled(name, end string) (stop func() error, err error) {
	if name == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(name + end)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
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
