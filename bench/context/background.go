package main

import (
	"bufio"
	"context"
	_ "embed"
	"fmt"
	"os"
	"strings"

	packing "github.com/recountdb/recount/query/context"
)

// backgroundRepositories has the repositories and commits in which the background of `recount context` was
// counted. None of them is in the half held.
//
//go:embed testdata/background.tsv
var backgroundRepositories string

const (
	// backgroundMessages is the number of commits whose messages are counted in a repository.
	backgroundMessages = 1000
	// inRepositories is the number of repositories that a term must be in: what fewer have are names.
	inRepositories = 3
)

// shares sums the shares of files, or of messages, that have a term, over repositories.
type shares struct {
	sum   map[uint32]float64
	repos map[uint32]int
}

// add adds one repository, of whose texts each is given to it as terms.
func (s *shares) add(counts map[uint32]int, texts int) {
	for t, n := range counts {
		s.sum[t] += float64(n) / float64(texts)
		s.repos[t]++
	}
}

// mean returns the mean shares of the terms that enough repositories have.
func (s *shares) mean(repos int) map[uint32]float64 {
	out := map[uint32]float64{}
	for t, n := range s.repos {
		if n >= inRepositories {
			out[t] = s.sum[t] / float64(repos)
		}
	}
	return out
}

// runBackground counts the terms of files and of messages and writes the table to standard output.
func runBackground(ctx context.Context, o options) error {
	files, messages := &shares{map[uint32]float64{}, map[uint32]int{}}, &shares{map[uint32]float64{}, map[uint32]int{}}
	repos := 0
	background, err := backgrounds()
	if err != nil {
		return err
	}
	for _, r := range background {
		m := mirrorOf(o.mirrors, r.name)
		c := &corpus{m, map[string]*text{}, map[string][]string{}}
		all, err := c.at(ctx, r.head)
		if err != nil {
			return fmt.Errorf("%w (fetch github:%s first)", err, r.name)
		}
		counts := map[uint32]int{}
		for _, f := range all {
			countOnce(counts, f.path+"\n"+f.content)
		}
		files.add(counts, len(all))
		out, err := m.out(ctx, "log", "--first-parent", "-n", fmt.Sprint(backgroundMessages), "--format=%x00%B", r.head)
		if err != nil {
			return err
		}
		counts = map[uint32]int{}
		texts := strings.Split(out, "\x00")[1:]
		for _, message := range texts {
			title, body := described(message)
			countOnce(counts, title+"\n"+body)
		}
		messages.add(counts, len(texts))
		repos++
		fmt.Fprintf(os.Stderr, "%s: %d files, %d messages\n", r.name, len(all), len(texts))
	}
	_, err = os.Stdout.Write(packing.WriteBackground(files.mean(repos), messages.mean(repos)))
	return err
}

// backgrounds returns the repositories of background.tsv.
func backgrounds() (all []repository, err error) {
	for lines := bufio.NewScanner(strings.NewReader(backgroundRepositories)); lines.Scan(); {
		name, commit, ok := strings.Cut(lines.Text(), "\t")
		if !ok {
			return nil, fmt.Errorf("testdata/background.tsv: want repository and commit: %q", lines.Text())
		}
		all = append(all, repository{name: name, head: commit})
	}
	return all, nil
}

// countOnce adds one to each term that a text has.
func countOnce(counts map[uint32]int, text string) {
	seen := map[uint32]bool{}
	for _, t := range packing.Terms(text) {
		if !seen[t] {
			seen[t] = true
			counts[t]++
		}
	}
}
