package sql

import (
	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/registry"
)

// Language is the entry of SQL in the registry: extract.go extracts facts, resolve.go resolves
// names.
var Language = registry.Language{
	Files:    []extract.Language{extractor},
	Resolver: NewResolver,
}
