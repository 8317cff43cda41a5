package scope

import recountv1 "github.com/recountdb/recount/schemas/recount/v1"

// Language describes a language to the code that all engines share.
type Language struct {
	// Name is the name of the resolver with its version, as "python/1". Languages are the
	// languages of the files that it takes.
	Name      string
	Languages []string
	// Outside is the language of externals. Builtin has the names that need no import, Builtins
	// is their module.
	Outside, Builtins string
	Builtin           map[string]bool
	// ReceiverFirst is set if the first parameter of a method is its receiver.
	ReceiverFirst bool
	// MembersHidden is set if members are named through the receiver alone, also in the body of
	// the class.
	MembersHidden bool
	// Exports is set if other files see only what a module exports.
	Exports bool
	// Typed is set if sources declare types. A module is then known by the package that it
	// declares.
	Typed bool
	// Manifests are the languages of the files that the layout is read from.
	Manifests []string
	// Layout returns the layout of a snapshot from the paths of its files and its manifests.
	Layout func(files []string, manifests []Manifest) Layout
}

// Layout finds the module that an import means. Places are paths of files, or of directories of
// packages.
type Layout interface {
	// NameOf returns the name that a file's module has in its package.
	NameOf(file string) string
	// PackageOf returns the directory whose package a file represents, such as that of an
	// __init__.py.
	PackageOf(file string) (dir string, ok bool)
	// Resolve finds the place of what a file imports. If there is none, ours reports whether it
	// should be in the repository.
	Resolve(from string, i *recountv1.Import) (place string, found, ours bool)
	// First returns the place of the package at the head of an import's path.
	First(from string, i *recountv1.Import) (place string, found bool)
	// Below finds a module in the directory of a package.
	Below(dir, name string) (place string, found bool)
	// IsTest reports whether a file contains tests, by its path.
	IsTest(file string) bool
}

// Manifest is a file that says how packages are named and where they are found.
type Manifest struct {
	Path    string
	Content []byte
}

// NoFiles is part of a layout of a language whose imports do not name files.
type NoFiles struct{}

func (NoFiles) NameOf(string) string            { return "" }
func (NoFiles) PackageOf(string) (string, bool) { return "", false }
func (NoFiles) Resolve(string, *recountv1.Import) (string, bool, bool) {
	return "", false, false
}
func (NoFiles) First(string, *recountv1.Import) (string, bool) { return "", false }
func (NoFiles) Below(string, string) (string, bool)            { return "", false }
