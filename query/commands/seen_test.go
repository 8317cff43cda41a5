package commands

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func TestChangesOf(t *testing.T) {
	one, two := []byte("1"), []byte("2")
	file := func(path string, was, is []byte) *recountv1.WrittenFile {
		return &recountv1.WrittenFile{Path: path, Sha256: is, WasSha256: was, Size: 1}
	}
	gone := &recountv1.WrittenFile{Path: "/src/b/gone", WasSha256: one, Removed: true}
	large := &recountv1.WrittenFile{Path: "/src/b/large", Size: 1 << 20}
	for name, test := range map[string]struct {
		files      []*recountv1.WrittenFile
		want       map[string]string
		remembered bool
	}{
		"a recorder that remembers": {
			[]*recountv1.WrittenFile{file("/src/.git/index", one, two), file("/src/a", one, two), file("/src/b/new", nil, two), file("/src/b/same", one, one), gone, large},
			map[string]string{"/src/.git/index": "changed", "/src/a": "changed", "/src/b/gone": "removed", "/src/b/large": "written", "/src/b/new": "created", "/src/b/same": "touched"},
			false,
		},
		"one that does not": {
			[]*recountv1.WrittenFile{file("/src/a", nil, two), file("/src/b/new", nil, two)},
			map[string]string{"/src/a": "changed", "/src/b/new": "written"},
			false,
		},
		"one that says that it does": {
			[]*recountv1.WrittenFile{file("/src/b/new", nil, two), large},
			map[string]string{"/src/b/new": "created", "/src/b/large": "written"},
			true,
		},
	} {
		got := map[string]string{}
		c := changesOf(&recountv1.Changes{Below: "/src", LookedAt: timestamppb.Now(), Directories: []string{"/src/b"}, Files: test.files, Remembered: test.remembered})
		for _, f := range c.Files {
			got[f.Path] = f.Change
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if last := c.Files[len(c.Files)-1].Path; len(test.files) == 6 && last != "/src/.git/index" {
			t.Errorf("%s: the last is %s; want what git stores", name, last)
		}
	}
	if changesOf(nil) != nil {
		t.Error("changes where no recorder looked")
	}
}
