package code

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/projections/prolly"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// entry is a file of a tree.
type entry struct {
	path string
	file *recountv1.CodeFile
}

// tree is the files of a snapshot, in memory. It is immutable.
type tree struct {
	repo    string
	root    prolly.Hash
	entries []entry // sorted by path
	// load reads facts.
	load func(blob []byte, language string) (*recountv1.StoredFacts, error)
}

// readTree reads the map `files`.
func readTree(repo string, m *prolly.Map, load func([]byte, string) (*recountv1.StoredFacts, error)) (*tree, error) {
	t := &tree{repo: repo, root: m.Root(), load: load, entries: make([]entry, 0, m.Len())}
	for e, err := range m.All() {
		if err != nil {
			return nil, err
		}
		file := &recountv1.CodeFile{}
		if err := proto.Unmarshal(e.Value, file); err != nil {
			return nil, fmt.Errorf("file %q: %w", e.Key, err)
		}
		t.entries = append(t.entries, entry{string(e.Key), file})
	}
	return t, nil
}

// with returns the tree after changes: files by path, nil for a deleted one.
func (t *tree) with(changes map[string]*recountv1.CodeFile) *tree {
	next := &tree{repo: t.repo, load: t.load, entries: make([]entry, 0, len(t.entries)+len(changes))}
	for _, e := range t.entries {
		if _, changed := changes[e.path]; !changed {
			next.entries = append(next.entries, e)
		}
	}
	for path, file := range changes {
		if file != nil {
			next.entries = append(next.entries, entry{path, file})
		}
	}
	slices.SortFunc(next.entries, func(a, b entry) int { return cmp.Compare(a.path, b.path) })
	return next
}

// differs returns the changes that turn from into t: files by path, nil for a deleted one.
func (t *tree) differs(from *tree) map[string]*recountv1.CodeFile {
	changes := map[string]*recountv1.CodeFile{}
	i := 0
	for _, e := range t.entries {
		for ; i < len(from.entries) && from.entries[i].path < e.path; i++ {
			changes[from.entries[i].path] = nil
		}
		if i < len(from.entries) && from.entries[i].path == e.path {
			if was := from.entries[i].file; was != e.file && !proto.Equal(was, e.file) {
				changes[e.path] = e.file
			}
			i++
			continue
		}
		changes[e.path] = e.file
	}
	for _, gone := range from.entries[i:] {
		changes[gone.path] = nil
	}
	return changes
}

func (t *tree) find(path string) (int, bool) {
	return slices.BinarySearchFunc(t.entries, path, func(e entry, p string) int { return cmp.Compare(e.path, p) })
}

func (e entry) resolved() resolve.File {
	return resolve.File{Path: e.path, Blob: hex.EncodeToString(e.file.Blob), Language: e.file.Language, Skipped: e.file.Skipped}
}

// Repository implements resolve.Tree.
func (t *tree) Repository() string { return t.repo }

// Files implements resolve.Tree.
func (t *tree) Files(dir string) iter.Seq[resolve.File] {
	if dir != "" && !strings.HasSuffix(dir, "/") {
		dir += "/"
	}
	return func(yield func(resolve.File) bool) {
		i, _ := t.find(dir)
		for ; i < len(t.entries) && strings.HasPrefix(t.entries[i].path, dir); i++ {
			if !yield(t.entries[i].resolved()) {
				return
			}
		}
	}
}

// File implements resolve.Tree.
func (t *tree) File(path string) (resolve.File, bool) {
	i, ok := t.find(path)
	if !ok {
		return resolve.File{}, false
	}
	return t.entries[i].resolved(), true
}

// Facts implements resolve.Tree.
func (t *tree) Facts(f resolve.File) (*recountv1.FileFacts, error) {
	if f.Skipped != "" {
		return nil, nil
	}
	blob, err := hex.DecodeString(f.Blob)
	if err != nil {
		return nil, fmt.Errorf("%s: object id %q: %w", f.Path, f.Blob, err)
	}
	s, err := t.load(blob, f.Language)
	if err != nil {
		return nil, fmt.Errorf("facts of %s: %w", f.Path, err)
	}
	return s.GetFacts(), nil
}

// Content implements resolve.Tree.
func (t *tree) Content(f resolve.File) ([]byte, error) {
	facts, err := t.Facts(f)
	if err != nil {
		return nil, err
	}
	if facts.GetContentZstd() == nil {
		return nil, fmt.Errorf("%s: its facts carry no content", f.Path)
	}
	b, err := schemas.Decompress(facts.ContentZstd, maxFacts)
	if err != nil {
		return nil, fmt.Errorf("content of %s: %w", f.Path, err)
	}
	return b, nil
}
