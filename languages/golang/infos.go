package golang

import (
	"go/ast"
	"go/types"
	"slices"
	"sync"
)

// infos are maps of the checker's that nobody needs any more, for packages of about
// the size: to make them takes longer than to clear them. It is safe for concurrent use.
type infos struct {
	mu    sync.Mutex
	spare []*info // the one given back last is the last
}

// info is what the checker says of syntax, with how many types it has room for.
type info struct {
	*types.Info
	room int
}

const (
	// maxSpare is how many infos are kept, maxRoom how large one of them is.
	maxSpare, maxRoom = 4, 1 << 17
	// roomier is how many times too large one may be.
	roomier = 8
)

// take is an empty one for so much text, in functions and outside.
func (s *infos) take(bodies, rest int) *info {
	room := bodies/11 + rest/60 // what franz-go's packages have
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

// giveBack takes those of units over, of which nothing is asked any more.
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
