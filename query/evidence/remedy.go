package evidence

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/recountdb/recount/projections/graph/objects"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// A remedy is looked for at most so many steps after what the other paths found best, and
// among so many objects.
const (
	remedySteps = 64
	remedyReads = 320
)

// changing are the calls of tools that change files, by the name of the tool or by what
// it is told to do; looking are those that merely look, or note what there is to do. A
// call's title begins with the tool's name and what it is told, or is its command.
var (
	changing = regexp.MustCompile(`(?i)\b(?:\w*edit\w*|\w*write\w*|\w*replace\w*|\w*patch\w*|\w*insert\w*|create|sed -i|git (?:apply|revert|commit))\b`)
	looking  = regexp.MustCompile(`(?i)^(?:\w*(?:read|grep|glob|search|find|list|todo)\w*|\w+ (?:view|open|read))\b`)
)

// after is an object that came after a seed, and by how many steps.
type after struct {
	o     *objects.Stored
	steps int
}

// byRemedy goes from the best of the other paths to what came after them: what was
// changed, what was made of it, and the command that failed and now passes. It shares no
// words with what went wrong; the nearer comes first, of the best one.
func (t *retrieval) byRemedy(l *ranked) error {
	order := t.seeds()
	seen := map[schemas.ObjectRef]bool{}
	gain := map[int]float64{}
	reads := 0
	for _, key := range order {
		from := t.candidates[key]
		o, err := t.object(from.ref)
		if err != nil {
			return err
		}
		if o == nil || seen[o.Ref] {
			continue
		}
		seen[o.Ref] = true
		failed := map[uint64]bool{}
		for open := []after{{o, 0}}; len(open) > 0 && reads < remedyReads; open = open[1:] {
			if err := t.ctx.Err(); err != nil {
				return err
			}
			at := open[0]
			reads++
			if to := t.take(at.o.Ref, -1); to >= 0 && at.steps > 0 && mends(at.o, failed) {
				gain[to] = max(gain[to], from.score/float64(1+at.steps))
			}
			if at.steps == remedySteps {
				continue
			}
			next, err := t.effects(at.o)
			if err != nil {
				return err
			}
			for _, e := range next {
				if !seen[e.Ref] {
					seen[e.Ref] = true
					open = append(open, after{e, at.steps + 1})
				}
			}
		}
	}
	t.rank(l, gain)
	l.operator = "expand"
	l.inputs["seeds"], l.inputs["steps"] = strconv.Itoa(len(order)), strconv.Itoa(remedySteps)
	l.counts["read"] = int64(reads)
	return nil
}

// mends says whether an object may be a part of a remedy: it made something or changed a
// file, or is a command that passes after it failed. failed are the commands that did, as
// far as they have been met.
func mends(o *objects.Stored, failed map[uint64]bool) bool {
	switch {
	case o.Type == recountv1.ObjectType_OBJECT_TYPE_ARTIFACT:
		return true
	case calls(o):
		return changing.MatchString(o.Title) && !looking.MatchString(o.Title)
	case o.Tool == nil || o.Tool.CommandHash == 0:
		return false
	case o.Tool.Failed || o.Tool.GetExitCode() != 0:
		failed[o.Tool.CommandHash] = true
		return false
	}
	return failed[o.Tool.CommandHash]
}

// effects are the objects that an object led to, in order: those that name it as a cause
// or were made of it, and of a call its results.
func (a *asking) effects(o *objects.Stored) ([]*objects.Stored, error) {
	led := func(kind recountv1.ObjectEdgeKind) bool { return kind == edgeCausedBy || kind == edgeDerivedFrom }
	all, err := a.comeFrom(o, led, nil)
	if err != nil {
		return nil, err
	}
	if calls(o) {
		for i, e := range o.Edges {
			if !isCall(e) {
				continue
			}
			if all, err = a.leadsTo(o, i, all); err != nil {
				return nil, err
			}
		}
	}
	slices.SortStableFunc(all, func(x, y neighbor) int { return x.compare(&y) })
	var out []*objects.Stored
	for i := range all {
		if x := all[i].o; x != nil && !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out, nil
}
