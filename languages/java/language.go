package java

import (
	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/registry"
)

// Language is Java: what the files say is in extract.go, what their names mean in
// resolve.go.
var Language = registry.Language{
	Files:    []extract.Language{extractor, settings},
	Resolver: NewResolver,
}
