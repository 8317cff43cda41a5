package codeview

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
)

func TestStaleMarkdown(t *testing.T) {
	at := code.Revision{Repo: "acme/shop", Commit: "bd1ce9fc5e4a00"}
	base := code.Revision{Commit: "1c0694f8c0d300", Time: time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)}
	for want, r := range map[string]code.StaleResponse{
		"### Out of date in `acme/shop` at bd1ce9fc5e4a\n\nNothing was found.\n\n": {
			Basis: query.Basis{Hint: "no commit is that old"}, Revision: at,
		},
		"### Out of date in `acme/shop` at bd1ce9fc5e4a\n\nCompared with 1c0694f8c0d3 of 2026-01-02.\n" +
			"\n**gone** (1)\n\n| symbol | where | of | why | confidence |\n|---|---|---|---|---|\n" +
			"| `` a`\\|b `` | `a.go:4` | `shop.Close` | `x` | 0.80 |\n" +
			"\n**unused** (2)\n\n| symbol | where | of | why | confidence |\n|---|---|---|---|---|\n" +
			"| `f` | `b.go:7` |  | `no symbol uses it` | 0.90 |\n" +
			"\n… 1 more\n": {
			Revision: at, Base: &base, Counts: map[string]int{"gone": 1, "unused": 2}, Truncated: 1, Findings: []code.Stale{
				{Symbol: code.Symbol{Name: "a`|b"}, Finding: "gone", Of: "shop.Close", Site: "a.go:4", Why: "x", Confidence: 0.8},
				{Symbol: code.Symbol{Name: "f"}, Finding: "unused", Site: "b.go:7", Why: "no symbol uses it", Confidence: 0.9},
			},
		},
	} {
		if diff := cmp.Diff(want, StaleMarkdown(r)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}
