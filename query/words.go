package query

import (
	"fmt"
	"strings"

	"github.com/recountdb/recount/projections/graph"
)

// inWords says in a sentence what an edge has to do with the command that it
// leads to: "this" if that is the one asked about.
func inWords(e graph.Edge, from, to *Scanned, root bool) string {
	that := "this"
	if !root {
		that = "`" + inBrief(to.Command) + "`"
	}
	return fmt.Sprintf("%s of %s: %s", e.Kind, that, strings.Join(shown(e), ", "))
}

// shown is what the evidence of an edge shows, each once.
func shown(e graph.Edge) []string {
	var out []string
	for _, v := range e.Evidence {
		out = append(out, strings.TrimSpace(v.Shows+" "+v.Resource))
	}
	return out
}
