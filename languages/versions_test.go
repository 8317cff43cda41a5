package languages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/recountdb/recount/internal/golden"
)

// TestVersions checks that what is read out of a file, and out of the files of an application, is told by the
// versions of what reads them: facts and graphs that are stored are taken for those of the same version, so a data
// directory keeps what an earlier build of that version read. testdata/versions.txt has a line for each application
// of testdata/idioms. Where it fails, the extractor (Version in extract.go) or the resolver (Name in resolve.go) of the
// language gets a new version; then run it with -rewrite.
func TestVersions(t *testing.T) {
	archives, err := filepath.Glob("testdata/idioms/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []golden.Versioned
	for _, archive := range archives {
		a, err := txtar.ParseFile(archive)
		if err != nil {
			t.Fatal(err)
		}
		for name, app := range applicationsIn(a) {
			delete(app, "want")
			v := readOf(t, app)
			v.Name = strings.TrimSuffix(filepath.Base(archive), ".txt") + "/" + name
			all = append(all, v)
		}
	}
	golden.Versions(t, "testdata/versions.txt", all)
}

// readOf returns an application's files, the versions of what reads them, and what it reads.
func readOf(t *testing.T, app map[string]string) golden.Versioned {
	t.Helper()
	var content, read bytes.Buffer
	versions, kinds := map[string]bool{}, map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(app)) {
		fmt.Fprintf(&content, "%s %d\n%s", path, len(app[path]), app[path])
		if l, ok := OfPath(path); ok {
			kinds[l.Name], versions[l.Extractor()] = true, true
			read.Write(golden.Proto(t, factsOf(l, path, []byte(app[path]))))
		}
	}
	for _, r := range Resolvers() {
		if slices.ContainsFunc(r.Languages(), func(l string) bool { return kinds[l] }) {
			versions[r.Name()] = true
		}
	}
	for _, g := range graphsOf(t, app) {
		b, err := json.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		read.Write(b)
	}
	return golden.Versioned{Versions: strings.Join(slices.Sorted(maps.Keys(versions)), ","), Input: content.Bytes(), Result: read.Bytes()}
}
