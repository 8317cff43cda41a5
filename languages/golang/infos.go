package golang

import (
	"go/ast"
	"go/types"
	"slices"
	"sync"
)

// infos keeps maps of the checker that are no longer needed, for other packages of about the same
// size: clearing them is faster than allocating new ones. It is safe for concurrent use.
type infos struct {
	mu    sync.Mutex
	spare []*info // in the order in which they were given back
}

// info has the checker's results for some syntax, and how many types its maps have room for.
type info struct {
	*types.Info
	room int
}

const (
	// maxSpare is how many infos are kept, and maxRoom the largest room of one of them.
	maxSpare, maxRoom = 4, 1 << 17
	// roomier is the maximum factor by which a reused info may be too large.
	roomier = 8
)

// take returns an empty info for bodies bytes of text in functions and rest bytes outside.
func (s *infos) take(bodies, rest int) *info {
	room := bodies/11 + rest/60 // the ratios of franz-go's packages
	s.mu.Lock()
	for i, spare := range slices.Backward(s.spare) {
		if room <= spare.room && spare.room <= max(room*roomier, 1<<10) {
			s.spare = slices.Delete(s.spare, i, i+1)
			s.mu.Unlock()
			return spare
		}
	}
	s.mu.Unlock()
	return &info{room: room, Info: &types.Info{
		Types:      make(map[ast.Expr]types.TypeAndValue, room),
		Defs:       make(map[*ast.Ident]types.Object, (bodies+rest)/96),
		Uses:       make(map[*ast.Ident]types.Object, bodies/15+rest/90),
		Implicits:  map[ast.Node]types.Object{},
		Selections: make(map[*ast.SelectorExpr]*types.Selection, bodies/63),
		Instances:  map[*ast.Ident]types.Instance{},
	}}
}

// giveBack takes over the infos of units whose results are no longer needed.
func (s *infos) giveBack(units []*unit) {
	for _, u := range units {
		i := u.info
		if u.info = nil; i.room > maxRoom {
			continue
		}
		clear(i.Types)
		clear(i.Defs)
		clear(i.Uses)
		clear(i.Implicits)
		clear(i.Selections)
		clear(i.Instances)
		s.mu.Lock()
		if s.spare = append(s.spare, i); len(s.spare) > maxSpare {
			s.spare = slices.Delete(s.spare, 0, 1)
		}
		s.mu.Unlock()
	}
}
