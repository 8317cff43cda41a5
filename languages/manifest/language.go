package manifest

import "github.com/recountdb/recount/languages/registry"

// Language is the files that name a repository's packages: what the files say is in
// extract.go. They have no resolver of their own: those of the languages read them.
var Language = registry.Language{
	Files: extractors,
}
