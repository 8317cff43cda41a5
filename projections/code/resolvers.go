package code

import (
	"github.com/recountdb/recount/languages/formats"
	"github.com/recountdb/recount/languages/golang"
	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/scope"
)

// DefaultResolvers makes the resolvers of one repository: adding one is a line
// here.
func DefaultResolvers() []resolve.Resolver {
	return append([]resolve.Resolver{golang.New(), scope.Python(), scope.Script(), scope.Java(), scope.CSharp(), scope.Rust()}, formats.All()...)
}
