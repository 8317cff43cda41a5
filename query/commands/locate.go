package commands

import (
	"fmt"
	"strings"
	"time"

	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// maxCandidates is the maximum number of commands listed for an ambiguous reference.
const maxCandidates = 5

// maxMatches is the maximum number of ids with the given prefix that are examined.
const maxMatches = 1024

// located is the command that a reference names.
type located struct {
	id  schemas.EventID
	pos schemas.Position
}

// locate returns the command that a reference names, by id, prefix of an id or position,
// among the commands visible to the answer. An error is a *NotFoundError, an
// *AmbiguousError, the context's, or the projection's.
func (a *session) locate(ref string) (located, error) {
	ref = strings.TrimSpace(ref)
	matches, by, err := a.matches(ref)
	if err != nil {
		return located{}, err
	}
	positions := make([]schemas.Position, len(matches))
	for i, m := range matches {
		positions[i] = m.Position
	}
	// The same event may have been appended to two partitions, with one id.
	var found []located
	var candidates []query.Candidate
	step := query.Step{Operator: "lookup", Inputs: map[string]string{"ref": ref, "by": by}}
	hidden := ""
	err = a.segment.ViewAt(a.Ctx, positions, func(_ int, v *segment.View) error {
		switch at := v.Position(); {
		case a.s.Sees != nil && !a.s.Sees(v.Workspace()):
			return nil
		case !a.knows(at, v.UnixNano()):
			if hidden == "" {
				hidden = a.hides(at, v.Time())
			}
			return nil
		case len(found) == 0 || found[len(found)-1].id != v.ID():
			if len(found) == maxCandidates {
				return nil
			}
			found = append(found, located{v.ID(), at})
			candidates = append(candidates, query.Candidate{ID: v.ID(), Time: v.Time(), Command: inBrief(v.Command())})
			fallthrough
		default:
			step.Hits = append(step.Hits, query.Evidence{Position: at})
		}
		return nil
	})
	switch {
	case err != nil:
		return located{}, err
	case len(found) == 1:
		a.Step(step)
		a.RecordTime("lookup")
		return found[0], nil
	case len(found) > 1:
		return located{}, &query.AmbiguousError{Prefix: ref, Matches: candidates}
	case hidden != "":
		return located{}, &query.NotFoundError{Ref: ref, Hint: hidden}
	}
	if a.s.Erased != nil {
		if err := a.s.Erased(a.Ctx, ref); err != nil {
			return located{}, err
		}
	}
	switch {
	case by == "position":
		return located{}, &query.NotFoundError{Ref: ref, Hint: a.s.knownSince("no known command has this position; "+a.upTo(), time.Time{})}
	}
	return located{}, &query.NotFoundError{Ref: ref, Hint: a.s.knownSince("no command's id starts with this; it may not be visible yet", time.Time{})}
}

// matches returns the commands that a reference may name, visible to the answer or not, in
// order of id.
func (a *session) matches(ref string) (matches []segment.Match, by string, err error) {
	if strings.Contains(ref, "/") {
		pos, err := schemas.ParsePosition(ref)
		if err != nil {
			return nil, "", &query.NotFoundError{Ref: ref, Hint: err.Error()}
		}
		for tp := range a.Visible { // answers write commands/1/9 for recount.commands/1/9
			if strings.HasSuffix(tp.Topic, "."+pos.Topic) {
				pos.Topic = tp.Topic
			}
		}
		return []segment.Match{{Position: pos}}, "position", nil
	}
	digits := strings.ReplaceAll(ref, "-", "")
	if len(digits) < segment.MinPrefix || len(digits) > 32 || strings.Trim(strings.ToLower(digits), "0123456789abcdef") != "" {
		return nil, "", &query.NotFoundError{Ref: ref, Hint: fmt.Sprintf("want an id, %d or more of its first hexadecimal digits, or TOPIC/PARTITION/OFFSET", segment.MinPrefix)}
	}
	matches, err = a.segment.Find(a.Ctx, digits, maxMatches)
	return matches, "id", err
}

// hides returns the reason why a command is not visible to the answer.
func (a *session) hides(at schemas.Position, began time.Time) string {
	switch {
	case !a.as.Time.IsZero() && began.After(a.as.Time):
		return fmt.Sprintf("it started at %s, after as_of", began.Format(time.RFC3339Nano))
	case a.as.Offsets != nil:
		return fmt.Sprintf("its position is %s, which as_of %q excludes", at, a.as.Offsets)
	}
	return fmt.Sprintf("its position is %s, which is not visible yet; %s", at, a.upTo())
}

// upTo returns a text about which commands are visible.
func (a *session) upTo() string {
	if len(a.Visible) == 0 {
		return "no command is visible"
	}
	return "commands are visible below " + a.Visible.String()
}

// inBrief returns the first line of a command, cut to fit beside an id.
func inBrief(command string) string {
	const most = 60
	line, rest, more := strings.Cut(strings.TrimSpace(command), "\n")
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	if more && strings.TrimSpace(rest) != "" {
		line += " …"
	}
	return strings.Clone(line)
}
