// Package languages knows every language and format: which files are of it, what reads
// one (extract.Language), and what says what the names in them mean (resolve.Resolver).
//
// Each language has a folder, named for it, and a line in the table registered; all that
// depends on the set of languages takes it from here: extraction (processors/source),
// resolution (projections/code), importers, benchmarks and tests. docs/languages.md leads
// through adding one.
package languages

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/codeowners"
	"github.com/recountdb/recount/languages/csharp"
	"github.com/recountdb/recount/languages/dockerfile"
	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/golang"
	"github.com/recountdb/recount/languages/java"
	"github.com/recountdb/recount/languages/manifest"
	"github.com/recountdb/recount/languages/proto"
	"github.com/recountdb/recount/languages/python"
	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/rust"
	"github.com/recountdb/recount/languages/script"
	"github.com/recountdb/recount/languages/sql"
	"github.com/recountdb/recount/languages/style"
	"github.com/recountdb/recount/languages/terraform"
	"github.com/recountdb/recount/languages/yaml"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Language is everything that is known of one language.
type Language struct {
	// Files are the kinds of files it has, each with what reads one.
	Files []extract.Language
	// Resolver makes what says what the names in them mean, for one repository. Nil
	// leaves the files with what they say by themselves.
	Resolver func() resolve.Resolver
}

// registered is every language. A path belongs to the first that matches, so the more
// particular ones come first. Adding a language is a line here.
var registered = []Language{
	{manifest.Languages, nil},
	{one(codeowners.Language), nil},
	{one(golang.Language), func() resolve.Resolver { return golang.New() }},
	{one(python.Language), func() resolve.Resolver { return python.NewResolver() }},
	{one(rust.Language), func() resolve.Resolver { return rust.NewResolver() }},
	{one(java.Language), func() resolve.Resolver { return java.NewResolver() }},
	{one(csharp.Language), func() resolve.Resolver { return csharp.NewResolver() }},
	{script.Languages, func() resolve.Resolver { return script.NewResolver() }},
	{one(proto.Language), func() resolve.Resolver { return proto.NewResolver() }},
	{one(sql.Language), func() resolve.Resolver { return sql.NewResolver() }},
	{one(terraform.Language), func() resolve.Resolver { return terraform.NewResolver() }},
	{slices.Concat(one(dockerfile.Language), one(yaml.Language)), func() resolve.Resolver { return yaml.NewResolver() }},
	{style.Languages, func() resolve.Resolver { return style.NewResolver() }},
}

func one(l extract.Language) []extract.Language { return []extract.Language{l} }

// All returns every registered language.
func All() []Language { return slices.Clone(registered) }

// files are the kinds of files of all languages.
var files = func() (all []extract.Language) {
	for _, l := range registered {
		all = append(all, l.Files...)
	}
	return all
}()

// OfPath finds the language of a path.
func OfPath(path string) (extract.Language, bool) {
	for _, l := range files {
		if l.Matches(path) {
			return l, true
		}
	}
	return extract.Language{}, false
}

// NameOf is the name of a path's language, "" where it is not known.
func NameOf(path string) string {
	l, _ := OfPath(path)
	return l.Name
}

// Facts makes the facts of a file of facts.Path.
func Facts(content []byte, facts *recountv1.FileFacts) {
	extract.Facts(files...)(content, facts)
}

// Extractors names every extractor with its version: "go/1 python/1".
func Extractors() string {
	var names []string
	for _, l := range files {
		names = append(names, l.Extractor())
	}
	return strings.Join(names, " ")
}

// Resolvers makes the resolvers of one repository.
func Resolvers() []resolve.Resolver {
	var all []resolve.Resolver
	for _, l := range registered {
		if l.Resolver != nil {
			all = append(all, l.Resolver())
		}
	}
	return all
}
