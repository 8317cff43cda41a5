package narrative

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
)

// Seen limits what a view shows, for `as_of` queries. A nil field sets no limit.
type Seen struct {
	// Below is a watermark: only events at offsets below it are visible, and none of a partition
	// that it does not contain.
	Below schemas.Watermark
	// Started reports whether a command that started at a time (nanoseconds since 1970, by its own
	// clock) is visible.
	Started func(unixNano int64) bool
	// Outcome reports whether an outcome is visible, in addition to Below.
	Outcome func(Outcome) bool
	// Timed leaves out edges between commands whose times contradict their places in the log. Without it those of a
	// machine whose clock went back have edges as others.
	Timed bool
	// Looked returns what the event at a position, of a command or an outcome, tells of the files that
	// changed while the command ran; nil if no recorder looked. If it is nil, the rules know only what the
	// texts of commands say.
	Looked func(at schemas.Position) (*Looked, error)
}

// event reports whether the event at a position is visible.
func (s Seen) event(p schemas.Position) bool { return p.Offset < s.end(p.TP()) }

// end returns the offset below which the events of a partition are visible.
func (s Seen) end(tp schemas.TopicPartition) int64 {
	if s.Below == nil {
		return math.MaxInt64
	}
	return s.Below[tp]
}

// maxCached is the maximum number of nodes in a view's cache. The cache may be cleared while a rule
// runs, so an intent may have two *Node; compare them by Position.
const maxCached = 1 << 13

// View is one state of the narrative; later commits do not show in it. A View is used by one
// goroutine for one query, and closed by its caller.
type View struct {
	s    *store.View
	it   store.Iterator
	seen Seen
	tps  []schemas.TopicPartition

	key   []byte
	nodes map[schemas.Position]*Node // nil if no node is visible there
	homes map[schemas.EventID]schemas.Position
	in    map[inKey][]Edge
}

// inKey identifies the edges that one rule found for one intent.
type inKey struct {
	rule int
	to   schemas.Position
}

// ViewAt opens a view of the currently applied state, limited by seen.
func (g *Graph) ViewAt(seen Seen) (*View, error) {
	s, err := g.View()
	if err != nil {
		return nil, err
	}
	w, err := s.Watermark()
	if err != nil {
		s.Close()
		return nil, err
	}
	it, err := s.Iter([]byte{kindOutcome}, []byte{kindChild + 1})
	if err != nil {
		s.Close()
		return nil, err
	}
	v := &View{s: s, it: it, seen: seen, tps: w.Partitions()}
	v.forget()
	return v, nil
}

func (v *View) forget() {
	v.nodes = map[schemas.Position]*Node{}
	v.homes = map[schemas.EventID]schemas.Position{}
	v.in = map[inKey][]Edge{}
}

// Close releases the view.
func (v *View) Close() error {
	err := v.s.Explain(v.it.Close())
	v.s.Close()
	return err
}

// Node returns an intent with the outcome that counts, or false if no visible intent has that id.
// If events in several partitions have the id, the first in order of topic and partition counts.
func (v *View) Node(id schemas.EventID) (Node, bool, error) {
	n, err := v.node(id)
	if n == nil || err != nil {
		return Node{}, false, err
	}
	return *n, true, v.loadOutcome(n)
}

// Output returns the end of an intent's output, as far as an outcome reports it.
func (v *View) Output(id schemas.EventID) (string, error) {
	o, _, err := latest(v.s, v.it, id, func(o Outcome) bool {
		return o.OutputTail != "" && v.seen.event(o.Position) && (v.seen.Outcome == nil || v.seen.Outcome(o))
	})
	return o.OutputTail, err
}

// LastSuccess returns the last run of the same command before an intent, if it succeeded.
func (v *View) LastSuccess(id schemas.EventID) (Node, bool, error) {
	n, err := v.node(id)
	if n == nil || err != nil {
		return Node{}, false, err
	}
	a, alike, err := v.attempt(n)
	if a == nil || err != nil || alike <= sameThing || !a.Succeeded() {
		return Node{}, false, err
	}
	return *a, true, nil
}

// node is like Node without the outcome; it returns nil if there is none.
func (v *View) node(id schemas.EventID) (*Node, error) {
	if at, known := v.homes[id]; known {
		return v.nodeAt(at)
	}
	for _, tp := range v.tps {
		offset, ok, err := v.s.Seen(tp, id)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		n, err := v.nodeAt(schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: offset})
		if err != nil {
			return nil, err
		}
		if n != nil {
			v.homes[id] = n.Position
			return n, nil
		}
	}
	return nil, nil
}

// known reports whether a node is the one that its id means.
func (v *View) known(n *Node) (bool, error) {
	if len(v.tps) == 1 {
		return true, nil
	}
	first, err := v.node(n.ID)
	return first != nil && first.Position == n.Position, err
}

// nodeAt returns the node at a position, or nil if none is visible.
func (v *View) nodeAt(p schemas.Position) (*Node, error) {
	if n, known := v.nodes[p]; known {
		return n, nil
	}
	if len(v.nodes) >= maxCached {
		v.forget()
	}
	var n *Node
	if v.seen.event(p) {
		v.key = nodeKey(v.key[:0], store.AppendShard(nil, p.TP()), p.Offset)
		_, err := v.s.Get(v.key, func(value []byte) (err error) {
			if n, err = decodeNode(p, value); err != nil {
				return v.s.Damaged(err)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if n != nil && v.seen.Started != nil && !v.seen.Started(n.TimeUnixNano) {
		n = nil
	}
	v.nodes[p] = n
	return n, nil
}

// sibling returns the node at another offset of n's partition, with its outcome. It returns nil if their
// times contradict their offsets.
func (v *View) sibling(n *Node, offset int64) (*Node, error) {
	p := n.Position
	p.Offset = offset
	s, err := v.nodeAt(p)
	if s == nil || err != nil || v.contradict(n, s) {
		return nil, err
	}
	return s, v.loadOutcome(s)
}

// contradict reports whether two nodes of one machine, as far as is known, started in the other order than their events
// are in the log, as a history does that is imported after what ran later. Neither has led to the other then.
func (v *View) contradict(n, o *Node) bool {
	sameHost := n.host == 0 || o.host == 0 || n.host == o.host
	return v.seen.Timed && sameHost && n.TimeUnixNano != o.TimeUnixNano && n.before(o) != (n.TimeUnixNano < o.TimeUnixNano)
}

// loadOutcome looks up the outcome that counts.
func (v *View) loadOutcome(n *Node) error {
	if n.judged {
		return nil
	}
	n.judged = true
	if n.own {
		return nil
	}
	o, ok, err := latest(v.s, v.it, n.ID, func(o Outcome) bool {
		return o.ExitCode != nil && v.seen.event(o.Position) && (v.seen.Outcome == nil || v.seen.Outcome(o))
	})
	if !ok || err != nil {
		return err
	}
	n.ExitCode, n.Outcome = o.ExitCode, o.Position
	if o.OutputTail != "" && *o.ExitCode != 0 {
		n.mentioned = append(slices.Clone(n.mentioned), mentions(o.OutputTail)...)
		slices.Sort(n.mentioned)
	}
	return nil
}

// list is a stored list of intents of one shard.
type list struct {
	prefix []byte
	// end is the exclusive upper bound of visible offsets, so that later intents do not use up the
	// number that is visited.
	end int64
}

func (v *View) list(kind byte, of *Node, which uint64) list {
	tp := of.Position.TP()
	return list{listPrefix(make([]byte, 0, 48), kind, store.AppendShard(nil, tp), which), v.seen.end(tp)}
}

// walker is the type of back and forth.
type walker func(l list, from int64, most int, visit func(offset int64, value []byte) (more bool, err error)) error

// window is the number of intents of a session that are examined in either direction.
const window = 16

// visitBackward visits the offsets of a list that are less than below, the newest first, until visit returns
// false or most of them were visited.
func (v *View) visitBackward(l list, below int64, most int, visit func(offset int64, value []byte) (more bool, err error)) error {
	v.key = binary.BigEndian.AppendUint64(append(v.key[:0], l.prefix...), uint64(min(below, l.end)))
	return v.walk(l, v.it.SeekLT(v.key), v.it.Prev, most, visit)
}

// visitForward visits the offsets of a list that are greater than above, the oldest first, until visit
// returns false or most of them were visited.
func (v *View) visitForward(l list, above int64, most int, visit func(offset int64, value []byte) (more bool, err error)) error {
	v.key = binary.BigEndian.AppendUint64(append(v.key[:0], l.prefix...), uint64(above+1))
	return v.walk(l, v.it.SeekGE(v.key), v.it.Next, most, visit)
}

// walk collects the entries before it visits them, because a visit may move the iterator.
func (v *View) walk(l list, ok bool, step func() bool, most int, visit func(int64, []byte) (bool, error)) error {
	type entry struct {
		offset int64
		effect []byte
	}
	var room [8]entry
	entries := room[:0]
	for ; ok && len(entries) < most; ok = step() {
		key := v.it.Key()
		if !bytes.HasPrefix(key, l.prefix) || len(key) != len(l.prefix)+8 {
			break
		}
		offset := int64(binary.BigEndian.Uint64(key[len(l.prefix):]))
		if offset >= l.end {
			break
		}
		value, err := v.it.ValueAndErr()
		if err != nil {
			return v.s.Explain(err)
		}
		entries = append(entries, entry{offset, bytes.Clone(value)})
	}
	if err := v.it.Error(); err != nil {
		return v.s.Explain(err)
	}
	for _, e := range entries {
		if more, err := visit(e.offset, e.effect); !more || err != nil {
			return err
		}
	}
	return nil
}

// In returns the edges that end in an intent, ordered by kind, then the heaviest first, then by the
// other end. An id that is not visible has none. The work is bounded: see the package comment.
func (v *View) In(id schemas.EventID) ([]Edge, error) {
	n, err := v.node(id)
	if n == nil || err != nil {
		return nil, err
	}
	var all []Edge
	for i := range rules {
		edges, err := v.ruleIn(i, n)
		if err != nil {
			return nil, err
		}
		all = append(all, edges...)
	}
	slices.SortFunc(all, Edge.compare)
	return all, nil
}

// Out returns the edges that start at an intent, in the order and within the bounds of In.
func (v *View) Out(id schemas.EventID) ([]Edge, error) { return v.OutOf(id) }

// OutOf is Out for some kinds; without any it is for all.
func (v *View) OutOf(id schemas.EventID, kinds ...EdgeKind) ([]Edge, error) {
	n, err := v.node(id)
	if n == nil || err != nil {
		return nil, err
	}
	var all []Edge
	for i := range rules {
		if len(kinds) > 0 && !slices.Contains(kinds, rules[i].kind) {
			continue
		}
		var ends []schemas.Position
		err := rules[i].ends(v, n, func(p schemas.Position) { ends = append(ends, p) })
		if err != nil {
			return nil, err
		}
		slices.SortFunc(ends, schemas.Position.Compare)
		for _, p := range slices.Compact(ends) {
			to, err := v.nodeAt(p)
			if err != nil {
				return nil, err
			}
			if to == nil {
				continue
			}
			edges, err := v.ruleIn(i, to)
			if err != nil {
				return nil, err
			}
			for _, e := range edges {
				if e.From == id {
					all = append(all, e)
				}
			}
		}
	}
	slices.SortFunc(all, Edge.compare)
	return all, nil
}

// ruleIn returns the edges that one rule finds to end in a node.
func (v *View) ruleIn(rule int, to *Node) ([]Edge, error) {
	key := inKey{rule, to.Position}
	if edges, known := v.in[key]; known {
		return edges, nil
	}
	if ok, err := v.known(to); !ok || err != nil {
		return nil, err
	}
	if err := v.loadOutcome(to); err != nil {
		return nil, err
	}
	f := forming{v: v, rule: &rules[rule], to: to}
	if err := rules[rule].in(&f); err != nil {
		return nil, err
	}
	v.in[key] = f.edges
	return f.edges, nil
}

// Next returns up to most visible intents of the session after one of them, the nearest first.
func (v *View) Next(id schemas.EventID, most int) ([]Node, error) {
	return v.along(id, most, v.visitForward)
}

// Previous returns up to most visible intents of the session before one of them, the nearest first.
func (v *View) Previous(id schemas.EventID, most int) ([]Node, error) {
	return v.along(id, most, v.visitBackward)
}

func (v *View) along(id schemas.EventID, most int, walk walker) ([]Node, error) {
	n, err := v.node(id)
	if n == nil || err != nil {
		return nil, err
	}
	var all []Node
	err = walk(v.list(kindSession, n, n.session), n.Position.Offset, most, func(offset int64, _ []byte) (bool, error) {
		s, err := v.sibling(n, offset)
		if s == nil || err != nil {
			return true, err
		}
		ok, err := v.known(s)
		if ok {
			all = append(all, *s)
		}
		return true, err
	})
	return all, err
}
