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

// TestEveryFolderIsRegistered checks that each folder with an extractor has a value
// Language that names its resolver, if it has one, and that the table has the value.
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
		dir := filepath.Dir(f)
		if name := filepath.Base(dir) + ".Language,"; !strings.Contains(string(table), name) {
			t.Errorf("%s is not in the table", name)
		}
		value, err := os.ReadFile(filepath.Join(dir, "language.go"))
		if err != nil {
			t.Errorf("%s: %v: the file declares the value Language", dir, err)
			continue
		}
		resolvers, err := filepath.Glob(filepath.Join(dir, "resolve*.go"))
		if err != nil {
			t.Fatal(err)
		}
		if has, named := len(resolvers) > 0, strings.Contains(string(value), "Resolver:"); has != named {
			t.Errorf("%s: files of a resolver: %q; the value Language names one: %v", dir, resolvers, named)
		}
	}
}

// TestEveryLanguageIsResolved resolves each language's test data with every registered
// resolver: exactly one of them takes each language that a resolver of the table takes,
// and returns the graph of each of its files.
func TestEveryLanguageIsResolved(t *testing.T) {
	files := map[string]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		_, name, ok := strings.Cut(filepath.ToSlash(path), "/testdata/extract/")
		if err != nil || d.IsDir() || !ok || !strings.HasSuffix(name, ".src") {
			return err
		}
		content, err := os.ReadFile(path)
		files[strings.TrimSuffix(name, ".src")] = string(content)
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
		if l.Resolver == nil {
			continue
		}
		for _, f := range l.Files {
			if takes[f.Name] == "" && !slices.ContainsFunc(l.Resolver().Languages(), func(name string) bool { return tested[name] }) {
				t.Errorf("no resolver takes %s", f.Extractor())
			}
		}
	}
}
