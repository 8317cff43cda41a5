package extract

import (
	"fmt"
	"slices"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Language is one language or format: how its files are known, and what reads them.
type Language struct {
	// Name as it stands in FileFacts.language: "go".
	Name string
	// Version of its extractor; FileFacts.extractor is "go/1".
	Version int
	// Matches reports whether a path (relative, with slashes) is one of its files.
	Matches func(path string) bool
	// Extract fills in the facts. It is pure, keeps nothing of content, and marks what
	// it cannot read: facts.Partial and facts.Problem. It never fails and need not
	// recover: a panic becomes a partial file.
	Extract func(content []byte, facts *recountv1.FileFacts)
}

// languages is every language, the more particular ones first: a path belongs to
// the first that matches.
var languages = slices.Concat(
	manifests,
	[]Language{codeowners},
	[]Language{golang, pythonLanguage, rustLanguage, javaLanguage, csharpLanguage},
	scripts,
	[]Language{protoLanguage, sqlLanguage, terraformLanguage, dockerfileLanguage, yamlLanguage},
	styleLanguages,
)

// LanguageOf finds the language of a path.
func LanguageOf(path string) (Language, bool) {
	for _, l := range languages {
		if l.Matches(path) {
			return l, true
		}
	}
	return Language{}, false
}

// NameOf is the name of a path's language, "" where it is not known.
func NameOf(path string) string {
	l, _ := LanguageOf(path)
	return l.Name
}

// Extractors names every language's extractor with its version: "go/1 python/1".
func Extractors() string {
	var names []string
	for _, l := range languages {
		names = append(names, l.extractor())
	}
	return strings.Join(names, " ")
}

func (l Language) extractor() string { return fmt.Sprintf("%s/%d", l.Name, l.Version) }

// Run runs the language's extractor. If it panics, which is a bug of ours, the file is
// partial and its commit goes on.
func (l Language) Run(content []byte, facts *recountv1.FileFacts) {
	facts.Extractor = l.extractor()
	defer func() {
		if r := recover(); r != nil {
			facts.Partial = true
			facts.Problem = fmt.Sprintf("the extractor failed: %v", r)
		}
	}()
	l.Extract(content, facts)
}
