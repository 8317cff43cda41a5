package commands

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/schemas"
)

// sentence returns a sentence about how an edge's earlier command, "it", relates to its
// later one: "this" if that is the queried command, otherwise the start of its text.
// between has the commands in between that the evidence names, as far as they are known.
func sentence(e narrative.Edge, from, to *Scanned, root bool, between map[schemas.Position]string) string {
	that := "this"
	if !root {
		that = "`" + inBrief(to.Command) + "`"
	}
	var said, others []string
	under := false // the resource is a file below a directory that the other uses
	say := func(clause string) {
		if !slices.Contains(said, clause) {
			said = append(said, clause)
		}
	}
	// The evidence of a causal edge has a fixed order, however it was found.
	evidence := slices.SortedStableFunc(slices.Values(e.Evidence), func(a, b narrative.Evidence) int { return cmp.Compare(place(a), place(b)) })
	// The resource it made that the failure names, or else the first.
	made := ""
	for _, v := range evidence {
		if place(v) == 1 && (made == "" || slices.ContainsFunc(evidence, func(o narrative.Evidence) bool { return o.Shows == showsNamed && o.Resource == v.Resource })) {
			made = v.Resource
		}
	}
	for _, v := range evidence {
		r := resourceInWords(v.Resource)
		switch name := between[v.Position]; {
		case e.Kind == narrative.Fixes && name != "":
			others = append(others, fmt.Sprintf("`%s`%s", name, inBrackets(r)))
		case v.Shows == showsNamed && v.Resource == made:
			said[len(said)-1] += ", which the output of " + theFailure(v, to, that) + " names"
		case v.Shows == showsNamed:
			say(fmt.Sprintf("the output of %s names %s, to which it is related", theFailure(v, to, that), r))
		case v.Shows == "its output names what this works on":
			say(fmt.Sprintf("its output names %s, which %s works on", r, that))
		case v.Shows == "went to the directory it ran in":
			say(fmt.Sprintf("it went to %s, where %s ran", r, that))
		case strings.HasPrefix(v.Shows, "its output"):
			say("the output of " + that + strings.TrimPrefix(v.Shows, "its output"))
		case e.Kind == narrative.Similar:
			say(fmt.Sprintf("it is similar in meaning to %s (cosine %.2f), which does not make it a cause", that, v.Score))
		case v.Shows == showsFirst:
			say(that + " is the first to use it since")
		case place(v) == 1:
			if v.Resource == made && len(said) == 0 {
				shows := v.Shows
				if under = strings.HasSuffix(shows, " below") && shows != "rewrote files below"; under {
					shows = strings.TrimSuffix(shows, " below")
				}
				say("it " + shows + " " + r)
			}
		case atPosition(v.Position, from):
			say(strings.TrimSpace("it " + v.Shows + " " + r))
		case !atPosition(v.Position, to):
			say(strings.TrimSpace("the run before " + that + " " + v.Shows + " " + r))
		case v.Shows == "names it as its parent":
			say(that + " " + v.Shows)
		}
	}
	switch e.Kind {
	case narrative.Dependency:
		if under {
			return conjoined(said) + ", in a directory that " + that + " uses"
		}
		return conjoined(said) + ", which " + that + " uses"
	case narrative.Retry:
		return conjoined(said) + ", and " + that + " tries the same again"
	case narrative.Fixes:
		s := conjoined(said) + ", and " + that + " is the first to succeed at it"
		if len(others) > 0 {
			s += "; between them: " + strings.Join(others, ", ")
		}
		return s
	case narrative.Branch:
		if e.Weight <= 0.3 {
			return conjoined(said) + ", and " + that + " was tried after it and failed too"
		}
		return conjoined(said) + ", and " + that + " is another way to the same end"
	}
	return conjoined(said)
}

// Texts of evidence from the rules of the narrative that are worded differently here.
const (
	showsNamed = "the output of the failure names it"
	showsSeen  = "was seen to write"
	showsFirst = "is the first to use it since"
	showsBelow = "wrote below"
)

// showsRemoved has the texts for what was written if it was seen to be removed.
var showsRemoved = map[string]string{showsSeen: "was seen to remove", "wrote": "removed", showsBelow: "removed below"}

// place returns the order of a clause: what it did, what names that, how it ended, further
// evidence.
func place(v narrative.Evidence) int {
	switch v.Shows {
	case showsSeen, "wrote", showsBelow, "was seen to remove", "removed", "removed below", "made the directory", "changed the directory", "rewrote files below":
		return 1
	case showsNamed:
		return 2
	case showsFirst:
		return 3
	case "was the only change between":
		return 5
	}
	return 4
}

// theFailure returns a name for the command whose output it was.
func theFailure(v narrative.Evidence, to *Scanned, that string) string {
	if atPosition(v.Position, to) {
		return that
	}
	return "the failure before"
}

// atPosition reports whether an event is a command's own event or its outcome.
func atPosition(p schemas.Position, r *Scanned) bool {
	return p == r.Position || r.Outcome != nil && p == *r.Outcome
}

// inBrackets returns a word in brackets, or "" for an empty word.
func inBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// resourceInWords returns a resource as text, without its kind if the name alone is clear:
// "/src/app/Makefile", "package numpy".
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
	if n := len(clauses); n > 1 {
		return strings.Join(clauses[:n-1], ", ") + " and " + clauses[n-1]
	}
	return strings.Join(clauses, "")
}
