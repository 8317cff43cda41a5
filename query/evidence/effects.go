package evidence

import (
	"slices"
	"strconv"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/query/fusion"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// These limit the search for effects: the number of steps after an object, and the number of
// objects read.
const (
	effectSteps = 64
	effectReads = 320
)

// after is an object that came after a seed, and the number of steps between them.
type after struct {
	o     *objects.Stored
	steps int
}

// byEffects follows the best candidates of the other paths to what came after them, and adds the
// objects for which wanted returns true, the nearest to the best candidate first. failed has the
// hashes of failed commands met so far on a walk.
func (t *retrieval) byEffects(l *fusion.List, wanted func(o *objects.Stored, failed map[uint64]bool) bool) error {
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
		for open := []after{{o, 0}}; len(open) > 0 && reads < effectReads; open = open[1:] {
			if err := t.Ctx.Err(); err != nil {
				return err
			}
			at := open[0]
			reads++
			if to := t.take(at.o.Ref, -1); to >= 0 && at.steps > 0 && wanted(at.o, failed) {
				gain[to] = max(gain[to], from.score/float64(1+at.steps))
			}
			if at.steps == effectSteps {
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
	for i := range l.Scores {
		l.Scores[i] = share(i)
	}
	l.Operator = "expand"
	l.Inputs["seeds"] = strconv.Itoa(len(order))
	l.Counts["read"] = int64(reads)
	return nil
}

// effects returns the objects that an object led to, in order: those that name it as a cause or
// were derived from it, and the results of a call.
func (a *session) effects(o *objects.Stored) ([]*objects.Stored, error) {
	p := a.partAt(o.Ref)
	all, err := a.comeFrom(p, leads, nil)
	if err != nil {
		return nil, err
	}
	if calls(o) {
		a.links = p.node.Links(a.links[:0])
		for i := range a.links {
			l := &a.links[i]
			if l.To != objects.ToCall {
				continue
			}
			if all, err = a.leadsTo(p, l, all); err != nil {
				return nil, err
			}
		}
	}
	slices.SortStableFunc(all, func(x, y neighbor) int { return x.compare(&y) })
	var out []*objects.Stored
	for i := range all {
		if all[i].to == nil {
			continue
		}
		x, err := a.object(all[i].to.ref)
		if err != nil {
			return nil, err
		}
		if x != nil && !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out, nil
}

// byReason follows the best candidates of the other paths to later failures and conclusions. The
// message that reports a problem seldom shares words with either.
func (t *retrieval) byReason(l *fusion.List) error { return t.byEffects(l, mayBeReason) }

// mayBeReason reports whether an object may be part of a reason: a result that failed, or a
// conclusion.
func mayBeReason(o *objects.Stored, _ map[uint64]bool) bool {
	if o.Tool != nil && !calls(o) {
		return o.Tool.Failed || o.Tool.GetExitCode() != 0
	}
	return o.Memory == recountv1.MemoryKind_MEMORY_KIND_REFLECTIVE
}

// changing matches the tool calls that change files, by the name of the tool or by its input.
// looking matches those that only look, or manage a list of tasks. A call's title begins with the
// tool's name and input, or is its command.
var (
	changing = lazyregexp.New(`(?i)\b(?:\w*edit\w*|\w*write\w*|\w*replace\w*|\w*patch\w*|\w*insert\w*|create|sed -i|git (?:apply|revert|commit))\b`)
	looking  = lazyregexp.New(`(?i)^(?:\w*(?:read|grep|glob|search|find|list|todo)\w*|\w+ (?:view|open|read))\b`)
)

// byRemedy follows the best candidates of the other paths to later changes, what was made of them,
// and a command that failed before and then passed. These share no words with the problem. The
// nearest to the best candidate come first.
func (t *retrieval) byRemedy(l *fusion.List) error { return t.byEffects(l, mayBeRemedy) }

// mayBeRemedy reports whether an object may be part of a remedy: it made something or changed a file, or
// is a command that passes after it failed. failed has the hashes of the failed commands met so
// far.
func mayBeRemedy(o *objects.Stored, failed map[uint64]bool) bool {
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
