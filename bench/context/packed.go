package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"text/tabwriter"

	packing "github.com/recountdb/recount/query/context"
)

// packedFigures say what answers of 8,000 tokens have of the files to be found.
type packedFigures struct {
	Half    string `json:"half"`
	Task    string `json:"task"`
	Samples int    `json:"samples"`
	// Listed is the share of the files to be found that the answer lists, Quoted of which it quotes a
	// declaration, and Whole of which it quotes one with its body.
	Listed float64 `json:"listed"`
	Quoted float64 `json:"quoted"`
	Whole  float64 `json:"whole"`
	// Tokens are those of the answer, and Given those that the declarations of the given file take.
	Tokens float64 `json:"tokens"`
	Given  float64 `json:"given"`
}

// runPacked packs an answer for each sample of files, and counts what it has of the files to be found.
func runPacked(ctx context.Context, o options) error {
	all, err := samples(ctx, o.mirrors, o.half)
	if err != nil {
		return err
	}
	r := newRecount(o, all)
	sums := map[[2]string]*packedFigures{}
	var rows []*packedFigures
	for i, s := range all {
		if !wanted(o.repos, s.repo) {
			continue
		}
		fmt.Fprintf(os.Stderr, "\r%d of %d, %s                    ", i+1, len(all), s.repo)
		if err := r.openFor(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s.repo, err)
		}
		resp, err := packing.Pack(ctx, r.sources, s.request())
		if err != nil {
			return fmt.Errorf("%s: %w", s.id(), err)
		}
		for _, task := range []string{s.task, "all"} {
			key := [2]string{s.half, task}
			if sums[key] == nil {
				sums[key] = &packedFigures{Half: s.half, Task: task}
				rows = append(rows, sums[key])
			}
			sums[key].add(s, resp)
		}
	}
	fmt.Fprintln(os.Stderr)
	if err := r.close(); err != nil {
		return err
	}
	for _, f := range rows {
		n := float64(f.Samples)
		f.Listed, f.Quoted, f.Whole, f.Tokens, f.Given = f.Listed/n, f.Quoted/n, f.Whole/n, f.Tokens/n, f.Given/n
	}
	if o.json {
		return json.NewEncoder(os.Stdout).Encode(rows)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "half\ttask\tsamples\tlisted\tquoted\twith a body\ttokens\tof the given file")
	for _, f := range rows {
		fmt.Fprintf(w, "%s\t%s\t%d\t%.3f\t%.3f\t%.3f\t%.0f\t%.0f\n", f.Half, f.Task, f.Samples, f.Listed, f.Quoted, f.Whole, f.Tokens, f.Given)
	}
	return w.Flush()
}

func (f *packedFigures) add(s sample, resp packing.Response) {
	listed, quoted, whole := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, file := range resp.Files {
		listed[file.Path] = true
	}
	for _, i := range resp.Items {
		quoted[i.Path] = true
		whole[i.Path] = whole[i.Path] || i.Text != ""
		if i.Path == s.given {
			f.Given += float64(i.Tokens)
		}
	}
	f.Samples++
	f.Tokens += float64(resp.Tokens)
	share := func(has map[string]bool) (sum float64) {
		for _, path := range s.gold {
			sum += float64(one(has[path])) / float64(len(s.gold))
		}
		return sum
	}
	f.Listed += share(listed)
	f.Quoted += share(quoted)
	f.Whole += share(whole)
}
