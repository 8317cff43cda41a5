// Package languages lists every language and format that Recount reads.
//
// A language is a folder with a value Language: the kinds of files that it has, what reads
// one (extract.Language), and what resolves the names in them (resolve.Resolver).
// Everything that depends on the set of languages uses the table here: extraction
// (processors/source), resolution (projections/code), importers, benchmarks and tests.
// docs/languages.md describes how to add one.
package languages

import (
	"strings"

	"github.com/recountdb/recount/languages/codeowners"
	"github.com/recountdb/recount/languages/csharp"
	"github.com/recountdb/recount/languages/dockerfile"
	"github.com/recountdb/recount/languages/documents"
	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/golang"
	"github.com/recountdb/recount/languages/java"
	"github.com/recountdb/recount/languages/manifest"
	"github.com/recountdb/recount/languages/proto"
	"github.com/recountdb/recount/languages/python"
	"github.com/recountdb/recount/languages/registry"
	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/rust"
	"github.com/recountdb/recount/languages/script"
	"github.com/recountdb/recount/languages/sql"
	"github.com/recountdb/recount/languages/style"
	"github.com/recountdb/recount/languages/terraform"
	"github.com/recountdb/recount/languages/yaml"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// registered lists every language. A path belongs to the first one that matches it, so
// more specific ones come first. To add a language, add its folder and its line here.
var registered = []registry.Language{
	manifest.Language,
	codeowners.Language,
	golang.Language,
	python.Language,
	rust.Language,
	java.Language,
	csharp.Language,
	script.Language,
	proto.Language,
	sql.Language,
	terraform.Language,
	dockerfile.Language,
	yaml.Language,
	style.Language,
	documents.Language,
}

// files lists the kinds of files of all languages.
var files = func() (all []extract.Language) {
	for _, l := range registered {
		all = append(all, l.Files...)
	}
	return all
}()

// OfPath returns the kind of file that a path is, and whether any language has it.
func OfPath(path string) (extract.Language, bool) {
	for _, l := range files {
		if l.Matches(path) {
			return l, true
		}
	}
	return extract.Language{}, false
}

// NameOf returns the name of a path's language, "" if no language has the path.
func NameOf(path string) string {
	l, _ := OfPath(path)
	return l.Name
}

// Facts fills in the facts of the file facts.Path, if a language has it.
func Facts(content []byte, facts *recountv1.FileFacts) {
	extract.Facts(files...)(content, facts)
}

// Extractors returns the names of all extractors with their versions: "go/1 python/1".
func Extractors() string {
	var names []string
	for _, l := range files {
		names = append(names, l.Extractor())
	}
	return strings.Join(names, " ")
}

// Resolvers returns new resolvers of all languages, for one repository.
func Resolvers() []resolve.Resolver {
	var all []resolve.Resolver
	for _, l := range registered {
		if l.Resolver != nil {
			all = append(all, l.Resolver())
		}
	}
	return all
}
