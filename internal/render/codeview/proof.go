package codeview

import (
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/code"
)

// Proof prints what a proof proves. expected reports whether the snapshot was given.
func Proof(t *render.Terminal, v code.Verified, expected bool) {
	t.Printf("%s %s\n", t.Paint(render.Green, "proved:"), render.OneLine(v.Claim()))
	t.Printf("  repository %s\n  commit     %s\n  snapshot   %s\n", render.OneLine(v.Repository), render.OneLine(v.Commit), v.Snapshot)
	if v.Known != nil {
		t.Printf("  found by   %s, %.2f\n", code.ProvenanceName(v.Known.Provenance), float64(v.Known.ConfidencePermille)/1000)
	}
	if !expected {
		t.Printf("%s\n", t.Paint(render.Dim, "the file itself names the snapshot; --snapshot HASH checks that it is the one you mean"))
	}
}
