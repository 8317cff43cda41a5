package code

import (
	"github.com/recountdb/recount/projections/graph/resolve"
	"github.com/recountdb/recount/projections/graph/resolve/formats"
	"github.com/recountdb/recount/projections/graph/resolve/golang"
	"github.com/recountdb/recount/projections/graph/resolve/scope"
)

// DefaultResolvers makes the resolvers of one repository: adding one is a line
// here.
func DefaultResolvers() []resolve.Resolver {
	return append([]resolve.Resolver{golang.New(), scope.Python(), scope.Script(), scope.Java(), scope.CSharp(), scope.Rust()}, formats.All()...)
}
