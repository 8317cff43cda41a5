package golang

import (
	"go/types"

	"github.com/recountdb/recount/schemas"
)

// language is the name of Go in facts and nodes.
const language = "go"

// origin returns an object as it is declared: for one of an instance, the generic one.
func origin(obj types.Object) types.Object {
	switch o := obj.(type) {
	case *types.Func:
		return o.Origin()
	case *types.Var:
		return o.Origin()
	}
	return obj
}

// chainOf returns the name of a package-level object or a method within its package:
// "Client.Produce"; "" for an object without one (a local, a method of an unnamed type).
func chainOf(obj types.Object) string {
	if f, ok := obj.(*types.Func); ok {
		if recv := f.Signature().Recv(); recv != nil {
			named := namedOf(recv.Type())
			if named == nil {
				return ""
			}
			return named.Obj().Name() + "." + f.Name()
		}
	}
	if pkg := obj.Pkg(); pkg != nil && obj.Parent() != pkg.Scope() && obj.Parent() != nil {
		return ""
	}
	return obj.Name()
}

// namedOf returns the named type of T or *T, as declared, or nil.
func namedOf(t types.Type) *types.Named {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return n.Origin()
	}
	return nil
}

// target is where an object is declared: a node of the repository, or a name outside it.
type target struct {
	key      schemas.NodeKey // empty if it is outside
	pkg      string
	name     string
	external bool
}
