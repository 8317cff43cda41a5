package code

import (
	"github.com/recountdb/recount/projections/graph/resolve"
	"github.com/recountdb/recount/projections/graph/resolve/golang"
)

// DefaultResolvers makes the resolvers of one repository: adding one is a few
// lines here.
func DefaultResolvers() ([]resolve.Resolver, error) {
	golang, err := golang.New()
	if err != nil {
		return nil, err
	}
	return []resolve.Resolver{golang}, nil
}
