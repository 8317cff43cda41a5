// Package resolvetest helps to test resolvers. It makes snapshots from a text archive, a
// directory or a map, checks the contract of resolve.Resolver, and writes graphs as text.
//
// A test of what a resolver finds is
//
//	resolvetest.Edges(t, NewResolver(), extract.Facts(Language.Files...), archive, want, "calls")
//
// and Series tests that the answer for a commit does not depend on earlier answers.
package resolvetest

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/recountdb/recount/languages/resolve"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Repository is the name of the repository of all trees here.
const Repository = "test/repo"

// Extract fills in the facts of a file and its language, as extract.Facts does. The path, blob
// and size are set already. Nil leaves the facts as they are.
type Extract func(content []byte, facts *recountv1.FileFacts)

// Tree is a snapshot in memory.
type Tree struct {
	files   map[string]file
	paths   []string
	extract Extract
}

type file struct {
	resolve.File
	content []byte
	facts   *recountv1.FileFacts
}

var _ resolve.Tree = (*Tree)(nil)

// New returns a tree of contents by path.
func New(files map[string]string, extract Extract) *Tree {
	t := &Tree{files: make(map[string]file, len(files)), extract: extract}
	for p, content := range files {
		t.files[p] = t.read(p, []byte(content))
	}
	t.paths = slices.Sorted(maps.Keys(t.files))
	return t
}

// Archive returns a tree of the files of a text archive (golang.org/x/tools/txtar).
func Archive(tb testing.TB, archive string, extract Extract) *Tree {
	tb.Helper()
	files := map[string]string{}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		if _, twice := files[f.Name]; twice {
			tb.Fatalf("the archive has %s twice", f.Name)
		}
		files[f.Name] = string(f.Data)
	}
	return New(files, extract)
}

// Dir returns a tree of the files below a directory for which want returns true; nil takes all.
// It leaves out hidden directories.
func Dir(fsys fs.FS, want func(path string) bool, extract Extract) (*Tree, error) {
	files := map[string]string{}
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case !d.Type().IsRegular() || want != nil && !want(p):
			return nil
		}
		content, err := fs.ReadFile(fsys, p)
		files[p] = string(content)
		return err
	})
	if err != nil {
		return nil, err
	}
	return New(files, extract), nil
}

// With returns the tree with some files added or changed, and without those in gone.
func (t *Tree) With(changed map[string]string, gone ...string) *Tree {
	next := &Tree{files: maps.Clone(t.files), extract: t.extract}
	for p, content := range changed {
		next.files[p] = next.read(p, []byte(content))
	}
	for _, p := range gone {
		delete(next.files, p)
	}
	next.paths = slices.Sorted(maps.Keys(next.files))
	return next
}

// Change returns the change from base to the tree; nil is an empty base.
func (t *Tree) Change(base *Tree) resolve.Change {
	if base == nil {
		return resolve.Change{Paths: t.paths}
	}
	c := resolve.Change{Base: base}
	for _, p := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(base.paths, t.paths)))) {
		was, is := base.files[p], t.files[p]
		if was.Blob != is.Blob {
			c.Paths = append(c.Paths, p)
		}
	}
	return c
}

// Repository implements resolve.Tree.
func (t *Tree) Repository() string { return Repository }

// Files implements resolve.Tree.
func (t *Tree) Files(dir string) iter.Seq[resolve.File] {
	return func(yield func(resolve.File) bool) {
		for _, p := range t.paths {
			if (dir == "" || strings.HasPrefix(p, dir+"/")) && !yield(t.files[p].File) {
				return
			}
		}
	}
}

// File implements resolve.Tree.
func (t *Tree) File(path string) (resolve.File, bool) {
	f, ok := t.files[path]
	return f.File, ok
}

// Facts implements resolve.Tree.
func (t *Tree) Facts(f resolve.File) (*recountv1.FileFacts, error) {
	have, ok := t.files[f.Path]
	if !ok || have.Blob != f.Blob {
		return nil, fmt.Errorf("%s: no such file in the tree", f.Path)
	}
	return have.facts, nil
}

// Content implements resolve.Tree.
func (t *Tree) Content(f resolve.File) ([]byte, error) {
	have, ok := t.files[f.Path]
	if !ok || have.Blob != f.Blob {
		return nil, fmt.Errorf("%s: no such file in the tree", f.Path)
	}
	return have.content, nil
}

func (t *Tree) read(p string, content []byte) file {
	sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content))
	f := file{File: resolve.File{Path: p, Blob: hex.EncodeToString(sum[:])}, content: content}
	f.facts = &recountv1.FileFacts{
		Repository: Repository, Path: p, Blob: f.Blob, Language: f.Language, Size: int64(len(content)),
	}
	if t.extract != nil {
		t.extract(content, f.facts)
		f.Language, f.Skipped = f.facts.Language, f.facts.Skipped
	}
	return f
}
