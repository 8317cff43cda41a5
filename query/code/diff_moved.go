package code

import (
	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// changeMoved: the symbol stands in another file, or in one of another name.
const changeMoved = "moved"

// moves are the symbols that are gone from one place and came at another.
type moves struct {
	// to is where a symbol of the first revision stands now, from where it stood.
	to, from map[schemas.NodeKey]schemas.NodeKey
	old      map[schemas.NodeKey]*recountv1.CodeNode
}

// same is what a symbol keeps when it moves.
type same struct {
	language, chain, variant string
	kind                     recountv1.SymbolKind
	body                     uint64
}

// movesOf pairs what is gone with what came: of one language, name and kind, with
// the same text; where that says two things, none of them has moved.
func movesOf(all []change) moves {
	m := moves{map[schemas.NodeKey]schemas.NodeKey{}, map[schemas.NodeKey]schemas.NodeKey{}, map[schemas.NodeKey]*recountv1.CodeNode{}}
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
			continue // nothing to know it by
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

// kind is what became of a node; of a moved one it is told where it stands now.
func (m moves) kind(c change) string {
	if _, came := m.from[c.key]; came {
		return changeMoved
	}
	if _, gone := m.to[c.key]; gone {
		return changeOther
	}
	return c.kind()
}

// before is where a node stood, and what it was; nil where it is new.
func (m moves) before(c change) (schemas.NodeKey, *recountv1.CodeNode) {
	if was, ok := m.from[c.key]; ok {
		return was, m.old[c.key]
	}
	return c.key, c.old
}

// now is where a node of the first revision stands.
func (m moves) now(k schemas.NodeKey) schemas.NodeKey {
	if to, ok := m.to[k]; ok {
		return to
	}
	return k
}

// symbolOf is a stored node of a snapshot as answers show it.
func symbolOf(s *snapshots.Snapshot, k schemas.NodeKey, n *recountv1.CodeNode) (Symbol, error) {
	line, err := s.Line(k)
	return Symbol{
		Repo: s.Repository, Name: displayOf(k, n.Package), Kind: kindName(k.Kind()), Language: n.Language, Package: n.Package,
		File: k.Path(), Line: line, EndLine: line + n.GetEnd().GetLine(), Exported: n.Exported, Test: n.Test, Variant: k.Variant(),
	}, err
}

// displayOf is a node's name for people.
func displayOf(k schemas.NodeKey, pkg string) string {
	chain := k.Chain()
	if chain == "" {
		return k.Path()
	}
	if short := shortPackage(pkg); short != "" {
		return short + "." + chain
	}
	return chain
}
