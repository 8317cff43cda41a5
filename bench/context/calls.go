package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/recountdb/recount/internal/tokens"
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
