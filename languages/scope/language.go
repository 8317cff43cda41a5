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
	// constructor is the method that making an instance calls.
	constructor string
	// receiverFirst: a method's first parameter is its receiver.
	receiverFirst bool
	// members are named through the receiver alone, also in the class's own body.
	membersHidden bool
	// exports: other files see what a module exports, not all of its names.
	exports bool
	// stub finds what a name of generated gRPC code is; nil where none is known.
	stub func(pkg, name string) (s stub, rest string, ok bool)
	// loads reports whether calling a name of elsewhere reads .proto files.
	loads func(pkg, name string) bool
	// served is how many parameters a method that serves has, where its generated
	// base does not say which methods do.
	served int
	// typed is set where sources declare types: nothing flows, see typer.
	typed *typedLanguage
	// items: what is declared says what a variable may be, members may be declared apart
	// from their type, and modules inside of files. See rust_items.go.
	items bool
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
