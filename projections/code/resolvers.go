package code

import (
	"github.com/recountdb/recount/projections/resolve"
	"github.com/recountdb/recount/projections/resolve/formats"
	"github.com/recountdb/recount/projections/resolve/golang"
	"github.com/recountdb/recount/projections/resolve/scope"
)

// DefaultResolvers makes the resolvers of one repository: adding one is a line
// here.
func DefaultResolvers() []resolve.Resolver {
	return append([]resolve.Resolver{golang.New(), scope.Python(), scope.Script(), scope.Java(), scope.CSharp(), scope.Rust()}, formats.All()...)
}
