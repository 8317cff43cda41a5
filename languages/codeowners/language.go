package codeowners

import (
	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/registry"
)

// Language is the files that say who owns which paths: what the files say is in extract.go.
// It has no resolver: what a rule owns is decided when a question is asked.
var Language = registry.Language{
	Files: []extract.Language{extractor},
}
