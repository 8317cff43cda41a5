package code

import (
	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// changeMoved means that the symbol is in another or a renamed file.
const changeMoved = "moved"

// moves are the symbols that moved from one file to another.
type moves struct {
	// to maps a moved symbol's key in the first revision to that in the second, from the reverse.
	to, from map[schemas.NodeKey]schemas.NodeKey
	old      map[schemas.NodeKey]*recountv1.CodeNode
	// similarity is that of the texts of those that were renamed or changed on the way, by the key in
	// the second revision.
	similarity map[schemas.NodeKey]float64
}

// same has the properties that a symbol keeps when it moves.
type same struct {
	language, chain, variant string
	kind                     recountv1.SymbolKind
	body                     uint64
}

// movesOf pairs removed with added symbols of the same language, name, kind and text. If a pair is
// not unique, none of the symbols counts as moved.
func movesOf(all []change) moves {
	m := moves{to: map[schemas.NodeKey]schemas.NodeKey{}, from: map[schemas.NodeKey]schemas.NodeKey{}, old: map[schemas.NodeKey]*recountv1.CodeNode{}}
	gone, came := map[same][]change{}, map[same][]change{}
	for _, c := range all {
		n, into := c.old, gone
		switch {
		case c.old != nil && c.new != nil || c.key.Chain() == "":
			continue
		case c.old == nil:
			n, into = c.new, came
		}
		if n.BodyHash == 0 {
			continue // nothing to identify it by
		}
		id := same{n.Language, c.key.Chain(), c.key.Variant(), n.Kind, n.BodyHash}
		into[id] = append(into[id], c)
	}
	for id, was := range gone {
		if is := came[id]; len(was) == 1 && len(is) == 1 {
			m.to[was[0].key], m.from[is[0].key] = is[0].key, was[0].key
			m.old[is[0].key] = was[0].old
		}
	}
	return m
}

// kind returns the kind of a node's change. A move is reported at the new place.
func (m moves) kind(c change) string {
	if was, came := m.from[c.key]; came {
		if was.Chain() != c.key.Chain() {
			return changeRenamed
		}
		return changeMoved
	}
	if _, gone := m.to[c.key]; gone {
		return changeOther
	}
	return c.kind()
}

// touched reports whether a node differs in more than its place.
func (m moves) touched(c change) bool {
	key := c.key
	if to, gone := m.to[key]; gone {
		key = to
	}
	if _, changed := m.similarity[key]; changed {
		return true
	}
	kind := m.kind(c)
	return kind != changeMoved && kind != changeOther
}

// before returns the key and node in the first revision; the node is nil if it is new.
func (m moves) before(c change) (schemas.NodeKey, *recountv1.CodeNode) {
	if was, ok := m.from[c.key]; ok {
		return was, m.old[c.key]
	}
	return c.key, c.old
}

// now returns the key in the second revision of a node of the first.
func (m moves) now(k schemas.NodeKey) schemas.NodeKey {
	if to, ok := m.to[k]; ok {
		return to
	}
	return k
}

// symbolOf returns a stored node of a snapshot as answers show it.
func symbolOf(s *snapshots.Snapshot, k schemas.NodeKey, n *recountv1.CodeNode) (Symbol, error) {
	line, err := s.Line(k)
	return Symbol{
		Repo: s.Repository, Name: displayOf(k, n.Package), Kind: kindName(k.Kind()), Language: n.Language, Package: n.Package,
		File: k.Path(), Line: line, EndLine: line + n.GetEnd().GetLine(), Exported: n.Exported, Test: n.Test, Variant: k.Variant(),
	}, err
}

// displayOf returns a node's display name.
func displayOf(k schemas.NodeKey, pkg string) string {
	chain := k.Chain()
	if chain == "" {
		return k.Path()
	}
	if short := shortPackage(unversioned(pkg, k.Path())); short != "" {
		return short + "." + chain
	}
	return chain
}
