package extract

import (
	"fmt"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Language is one language or format: which files belong to it, and their extractor.
type Language struct {
	// Name is the value of FileFacts.language: "go".
	Name string
	// Version is the extractor's; FileFacts.extractor is "go/1".
	Version int
	// Matches reports whether a path (relative, with slashes) is one of its files.
	Matches func(path string) bool
	// Extract fills in the facts. It is pure, keeps no part of content, and sets
	// facts.Partial and facts.Problem if it cannot read something. It never fails and need
	// not recover: a panic becomes a partial file.
	Extract func(content []byte, facts *recountv1.FileFacts)
}

func (l Language) Extractor() string { return fmt.Sprintf("%s/%d", l.Name, l.Version) }

// Run runs the language's extractor. If it panics, which is a bug, the file is partial and
// the commit is processed further.
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

// Named returns a function that matches files with one name, in any folder.
func Named(name string) func(string) bool {
	return func(path string) bool { return Base(path) == name }
}

// Suffixed returns a function that matches files by the end of their name.
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

// Facts returns a function that fills in the facts of a file with the first of some
// languages that matches facts.Path; it does nothing if none does.
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
