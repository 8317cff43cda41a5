package codeview

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/code"
)

// TestImpactNamesFewPackages checks that packages of which the limit leaves no symbol are named up to a
// number, and counted from there on.
func TestImpactNamesFewPackages(t *testing.T) {
	var out bytes.Buffer
	r := code.ImpactResponse{Revision: code.Revision{Repo: "acme/shop", Commit: "9fceb02d0ae598e95dc970b74767f19372d61af8"}}
	for i := range 13 {
		r.Groups = append(r.Groups, code.ImpactGroup{Repo: "acme/shop", Package: fmt.Sprintf("p%d", i), Count: 2, Least: 0.7})
	}
	Impact(&render.Terminal{Out: &out}, r)
	if got := out.String(); strings.Count(got, "at least 0.70") != maxBare || !strings.HasSuffix(got, "\n… and 3 packages with 6 symbols; --json has all\n") {
		t.Errorf("13 packages without symbols:\n%s", got)
	}
}

// TestImpact checks how answers about code are shown to people.
func TestImpact(t *testing.T) {
	var out bytes.Buffer
	term := &render.Terminal{Out: &out}
	produce := code.Symbol{Repo: "acme/shop", Name: "kgo.Client.Produce", Kind: "method", File: "kgo/client.go", Line: 12}
	run := code.Symbol{Repo: "acme/shop", Name: "main.run", Kind: "function", File: "main.go", Line: 3}
	Impact(term, code.ImpactResponse{
		Revision: code.Revision{Repo: "acme/shop", Commit: "9fceb02d0ae598e95dc970b74767f19372d61af8", Subject: "retry"},
		Changed:  []code.Symbol{produce}, ChangedCount: 3, Total: 8, TestCount: 1, DocumentCount: 1, Truncated: 7,
		Groups: []code.ImpactGroup{{Repo: "acme/site", Package: "acme/site/main", Count: 8, Least: 0.5, Symbols: []code.Affected{
			{Symbol: run, Distance: 2, Confidence: 0.5, Via: "kgo.Client.Close", Edge: "calls"},
		}}},
		Tests: []code.Affected{{Symbol: code.Symbol{Name: "kgo.TestProduce", Kind: "function", File: "kgo/client_test.go", Line: 9}, Distance: 1, Confidence: 0.98, Via: "kgo.Client.Produce", Edge: "calls"}},

		Documents: []code.Affected{{Symbol: code.Symbol{Name: "docs/guide.md", Kind: "file", File: "docs/guide.md", Line: 1}, Distance: 1, Confidence: 0.5, Via: "kgo.Client.Produce", Edge: "references"}},
	})
	want := `acme/shop at 9fceb02d0ae5  retry
kgo.Client.Produce  method kgo/client.go:12
… 2 more; --limit shows more
reaches 8 symbols in 1 package, and 1 test; 1 document names it

acme/site/main in acme/site  8 symbols, at least 0.50
  main.run  function main.go:3  2 away, calls kgo.Client.Close  0.50
  … 7 more

tests
  kgo.TestProduce  function kgo/client_test.go:9  1 away, calls kgo.Client.Produce

documents
  docs/guide.md  file docs/guide.md:1  1 away, references kgo.Client.Produce  0.50
… 7 more; --limit shows more
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("impact (-want +got):\n%s", diff)
	}
}
