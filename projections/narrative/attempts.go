package narrative

import (
	"path"
	"slices"
	"time"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// maxAttempts is the maximum number of intents of one goal that are examined before, or after, an
// intent.
const maxAttempts = 16

// likeness returns how probable it is that two intents of one goal are attempts at the same thing:
//
//	0.95  the same command in the same directory
//	0.85  the same command
//	0.75  both name the same resource, other than the program itself
//	0.5   the same session and directory, within ten minutes, both in a category of aims
//	0     otherwise
//
// Only pairs that reach sameThing are treated as runs of one thing whose outcomes can differ.
func likeness(a, b *Node) float64 {
	switch {
	case a.Act == b.Act && a.Dir == b.Dir:
		return 0.95
	case a.Act == b.Act:
		return 0.85
	case sharesNamed(a, b):
		return sameThing
	case a.session == b.session && a.Dir == b.Dir && aims[a.Category] && aims[b.Category] && time.Duration(a.gap(b)) <= 10*time.Minute:
		return 0.5
	}
	return 0
}

const sameThing = 0.75

func sharesNamed(a, b *Node) bool {
	for _, r := range a.Resources {
		if r.Access&Implied == 0 && b.uses(r) != 0 && !b.runs(r) {
			return true
		}
	}
	return false
}

// runs reports whether r is the file of a program that n runs.
func (n *Node) runs(r Resource) bool {
	return r.Kind == recountv1.ResourceKind_RESOURCE_KIND_PATH && slices.Contains(n.Programs, path.Base(r.Name))
}

// uses returns how n accesses r by name, or 0 if it does not. Implied accesses do not count.
func (n *Node) uses(r Resource) Access {
	for _, o := range n.Resources {
		if o.Kind == r.Kind && o.Name == r.Name && o.Access&Implied == 0 {
			return o.Access
		}
	}
	return 0
}

// attempt returns the earlier intent that is most like n, and their likeness. It considers intents
// of the same goal and workspace whose outcome is known, and prefers the newest of equal ones. best
// is nil if there is none.
func (v *View) attempt(n *Node) (best *Node, alike float64, err error) {
	if n.attempted {
		return n.attempt, n.alike, nil
	}
	err = v.visitBackward(v.list(kindGoal, n, goalList(n.Workspace, n.Goal)), n.Position.Offset, maxAttempts, func(offset int64, _ []byte) (bool, error) {
		a, err := v.sibling(n, offset)
		if a == nil || err != nil || a.Goal != n.Goal || a.Workspace != n.Workspace || !a.Failed() && !a.Succeeded() {
			return true, err
		}
		if l := likeness(a, n); l > alike {
			ok, err := v.known(a)
			if !ok || err != nil {
				return true, err
			}
			best, alike = a, l
		}
		return alike < 0.95, nil
	})
	if err == nil {
		n.attempt, n.alike, n.attempted = best, alike, true
	}
	return best, alike, err
}

// laterAttempts calls found for the later intents that may have n as their attempt.
func (v *View) laterAttempts(n *Node, found func(schemas.Position)) error {
	return v.visitForward(v.list(kindGoal, n, goalList(n.Workspace, n.Goal)), n.Position.Offset, maxAttempts, func(offset int64, _ []byte) (bool, error) {
		p := n.Position
		p.Offset = offset
		found(p)
		return true, nil
	})
}

// changesSince returns the intents of the workspace before n that changed something, the newest
// first. If since is not nil, only those after it are returned. The result is limited to the newest
// maxChanges.
func (v *View) changesSince(since, n *Node) ([]*Node, error) {
	var all []*Node
	err := v.visitBackward(v.list(kindWorkspace, n, hashOf(n.Workspace)), n.Position.Offset, maxChanges, func(offset int64, _ []byte) (bool, error) {
		if since != nil && offset <= since.Position.Offset {
			return false, nil
		}
		c, err := v.sibling(n, offset)
		if c == nil || err != nil || c.Workspace != n.Workspace || since != nil && v.contradict(since, c) {
			return true, err
		}
		ok, err := v.known(c)
		if ok {
			all = append(all, c)
		}
		return true, err
	})
	return all, err
}

const maxChanges = 48

// touches returns the resource through which a change concerns one of two attempts: either the
// output of the failed attempt names it, or the change wrote it and one of the attempts uses it.
func touches(change, failed, succeeded *Node) (Resource, bool) {
	for _, r := range change.Resources {
		if r.Access&Implied != 0 {
			continue
		}
		if names(failed.mentioned, r) {
			return r, true
		}
		if r.Access&Write == 0 {
			continue
		}
		for _, n := range [...]*Node{failed, succeeded} {
			for _, u := range n.Resources {
				if u.Kind == r.Kind && (u.Name == r.Name || u.Access&Read != 0 && r.Kind == recountv1.ResourceKind_RESOURCE_KIND_PATH && below(r.Name, u.Name)) {
					return r, true
				}
			}
		}
	}
	return Resource{}, false
}
