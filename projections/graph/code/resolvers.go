package code

import "github.com/recountdb/recount/projections/graph/resolve"

// DefaultResolvers makes the resolvers of one repository: adding one is a line
// here.
func DefaultResolvers() []resolve.Resolver {
	return []resolve.Resolver{}
}
