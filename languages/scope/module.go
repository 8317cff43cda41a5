package scope

import (
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Module is a file, or the directory of a package.
type Module struct {
	Place     string // the path of the file, or of the package's directory
	dir       string // of the package
	isPackage bool
	Test      bool
	Example   bool   // it shows how to use the others
	Name      string // with dots
	File      resolve.File
	Facts     *recountv1.FileFacts // nil for a directory without __init__.py
	names     resolve.Declared
	Scope     *Scope
	// Scopes and Decls are indexed as `in` of the facts, less 1 for Decls; Scopes[0] is the
	// module's.
	Scopes []*Scope
	Decls  []*Decl
	Stars  []Imported
	script answer // whether it is a script; see shared.go
	// Exports are the variables that other files see, if the language has exports.
	Exports map[string]*Variable
	// assigned has what is assigned to attributes of the module, or of an object made with it as its
	// prototype, besides what it exports.
	assigned map[string]*Variable
	// Typedefs has what comments say of the types that they declare.
	Typedefs map[string][]string
	// Up is the module around this one and Root the file of its crate, if modules form a tree.
	Up, Root *Module
	// Calls has the calls of each path in each declaration.
	Calls map[CallSite][]*recountv1.Reference
	paths map[string]Path
}

// CallSite is a path that is called in a declaration.
type CallSite struct {
	In   uint32
	Path string
}

// Imported is what an import binds a name to: a module, or a name in it.
type Imported struct {
	Mod     *Module // nil if the module is outside the repository; Outside is its name then
	Outside string
	Name    string
}

// Decl returns the declaration with an index as `in` of the facts has it, nil for 0.
func (m *Module) Decl(in uint32) *Decl {
	if in == 0 || int(in) > len(m.Decls) {
		return nil
	}
	return m.Decls[in-1]
}

// ScopeOf returns the scope inside a declaration, the module's for 0.
func (m *Module) ScopeOf(in uint32) *Scope {
	if int(in) >= len(m.Scopes) {
		return m.Scope
	}
	return m.Scopes[in]
}

// Key returns the key of the node of a declaration, the file's for 0.
func (m *Module) Key(in uint32) schemas.NodeKey {
	if d := m.Decl(in); d != nil {
		return d.Key
	}
	return resolve.FileKey(m.File.Path)
}

// Path returns the parsed form of a path.
func (m *Module) Path(text string) Path {
	p, ok := m.paths[text]
	if !ok {
		p = ParsePath(text)
		m.paths[text] = p
	}
	return p
}

// examples are the folders of code that shows how to use the rest of a repository.
var examples = WordSet("example examples demo demos sample samples playground playgrounds")

func isExample(file string) bool {
	for dir := range strings.SplitSeq(DirOf(file), "/") {
		if examples[dir] {
			return true
		}
	}
	return false
}

// Sees reports whether code of m may use what another module declares: only tests use tests, and only tests and examples use
// examples, which are known in languages with exports.
func (m *Module) Sees(of *Module) bool {
	return m.Test || !of.Test && (m.Example || !of.Example)
}
