package scope

import recountv1 "github.com/recountdb/recount/schemas/recount/v1"

// Language is what the engine must know of a language.
type Language struct {
	// Name is the resolver's, with its version; languages are the files' that it takes.
	Name      string
	Languages []string
	// Outside is the language of what is not of the repository, builtins the module
	// of the names that are there without an import.
	Outside, Builtins string
	Builtin           map[string]bool
	// ReceiverFirst: a method's first parameter is its receiver.
	ReceiverFirst bool
	// members are named through the receiver alone, also in the class's own body.
	MembersHidden bool
	// Exports: other files see what a module exports, not all of its names.
	Exports bool
	// Typed: sources declare types, and a module is known by the package that it declares.
	Typed bool
	// Manifests are the languages of the files from which the layout is read.
	Manifests []string
	Layout    func(files []string, manifests []Manifest) Layout
}

// Layout says which module an import means.
type Layout interface {
	// NameOf is the name by which its package knows a file's module.
	NameOf(file string) string
	// PackageOf is the directory whose package a file stands for, "" and false where
	// it is no such file.
	PackageOf(file string) (dir string, ok bool)
	// Resolve finds the place of what a file imports. Where there is none, ours says
	// that it should be one of the repository.
	Resolve(from string, i *recountv1.Import) (place string, found, ours bool)
	// First is the place of the package at the head of an import's path.
	First(from string, i *recountv1.Import) (place string, found bool)
	// Below finds a module in a package's directory.
	Below(dir, name string) (place string, found bool)
	IsTest(file string) bool
}

// Manifest is a file that says how the files of a language are called and found.
type Manifest struct {
	Path    string
	Content []byte
}

// NoFiles is a layout of a language whose imports name no files.
type NoFiles struct{}

func (NoFiles) NameOf(string) string            { return "" }
func (NoFiles) PackageOf(string) (string, bool) { return "", false }
func (NoFiles) Resolve(string, *recountv1.Import) (string, bool, bool) {
	return "", false, false
}
func (NoFiles) First(string, *recountv1.Import) (string, bool) { return "", false }
func (NoFiles) Below(string, string) (string, bool)            { return "", false }
