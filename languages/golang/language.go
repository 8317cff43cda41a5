package golang

import (
	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/registry"
	"github.com/recountdb/recount/languages/resolve"
)

// Language is Go: what the files say is in extract.go, what their names mean in
// resolver.go.
var Language = registry.Language{
	Files:    []extract.Language{extractor},
	Resolver: func() resolve.Resolver { return New() },
}
