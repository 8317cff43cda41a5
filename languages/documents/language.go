package documents

import "github.com/recountdb/recount/languages/registry"

// Language is the documents beside code: what they say is in extract.go, and in resolve.go how what they
// name becomes edges.
var Language = registry.Language{Files: extractors, Resolver: NewResolver}
