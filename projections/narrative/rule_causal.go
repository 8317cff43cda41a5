package narrative

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// causalRule (causal/2) finds causes: an intent that is named as the parent, or for which at least
// two kinds of evidence, one of them an outcome, show that this one ended as it did because of it.
//
// An explicit parent weighs 0.95. Otherwise each kind of evidence has a strength, and together they
// weigh 1 - (1-a)(1-b)…:
//
//	named   0.7   its output names a file that the other was seen to write, and
//	              nothing used that with success since
//	        0.6   its output names what the other wrote, removed or installed, and
//	              nothing used that with success since; half if something else
//	              wrote it since, or by way of its directory
//	uses    0.5   it reads what the other wrote, by name; 0.3 by way of a directory,
//	              or if the other failed; half if something else wrote it since
//	flip    0.4   the same thing had ended differently before the other, and not since
//	shown   0.4   it tried to change what the other was the last to show, and its
//	              output names that
//	failed  0.4   the other, of another goal, was the last that should have written
//	              what this reads, and failed
//	moved   0.35  the other changed the session's directory to the one it ran in
//	absent  0.3   its output reports that something does not exist
//	sole    0.25  nothing else in the workspace changed since it ended differently,
//	              and the change is of the session
//	first   0.2   nothing had used it since the other wrote it
//	wide    0.2   the other changed what everything in the session rests on:
//	              packages, variables, settings, services, the working tree
//
// Which evidence is required depends on how it ended:
//
//   - It failed: named; or shown; or uses with flip, failed or first; or flip with
//     sole or wide; or moved with flip or absent.
//   - It succeeded after the same thing had failed: flip with uses, named (by the
//     output of that failure), sole or wide.
//   - It failed because something exists already, or is in use: then the last attempt at the same
//     thing, if it succeeded, made that (0.7).
//   - It works on what the output of a failure names, at most 16 commands before
//     it in its session: then the failure is why it was run (0.6).
var causalRule = rule{
	kind: Causal,
	name: "causal/2",
	in: func(f *forming) error {
		c := causes{forming: f}
		for _, find := range []func() error{c.parent, c.answered, c.ended} {
			if err := find(); err != nil {
				return err
			}
		}
		for _, s := range c.all {
			if err := f.edge(s.from, s.weight, s.evidence...); err != nil {
				return err
			}
		}
		return nil
	},
	ends: func(v *View, n *Node, found func(schemas.Position)) error {
		for _, find := range []func(*View, *Node, func(schemas.Position)) error{
			(*View).children, (*View).soonAfter, dependants,
		} {
			if err := find(v, n, found); err != nil {
				return err
			}
		}
		return nil
	},
}

// These are the strengths of the kinds of evidence; see causalRule.
const (
	strengthParent = 0.95
	strengthAnswer = 0.6

	strengthPresent = 0.7
	strengthSeen    = 0.7
	strengthNamed   = 0.6
	strengthUses    = 0.5
	strengthBelow   = 0.3
	strengthFlip    = 0.4
	strengthFailed  = 0.4
	strengthShown   = 0.4
	strengthMoved   = 0.35
	strengthAbsent  = 0.3
	strengthSole    = 0.25
	strengthFirst   = 0.2
	strengthWide    = 0.2
)

// causes collects the causes of one intent.
type causes struct {
	*forming
	all []cause
}

// cause is an intent that caused another, with the evidence.
type cause struct {
	from     *Node
	weight   float64
	evidence []Evidence
}

// add records a cause. If several rules find the same intent, the maximum weight counts and the
// evidence is merged.
func (c *causes) add(from *Node, weight float64, evidence ...Evidence) {
	for i := range c.all {
		if o := &c.all[i]; o.from.Position == from.Position {
			o.weight = max(o.weight, weight)
			for _, e := range evidence {
				if !slices.Contains(o.evidence, e) {
					o.evidence = append(o.evidence, e)
				}
			}
			return
		}
	}
	c.all = append(c.all, cause{from, weight, evidence})
}

// parent adds the parent that the event names.
func (c *causes) parent() error {
	if c.to.ParentID.IsZero() {
		return nil
	}
	from, err := c.v.node(c.to.ParentID)
	if from != nil && err == nil {
		c.add(from, strengthParent, Evidence{Position: c.to.Position, Shows: "names it as its parent"})
	}
	return err
}

// answered adds the failure before it whose output names what it works on.
func (c *causes) answered() error {
	if !slices.ContainsFunc(c.to.Resources, func(r Resource) bool { return r.Access&Implied == 0 }) {
		return nil
	}
	return c.v.visitBackward(c.v.list(kindSession, c.to, c.to.session), c.to.Position.Offset, window, func(offset int64, value []byte) (bool, error) {
		if effects, _ := binary.Uvarint(value); Effect(effects)&mayFail == 0 {
			return true, nil
		}
		n, err := c.v.sibling(c.to, offset)
		if n == nil || err != nil || !n.Failed() || n.Goal == c.to.Goal {
			return true, err
		}
		for _, r := range c.to.Resources {
			// A failure that names a resource it uses itself is no evidence, unless this command
			// writes it.
			news := r.Access&Write != 0 || n.uses(r) == 0 && answers[r.Kind]
			if r.Access&Implied == 0 && news && names(n.mentioned, r) {
				c.add(n, strengthAnswer, n.ending(), Evidence{Position: n.Outcome, Shows: "its output names what this works on", Resource: r.String()})
				return false, nil
			}
		}
		return true, nil
	})
}

// answers are the kinds of resources that a user inspects because an output names them.
var answers = map[recountv1.ResourceKind]bool{
	recountv1.ResourceKind_RESOURCE_KIND_PATH: true, recountv1.ResourceKind_RESOURCE_KIND_PACKAGE: true,
}

// moved adds the cd that took the session to the directory in which the command fails.
func (c *causes) moved(last *Node, flip bool) error {
	absent := saysAbsent(c.to)
	elsewhere := flip && last.Dir != c.to.Dir
	if !absent && !elsewhere {
		return nil
	}
	return c.v.visitBackward(c.v.list(kindSession, c.to, c.to.session), c.to.Position.Offset, window, func(offset int64, value []byte) (bool, error) {
		if effects, _ := binary.Uvarint(value); Effect(effects)&Navigates == 0 {
			return true, nil
		}
		n, err := c.v.sibling(c.to, offset)
		if n == nil || err != nil || n.Failed() {
			return n == nil, err
		}
		e := weighing{}
		e.add(kindOfMoved, strengthMoved, Evidence{Position: n.Position, Shows: "went to the directory it ran in", Resource: "path:" + c.to.Cwd})
		if elsewhere {
			e.add(kindOfFlip, strengthFlip, last.ending(), c.to.ending())
		}
		if absent {
			e.add(kindOfAbsent, strengthAbsent, Evidence{Position: c.to.Outcome, Shows: "its output says that something is not there"})
		}
		if n.Cwd != c.to.Cwd && e.enough(true) {
			c.add(n, e.weight(), e.evidence...)
		}
		return false, nil
	})
}

// namedBy returns the resource that a failure's output names and that the other intent wrote, or
// worked on if it manages services or packages.
func (v *View) namedBy(failure, from *Node) (Resource, bool, error) {
	if len(failure.mentioned) == 0 {
		return Resource{}, false, nil
	}
	for _, r := range from.Resources {
		if r.Kind == kindVariable && from.session != failure.session {
			continue
		}
		wrote := r.Access&Write != 0 || from.Effects&RunsService != 0 && r.Kind != recountv1.ResourceKind_RESOURCE_KIND_PATH ||
			from.Effects&Installs != 0 && r.Kind == recountv1.ResourceKind_RESOURCE_KIND_PACKAGE
		if wrote && names(failure.mentioned, r) {
			if not, err := v.untouched(from, r); !not || err != nil {
				return r, err == nil, err
			}
		}
	}
	return Resource{}, false, nil
}

// withSeen adds to a list of changes, the newest first, those that were seen, as far as they may be the reason
// why an intent ended otherwise than the last attempt.
func withSeen(changed, recent []*Node, last *Node, flip bool) []*Node {
	all := slices.Clone(changed)
	for _, n := range recent {
		if flip && (n.Position.TP() != last.Position.TP() || n.Position.Offset <= last.Position.Offset) {
			continue
		}
		if !slices.ContainsFunc(all, func(o *Node) bool { return o.Position == n.Position }) {
			all = append(all, n)
		}
	}
	slices.SortFunc(all, func(a, b *Node) int { return b.Position.Compare(a.Position) })
	return all
}

// wideEffect describes the change of a node that everything in its session rests on, or returns "".
func wideEffect(n *Node) string {
	switch e := n.Effects; {
	case n.Failed():
		return ""
	case e&WritesWorktree != 0:
		return "rewrote the working tree"
	case e&Installs != 0:
		return "installed or removed software"
	case e&SetsEnvironment != 0:
		return "set variables of the session"
	case e&Configures != 0:
		return "changed settings"
	case e&RunsService != 0:
		return "started or ended a service"
	}
	return ""
}

const showsPresent = "its output says that something is there already"

// saysPresent reports whether the output mentions that something exists already, or is in use.
func saysPresent(n *Node) bool {
	has := func(w string) bool {
		_, ok := slices.BinarySearch(n.mentioned, wordMention(w))
		return ok
	}
	return has("already") && (has("exists") || has("use") || has("running") || has("allocated")) || has("eaddrinuse")
}

// saysAbsent reports whether the output mentions that something does not exist.
func saysAbsent(n *Node) bool {
	has := func(w string) bool {
		_, ok := slices.BinarySearch(n.mentioned, wordMention(w))
		return ok
	}
	return has("such") || has("not") && (has("found") || has("repository") || has("exist"))
}

// firstUse reports whether nothing read r after from wrote it and before to.
func (v *View) firstUse(from, to *Node, r Resource) (bool, error) {
	first := true
	err := v.visitBackward(v.list(kindRead, to, resourceList(r, to.Workspace)), to.Position.Offset, 1, func(offset int64, _ []byte) (bool, error) {
		first = offset <= from.Position.Offset
		return false, nil
	})
	return first, err
}

// children calls found for the intents that name a node as their parent: the newest first, starting
// with the last partition.
func (v *View) children(n *Node, found func(schemas.Position)) error {
	left := window
	for _, tp := range slices.Backward(v.tps) {
		l := list{childPrefix(nil, n.ID[:], store.AppendShard(nil, tp)), v.seen.end(tp)}
		err := v.visitBackward(l, math.MaxInt64, left, func(offset int64, _ []byte) (bool, error) {
			found(schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: offset})
			left--
			return true, nil
		})
		if left == 0 || err != nil {
			return err
		}
	}
	return nil
}
