package query

import (
	"fmt"
	"strings"

	"github.com/recountdb/recount/projections/graph"
	"github.com/recountdb/recount/schemas"
)

// inWords says in a sentence what an edge's earlier command, "it", has to do with
// its later one: "this" where that is the command asked about, else that command
// by its start. between names the commands that stand between the two in the
// evidence, as far as they are known.
func inWords(e graph.Edge, from, to *Scanned, root bool, between map[schemas.Position]string) string {
	that := "this"
	if !root {
		that = "`" + inBrief(to.Command) + "`"
	}
	var said, others []string
	for _, v := range e.Evidence {
		name := between[v.Position]
		switch {
		case e.Kind == graph.Fixes && name != "":
			others = append(others, fmt.Sprintf("`%s`%s", name, concerning(v.Resource)))
		case e.Kind == graph.Fixes && at(v.Position, to):
		default:
			said = append(said, clause(v, from, to, that))
		}
	}
	s := conjoined(said)
	switch e.Kind {
	case graph.Dependency:
		return s + ", which " + that + " uses"
	case graph.Retry:
		return s + ", and " + that + " tries the same again"
	case graph.Fixes:
		s += ", and " + that + " is the first to succeed at it"
		if len(others) > 0 {
			s += "; between them: " + strings.Join(others, ", ")
		}
	case graph.Branch:
		return s + ": " + that + " is another way to the same end"
	case graph.Similar:
		return s + " " + that
	}
	return s
}

// clause is what one event shows, with its subject.
func clause(v graph.Evidence, from, to *Scanned, that string) string {
	r := resourceInWords(v.Resource)
	switch shows := v.Shows; {
	case shows == "the output of the failure names it":
		return fmt.Sprintf("the output of %s names %s, which it has to do with", theFailure(v, to, that), r)
	case shows == "its output names what this works on":
		return fmt.Sprintf("its output names %s, which %s works on", r, that)
	case shows == "went to the directory it ran in":
		return fmt.Sprintf("it went to %s, where %s ran", r, that)
	case strings.HasPrefix(shows, "its output"):
		return "the output of " + that + strings.TrimPrefix(shows, "its output")
	case at(v.Position, from):
		return strings.TrimSpace("it " + shows + " " + r)
	case at(v.Position, to):
		return strings.TrimSpace(that + " " + shows + " " + r)
	default:
		return strings.TrimSpace("the run before it " + shows + " " + r)
	}
}

// theFailure is whose output it was.
func theFailure(v graph.Evidence, to *Scanned, that string) string {
	if at(v.Position, to) {
		return that
	}
	return "the failure before"
}

// at reports whether an event is a command's own, or tells how it ended.
func at(p schemas.Position, r *Scanned) bool {
	return p == r.Position || r.Outcome != nil && p == *r.Outcome
}

// concerning is a resource in brackets, or nothing.
func concerning(resource string) string {
	if resource == "" {
		return ""
	}
	return " (" + resourceInWords(resource) + ")"
}

// resourceInWords is a resource of evidence without its kind where the name alone
// says as much: "/src/app/Makefile", "package numpy".
func resourceInWords(resource string) string {
	kind, name, ok := strings.Cut(resource, ":")
	switch {
	case !ok, kind == "path", kind == "url":
		return name
	}
	return kind + " " + name
}

// conjoined joins clauses: "a", "a and b", "a, b and c".
func conjoined(clauses []string) string {
	var out []string
	for _, c := range clauses {
		if len(out) == 0 || out[len(out)-1] != c {
			out = append(out, c)
		}
	}
	if len(out) < 2 {
		return strings.Join(out, "")
	}
	return strings.Join(out[:len(out)-1], ", ") + " and " + out[len(out)-1]
}
