package languages_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/languages"
	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/projections/code"
)

// TestRegisteredIsKnownEverywhere checks that what is in the table is all that is needed:
// each language is known by path, extracted, resolved, part of the version of the
// projection that stores its edges, and documented; and that each folder is registered.
func TestRegisteredIsKnownEverywhere(t *testing.T) {
	docs, err := os.ReadFile("../docs/languages.md")
	if err != nil {
		t.Fatal(err)
	}
	params := strings.Fields(code.Kind(code.Options{}).Params)
	extractors := strings.Fields(languages.Extractors())
	var resolvers []string
	for _, r := range languages.Resolvers() {
		resolvers = append(resolvers, r.Name())
	}
	for _, l := range languages.All() {
		for _, f := range l.Files {
			if !slices.Contains(extractors, f.Extractor()) || !slices.Contains(params, f.Extractor()) {
				t.Errorf("%s: the projection does not know its extractor: %q", f.Extractor(), params)
			}
			if !strings.Contains(string(docs), "`"+f.Name+"`") {
				t.Errorf("%s: docs/languages.md does not list it", f.Name)
			}
		}
		if l.Resolver == nil {
			continue
		}
		r := l.Resolver()
		if !slices.Contains(resolvers, r.Name()) || !slices.Contains(params, r.Name()) {
			t.Errorf("%s: the projection does not know it: %q", r.Name(), params)
		}
		if !slices.ContainsFunc(l.Files, func(f extract.Language) bool { return slices.Contains(r.Languages(), f.Name) }) {
			t.Errorf("%s resolves %q, none of which is a language of its line in the table", r.Name(), r.Languages())
		}
	}
}

// TestEveryFolderIsRegistered finds languages that the table does not have.
func TestEveryFolderIsRegistered(t *testing.T) {
	table, err := os.ReadFile("languages.go")
	if err != nil {
		t.Fatal(err)
	}
	folders, err := filepath.Glob("*/extract.go")
	if err != nil || len(folders) < 10 {
		t.Fatalf("folders %v: %v", folders, err)
	}
	for _, f := range folders {
		if name := filepath.Base(filepath.Dir(f)) + ".Language"; !strings.Contains(string(table), name) {
			t.Errorf("%s is not in the table", name)
		}
	}
}
