package scope

import recountv1 "github.com/recountdb/recount/schemas/recount/v1"

// language is what the engine must know of a language.
type language struct {
	// name is the resolver's, with its version; languages are the files' that it takes.
	name      string
	languages []string
	// outside is the language of what is not of the repository, builtins the module
	// of the names that are there without an import.
	outside, builtins string
	builtin           map[string]bool
	// receiverFirst: a method's first parameter is its receiver.
	receiverFirst bool
	// members are named through the receiver alone, also in the class's own body.
	membersHidden bool
	// exports: other files see what a module exports, not all of its names.
	exports bool
	// typed: sources declare types, and a module is known by the package that it declares.
	typed bool
	// manifests are the languages of the files from which the layout is read.
	manifests []string
	layout    func(files []string, manifests []manifest) layout
}

// layout says which module an import means.
type layout interface {
	// nameOf is the name by which its package knows a file's module.
	nameOf(file string) string
	// packageOf is the directory whose package a file stands for, "" and false where
	// it is no such file.
	packageOf(file string) (dir string, ok bool)
	// resolve finds the place of what a file imports. Where there is none, ours says
	// that it should be one of the repository.
	resolve(from string, i *recountv1.Import) (place string, found, ours bool)
	// first is the place of the package at the head of an import's path.
	first(from string, i *recountv1.Import) (place string, found bool)
	// below finds a module in a package's directory.
	below(dir, name string) (place string, found bool)
	isTest(file string) bool
}

// manifest is a file that says how the files of a language are called and found.
type manifest struct {
	path    string
	content []byte
}

// byName is a layout of a language whose imports name no files.
type byName struct{}

func (byName) nameOf(string) string            { return "" }
func (byName) packageOf(string) (string, bool) { return "", false }
func (byName) resolve(string, *recountv1.Import) (string, bool, bool) {
	return "", false, false
}
func (byName) first(string, *recountv1.Import) (string, bool) { return "", false }
func (byName) below(string, string) (string, bool)            { return "", false }
