package replaying

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/sandbox"
)

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

func TestDifferences(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"same": "a", "other": "b", "gone/f": "a", "stays": "a", "out/b-0b1f.js": "a"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file := func(name, text string) replay.Postcondition {
		return replay.Postcondition{Kind: replay.PostFile, Target: filepath.Join(dir, name), Hash: sum(text)}
	}
	absent := func(name string) replay.Postcondition {
		return replay.Postcondition{Kind: replay.PostAbsent, Target: filepath.Join(dir, name)}
	}
	p := &replay.Plan{Ends: []replay.Postcondition{
		file("same", "a"), file("other", "a"), file("gone/f", "a"), absent("stays"), absent("never"), file("new", "n"), file("newer", "n"), file("none", "n"),
		file("log-1.txt", "n"), file("log-2-old.txt", "n"), file("cache/s-17ax/f", "n"), file("cache/s-18ax/f", "n"), file("cache/t", "n"),
		file("out/b-0c2e.js", "n"), file("out/c-0c2e.js", "n"),
		{Kind: replay.PostFile, Target: "/elsewhere/f", Hash: sum("a")},
	}}
	changes := []sandbox.Change{
		{Path: "gone", Kind: sandbox.Removed, Old: &sandbox.Entry{Mode: fs.ModeDir}},
		{Path: "gone/f", Kind: sandbox.Removed, Old: &sandbox.Entry{}},
		{Path: "log-2.txt", Kind: sandbox.Added, New: &sandbox.Entry{}}, // as log-$(date +%s).txt
		{Path: "cache", Kind: sandbox.Added, New: &sandbox.Entry{Mode: fs.ModeDir}},
		{Path: "cache/s-19by", Kind: sandbox.Added, New: &sandbox.Entry{Mode: fs.ModeDir}},
		{Path: "cache/s-19by/f", Kind: sandbox.Added, New: &sandbox.Entry{}},
		{Path: "cache/u", Kind: sandbox.Added, New: &sandbox.Entry{}},
		{Path: "again/log", Kind: sandbox.Added, New: &sandbox.Entry{Hash: sum("nn")}},
		{Path: "new", Kind: sandbox.Added, New: &sandbox.Entry{Hash: sum("n")}},
		{Path: "newer", Kind: sandbox.Added, New: &sandbox.Entry{Hash: sum("m")}},
	}
	var got []string
	for _, d := range differences(p, dir, changes, []string{filepath.Join(dir, "again")}) {
		name, _ := filepath.Rel(dir, d.Path)
		got = append(got, name+" "+d.What)
	}
	want := []string{"gone/f missing", "stays present", "none missing", "log-2-old.txt missing", "cache/t missing", "out/c-0c2e.js missing", "other content", "newer content"}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestReasonOfAnotherEnd(t *testing.T) {
	for want, all := range map[string][]Difference{
		"": {{"/a", Content}},
		"not as at the end of what was recorded: /a is missing":                        {{"/a", Missing}},
		"not as at the end of what was recorded: /a is there, and was not, and 2 more": {{"/a", Present}, {"/b", Missing}, {"/c", Content}},
	} {
		if got := reason(all); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
