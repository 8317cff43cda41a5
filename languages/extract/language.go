package extract

import (
	"fmt"
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

func (l Language) Extractor() string { return fmt.Sprintf("%s/%d", l.Name, l.Version) }

// Run runs the language's extractor. If it panics, which is a bug of ours, the file is
// partial and its commit goes on.
func (l Language) Run(content []byte, facts *recountv1.FileFacts) {
	facts.Extractor = l.Extractor()
	defer func() {
		if r := recover(); r != nil {
			facts.Partial = true
			facts.Problem = fmt.Sprintf("the extractor failed: %v", r)
		}
	}()
	l.Extract(content, facts)
}

// Named matches files of one name, in any folder.
func Named(name string) func(string) bool {
	return func(path string) bool { return Base(path) == name }
}

// Suffixed matches files by how their name ends.
func Suffixed(suffixes ...string) func(string) bool {
	return func(path string) bool {
		for _, s := range suffixes {
			if strings.HasSuffix(path, s) {
				return true
			}
		}
		return false
	}
}

func Base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// Facts returns what makes the facts of a file by the first of some languages that
// matches facts.Path, which it fills in; it does nothing where none does.
func Facts(languages ...Language) func(content []byte, facts *recountv1.FileFacts) {
	return func(content []byte, facts *recountv1.FileFacts) {
		for _, l := range languages {
			if l.Matches(facts.Path) {
				facts.Language = l.Name
				l.Run(content, facts)
				return
			}
		}
	}
}
