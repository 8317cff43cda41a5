package formats

import (
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Place is a declaration of a file.
type Place struct {
	File  *File
	Index int
}

// HowKnown says how a name is known that a file has of another: by more than the name
// where they stand in one directory.
func HowKnown(f, to *File) recountv1.Provenance {
	if Dir(f.Path()) == Dir(to.Path()) {
		return ScopeResolved
	}
	return NameMatched
}

// Nearest is the one of several that stands nearest to a file; nil where several do.
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

// SharedDirs is how many directories two paths have in common at their beginning.
func SharedDirs(a, b string) int {
	n := 0
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == '/' {
			n++
		}
	}
	return n
}
