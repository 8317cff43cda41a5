package golang

import (
	"slices"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/manifest"
)

// readFacts returns the facts of Go's files.
var readFacts = extract.Facts(slices.Concat(manifest.Language.Files, Language.Files)...)
