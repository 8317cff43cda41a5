package languages_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/languages"
	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/resolvetest"
	"github.com/recountdb/recount/projections/code"
)

// TestRegisteredIsKnownEverywhere checks that what is in the table is all that is needed:
// each language is known by path, extracted, resolved, part of the version of the
// projection that stores its edges, and documented.
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
		for _, name := range r.Languages() {
			if !strings.Contains(string(docs), "`"+name+"`") {
				t.Errorf("%s resolves %s: docs/languages.md does not list it", r.Name(), name)
			}
		}
	}
}

// TestEveryFolderIsRegistered checks that the table has the value Language of each folder
// with an extractor.
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
		if name := filepath.Dir(f) + ".Language,"; !strings.Contains(string(table), name) {
			t.Errorf("%s is not in the table", name)
		}
	}
}

// TestEveryLanguageIsResolved resolves the test data of all folders with every registered
// resolver. No two resolvers take the same language, a resolver returns the graph of every
// file of its languages, and the resolver of a folder is registered: some of the folder's
// files are resolved.
func TestEveryLanguageIsResolved(t *testing.T) {
	files, folders := map[string]string{}, map[string]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		folder, name, ok := strings.Cut(filepath.ToSlash(path), "/testdata/extract/")
		if err != nil || d.IsDir() || !ok || !strings.HasSuffix(name, ".src") {
			return err
		}
		content, err := os.ReadFile(path)
		name = strings.TrimSuffix(name, ".src")
		files[name], folders[name] = string(content), folder
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	tree := resolvetest.New(files, languages.Facts)
	resolved := map[string]string{} // a path's resolver
	takes := map[string]string{}    // a language's resolver
	for _, r := range languages.Resolvers() {
		for _, name := range r.Languages() {
			if other := takes[name]; other != "" {
				t.Errorf("%s and %s both resolve %s", other, r.Name(), name)
			}
			takes[name] = r.Name()
		}
		graphs, err := r.Resolve(context.Background(), tree, resolve.Change{})
		if err != nil {
			t.Fatalf("%s: %v", r.Name(), err)
		}
		for _, g := range graphs {
			resolved[g.Path] = r.Name()
		}
	}
	tested := map[string]bool{}
	for f := range tree.Files("") {
		tested[f.Language] = true
		if want := takes[f.Language]; resolved[f.Path] != want {
			t.Errorf("%s of language %s: resolved by %q, want %q", f.Path, f.Language, resolved[f.Path], want)
		}
	}
	for name, r := range takes {
		if !tested[name] {
			t.Errorf("%s resolves %s, which has no test data", r, name)
		}
	}
	for _, l := range languages.All() {
		for _, f := range l.Files {
			// A YAML file of no known format is the only kind that a resolver leaves out.
			if l.Resolver != nil && takes[f.Name] == "" && f.Name != "yaml" {
				t.Errorf("no resolver takes %s, although its language has one", f.Name)
			}
		}
	}
	some := map[string]bool{} // folders with a file that is resolved
	for path := range resolved {
		some[folders[path]] = true
	}
	resolvers, err := filepath.Glob("*/resolve*.go")
	if err != nil || len(resolvers) < 10 {
		t.Fatalf("files of resolvers %v: %v", resolvers, err)
	}
	for _, f := range resolvers {
		dir := filepath.Dir(f)
		if _, err := os.Stat(filepath.Join(dir, "extract.go")); err == nil && !some[dir] {
			t.Errorf("%s: no registered resolver resolves the test data of %s: does its Language name one?", f, dir)
		}
	}
}
