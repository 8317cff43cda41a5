// Package registry has the type of the value by which a language says what it is.
package registry

import (
	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/resolve"
)

// Language is one language or format. Each folder of languages/ declares its own as
// Language, and the table in languages/languages.go lists them.
type Language struct {
	// Files are the kinds of files that the language has, each with its extractor.
	Files []extract.Language
	// Resolver returns a new resolver for one repository: it finds what the names in the
	// files mean. If it is nil, the files have declarations and no edges.
	Resolver func() resolve.Resolver
}
