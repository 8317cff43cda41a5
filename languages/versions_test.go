package languages

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/internal/golden"
)

// TestVersions checks that what is read out of a file, and out of the files of an application, is told by the
// versions of what reads them: facts and graphs that are stored are taken for those of the same version, so a data
// directory keeps what an earlier build of that version read. testdata/versions.txt has a line for each
// application of testdata/idioms: its name, the hash of its files, the versions, and the hash of what was read.
// If that is another one although files and versions are the same, the extractor (Version in extract.go) or the
// resolver (Name in resolve.go) of the language gets a new version; then run it with -rewrite.
func TestVersions(t *testing.T) {
	const file = "testdata/versions.txt"
	before := map[string]string{} // what was read, by the rest of the line
	for line := range strings.Lines(string(readFile(t, file))) {
		rest, read := lastField(line)
		before[rest] = read
	}
	archives, err := filepath.Glob("testdata/idioms/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, archive := range archives {
		a, err := txtar.ParseFile(archive)
		if err != nil {
			t.Fatal(err)
		}
		for name, app := range applicationsIn(a) {
			delete(app, "want")
			line := strings.TrimSuffix(filepath.Base(archive), ".txt") + "/" + name + " " + readOf(t, app)
			rest, read := lastField(line)
			if was, known := before[rest]; known && was != read {
				t.Errorf("%s: the same files and versions, and something else is read: give what reads them a new version", rest)
			}
			lines = append(lines, line+"\n")
		}
	}
	slices.Sort(lines)
	if !t.Failed() {
		golden.Check(t, file, strings.Join(lines, ""))
	}
}

// lastField cuts a line before its last field.
func lastField(line string) (rest, last string) {
	line = strings.TrimSpace(line)
	i := strings.LastIndexByte(line, ' ')
	return line[:max(i, 0)], line[i+1:]
}

// readOf returns the hash of an application's files, the versions of what reads them, and the hash of what it reads.
func readOf(t *testing.T, app map[string]string) string {
	t.Helper()
	content, read, versions := sha256.New(), sha256.New(), map[string]bool{}
	kinds := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(app)) {
		fmt.Fprintf(content, "%s %d\n%s", path, len(app[path]), app[path])
		if l, ok := OfPath(path); ok {
			kinds[l.Name], versions[l.Extractor()] = true, true
			b, err := proto.MarshalOptions{Deterministic: true}.Marshal(factsOf(l, path, []byte(app[path])))
			if err != nil {
				t.Fatal(err)
			}
			read.Write(b)
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
	return fmt.Sprintf("%.4x %s %.8x", content.Sum(nil), strings.Join(slices.Sorted(maps.Keys(versions)), ","), read.Sum(nil))
}
