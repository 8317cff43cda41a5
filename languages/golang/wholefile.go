package golang

import (
	"fmt"
	"go/token"

	"github.com/recountdb/recount/languages/resolve"
)

// wholeFile is a file that is read completely.
type wholeFile struct {
	resolve.File
	dir     *dir
	content []byte
	source  *source
	names   *declared
}

func (r *wholeFile) load(tree resolve.Tree) error {
	var err error
	if r.content, err = tree.Content(r.File); err != nil {
		return fmt.Errorf("%s: %w", r.Path, err)
	}
	return nil
}

func (r *wholeFile) parse(fset *token.FileSet) {
	r.source = parse(fset, r.File, r.content)
	r.source.built = r.source.built && !r.dir.ignored
	r.names = declare(fset, r.source, r.dir.packageOf(r.source.external()))
}

// readAhead reads the files that differ from the previous snapshot, on all cores.
func (s *step) readAhead() error {
	var all []*wholeFile
	for _, d := range s.layout.sorted {
		var known map[string]*kept
		if was := s.before[d.path]; was != nil {
			if was.importPath == d.importPath && was.key == d.key() {
				continue
			}
			known = was.files
		}
		for _, f := range d.files {
			if f.Skipped == "" && !known[f.Path].same(f) {
				all = append(all, &wholeFile{File: f, dir: d})
			}
		}
	}
	if err := s.parseWhole(all); err != nil {
		return err
	}
	s.ahead = make(map[string]*wholeFile, len(all))
	for _, r := range all {
		s.ahead[r.Path] = r
	}
	return nil
}

// parseWhole reads files on all cores.
func (s *step) parseWhole(all []*wholeFile) error {
	loads := newWorkerPool()
	for _, r := range all {
		loads.run(func() error { return r.load(s.tree) })
	}
	if err := loads.wait(); err != nil {
		return err
	}
	// Each file is parsed into a file set of its own, at the offset that it will have in the
	// step's set, so that positions do not depend on the order of parsing.
	size := 1
	for _, r := range all {
		size += len(r.content) + 1
	}
	room := s.fset.AddFile("", -1, size)
	at := room.Base() + 1
	sets := make([]*token.FileSet, len(all))
	for i, r := range all {
		sets[i] = token.NewFileSet()
		sets[i].AddFile("", at-1, 0)
		at += len(r.content) + 1
	}
	spread(len(all), func(i int) { all[i].parse(sets[i]) })
	s.fset.RemoveFile(room)
	for _, set := range sets {
		set.Iterate(func(f *token.File) bool {
			if f.Name() != "" {
				s.fset.AddExistingFiles(f)
			}
			return true
		})
	}
	return nil
}
