package main

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/server/api"
)

// TestCodeDrawing checks how answers about code are shown to people.
func TestCodeDrawing(t *testing.T) {
	var out bytes.Buffer
	a := &app{terminal: &terminal{out: &out}}
	produce := code.Symbol{Repo: "acme/shop", Name: "kgo.Client.Produce", Kind: "method", File: "kgo/client.go", Line: 12}
	run := code.Symbol{Repo: "acme/shop", Name: "main.run", Kind: "function", File: "main.go", Line: 3}
	a.printImpact(code.ImpactResponse{
		Revision: code.Revision{Repo: "acme/shop", Commit: "9fceb02d0ae598e95dc970b74767f19372d61af8", Subject: "retry"},
		Changed:  []code.Symbol{produce}, ChangedCount: 3, Total: 8, TestCount: 1, Truncated: 7,
		Groups: []code.ImpactGroup{{Repo: "acme/site", Package: "acme/site/main", Count: 8, Least: 0.5, Symbols: []code.Affected{
			{Symbol: run, Distance: 2, Confidence: 0.5, Via: "kgo.Client.Close", Edge: "calls"},
		}}},
		Tests: []code.Affected{{Symbol: code.Symbol{Name: "kgo.TestProduce", Kind: "function", File: "kgo/client_test.go", Line: 9}, Distance: 1, Confidence: 0.98, Via: "kgo.Client.Produce", Edge: "calls"}},
	})
	want := `acme/shop at 9fceb02d0ae5  retry
kgo.Client.Produce  method kgo/client.go:12
… 2 more; --limit shows more
reaches 8 symbols in 1 package, and 1 test

acme/site/main in acme/site  8 symbols, 0.50 or more
  main.run  function main.go:3  2 away, calls kgo.Client.Close  0.50
  … 7 more

tests
  kgo.TestProduce  function kgo/client_test.go:9  1 away, calls kgo.Client.Produce
… 7 more; --limit shows more
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("impact (-want +got):\n%s", diff)
	}
}

func TestFsckDrawing(t *testing.T) {
	var out bytes.Buffer
	a := &app{terminal: &terminal{out: &out}}
	a.printFsck(api.FsckReport{
		Repositories: 2, Snapshots: 1, Chunks: 1200, Bytes: 90000, Edges: 40, Unused: 1, More: true,
		Faults: []api.FsckFault{
			{Repo: "acme/shop", Commit: "9fceb02d0ae598e95dc970b74767f19372d61af8", Map: "out", Chunk: "12", What: "chunk 12: damaged"},
			{Repo: "acme/site", What: "gone"},
		},
	})
	a.printFsck(api.FsckReport{OK: true, Repositories: 1, Snapshots: 1, Chunks: 1, Bytes: 90, Edges: 4})
	want := `WRONG acme/shop at 9fceb02d0ae5, map out: chunk 12: damaged
WRONG acme/site: gone
… there may be more: the check ended here
1 snapshot in 2 repositories; 1,200 chunks of 90,000 bytes; 40 edges
1 chunk in no snapshot
checked in 0s
recount rebuild --projection code makes the graph anew from the log
clean 1 snapshot in 1 repository; 1 chunk of 90 bytes; 4 edges
checked in 0s
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("fsck (-want +got):\n%s", diff)
	}
}
