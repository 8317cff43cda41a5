package narrative

import (
	"time"

	"github.com/recountdb/recount/schemas"
)

// temporalRule (temporal/1) finds the previous command of the session in the log. It claims nothing
// about why; the weight is how close the two are in time: 0.4 within a minute, 0.3 within ten, 0.2
// within a day, else 0.1.
var temporalRule = rule{
	kind: Temporal,
	name: "temporal/1",
	in: func(f *forming) error {
		from, err := f.v.neighbour(f.to, f.v.visitBackward)
		if from == nil || err != nil {
			return err
		}
		weight := 0.1
		switch gap := time.Duration(from.gap(f.to)); {
		case gap <= time.Minute:
			weight = 0.4
		case gap <= 10*time.Minute:
			weight = 0.3
		case gap <= 24*time.Hour:
			weight = 0.2
		}
		return f.edge(from, weight, Evidence{Position: from.Position, Shows: "came before it in the session"})
	},
	ends: func(v *View, from *Node, found func(schemas.Position)) error {
		next, err := v.neighbour(from, v.visitForward)
		if next != nil {
			found(next.Position)
		}
		return err
	},
}

// neighbour returns the next visible intent of the session in the direction of walk, or nil.
func (v *View) neighbour(n *Node, walk walker) (*Node, error) {
	var found *Node
	err := walk(v.list(kindSession, n, n.session), n.Position.Offset, window, func(offset int64, _ []byte) (bool, error) {
		s, err := v.sibling(n, offset)
		if s == nil || err != nil {
			return true, err
		}
		ok, err := v.known(s)
		if ok {
			found = s
		}
		return !ok, err
	})
	return found, err
}
