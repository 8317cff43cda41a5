package golang

import (
	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/registry"
	"github.com/recountdb/recount/languages/resolve"
)

// Language is the entry of Go in the registry: extract.go extracts facts, resolver.go resolves
// names.
var Language = registry.Language{
	Files:    []extract.Language{extractor},
	Resolver: func() resolve.Resolver { return New() },
}
