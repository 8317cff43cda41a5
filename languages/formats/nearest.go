package formats

import (
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Place is a declaration in a file.
type Place struct {
	File  *File
	Index int
}

// HowKnown returns the provenance of a name in f that a declaration in the file to has: more than
// a name match if the files are in the same directory.
func HowKnown(f, to *File) recountv1.Provenance {
	if Dir(f.Path()) == Dir(to.Path()) {
		return ScopeResolved
	}
	return NameMatched
}

// Nearest returns the element whose path is nearest to a file: the file itself, then its
// directory, then the directory that shares the most of its path. It returns nil if several are
// equally near.
func Nearest[T any](f *File, all []T, path func(T) string) *T {
	best, times := -1, 0
	var one *T
	for i := range all {
		p := path(all[i])
		near := SharedDirs(p, f.Path()) * 4
		switch {
		case p == f.Path():
			near += 3
		case Dir(p) == Dir(f.Path()):
			near += 2
		}
		if near > best {
			best, times, one = near, 0, &all[i]
		}
		if near == best {
			times++
		}
	}
	if times != 1 {
		return nil
	}
	return one
}

// SharedDirs returns the number of directories that two paths have in common at their beginning.
func SharedDirs(a, b string) int {
	n := 0
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == '/' {
			n++
		}
	}
	return n
}
