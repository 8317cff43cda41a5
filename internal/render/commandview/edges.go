package commandview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/schemas"
)

// pair is two commands, from and to, that edges connect.
type pair struct{ from, to schemas.EventID }

func byPair(edges []ask.Edge) map[pair][]ask.Edge {
	m := map[pair][]ask.Edge{}
	for _, e := range edges {
		m[pair{e.From, e.To}] = append(m[pair{e.From, e.To}], e)
	}
	for _, es := range m {
		slices.SortStableFunc(es, func(a, b ask.Edge) int {
			return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Kind, b.Kind))
		})
	}
	return m
}

// maxEvidence is the maximum number of pieces of evidence shown for an edge; --json has all.
const maxEvidence = 3

// inWords describes the evidence of an edge.
func inWords(d *render.Drawing, e ask.Edge) string {
	evidence := slices.DeleteFunc(slices.Clone(e.Evidence), func(x ask.EdgeEvidence) bool { return below(x) != "" && wrote(e, x.Resource) })
	var parts []string
	for i, x := range evidence {
		if i == maxEvidence {
			parts = append(parts, fmt.Sprintf("%d more", len(evidence)-i))
			break
		}
		s := render.OneLine(x.Shows)
		if verb := below(x); verb != "" {
			s = verb + " in its directory"
		}
		if x.Resource != "" {
			s += before(s) + render.OneLine(resourceName(d, x.Resource))
		}
		if x.Score != 0 {
			s += fmt.Sprintf(" (%.2f)", x.Score)
		}
		if !slices.Contains(parts, s) {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "; ")
}

// below returns the verb of an evidence that a command wrote or removed a file in a directory that the other one uses.
func below(x ask.EdgeEvidence) string {
	if verb, ok := strings.CutSuffix(x.Shows, " below"); ok && (verb == "wrote" || verb == "removed") {
		return verb
	}
	return ""
}

// wrote reports whether an edge says by itself that a resource was written or removed.
func wrote(e ask.Edge, resource string) bool {
	return slices.ContainsFunc(e.Evidence, func(x ask.EdgeEvidence) bool {
		return x.Resource == resource && slices.Contains([]string{"wrote", "was seen to write", "removed", "was seen to remove"}, x.Shows)
	})
}

// before returns what separates the words of an evidence from its resource: a space, if the resource
// is their object ("wrote"), and a colon if they have one already ("names it").
func before(shows string) string {
	for _, end := range []string{" it", " on", " since", " its directory"} {
		if strings.HasSuffix(shows, end) {
			return ": "
		}
	}
	return " "
}

// resourceName omits the kind of a resource if the name makes it clear, and the home directory.
func resourceName(d *render.Drawing, r string) string {
	if name, ok := strings.CutPrefix(r, "path:"); ok {
		return d.Home(name)
	}
	return r
}

// edgeText describes an edge.
func edgeText(d *render.Drawing, e ask.Edge) string {
	s := fmt.Sprintf("%s %.2f", e.Kind, e.Weight)
	if words := inWords(d, e); words != "" {
		s += ": " + words
	}
	return s
}
