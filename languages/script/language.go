package script

import "github.com/recountdb/recount/languages/registry"

// Language is TypeScript and JavaScript: what the files say is in extract.go, what their
// names mean in resolve.go.
var Language = registry.Language{
	Files:    extractors,
	Resolver: NewResolver,
}
