package golang

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/golang/bounded"
	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/schemas"
)

// The platform that files are selected for. The host has no influence. Files that use cgo count as
// built: more repositories resolve correctly with cgo than without, and the checker needs no C
// compiler.
const (
	goos, goarch = "linux", "amd64"
	// goMinor is the newest release that build constraints may require, that of package stdlib.
	goMinor = 26
)

// source is one parsed file.
type source struct {
	resolve.File
	content []byte
	// syntax is what the checker reads; decls has the declarations with all their bodies.
	syntax *ast.File
	decls  []ast.Decl
	// carried has, by declaration, the functions whose bodies syntax leaves out; nil if there are
	// none. was is the file that they are carried over from (see part).
	carried []*carried
	was     *kept
	// skeletal is the skeleton, once it has been computed.
	skeletal []byte
	// pkg is the name in the package clause, "" if there is none.
	pkg  string
	test bool // by its name
	// built is true if the build for the default platform includes the file.
	built bool
	// problem is the first syntax error.
	problem string
	// kept is what is known of the file from the previous snapshot, or nil. If it is set, content
	// is the file's skeleton, and no position in it is valid.
	kept *kept
}

// kept is what is kept of a checked file as long as the file does not change.
type kept struct {
	blob string
	// skeleton is the file without the bodies of functions; source and names are its syntax, set
	// when it is first needed.
	skeleton []byte
	source   *source
	names    *declared
	graph    resolve.FileGraph
	local    uint64 // the graph's hash
	facts    facts
	// uses has what the rest depends on, sorted. routing is true if the file imports a framework
	// for routes.
	uses    []mark
	routing bool
	// pkg is the name in its package clause; external is true if it is that of an external test package.
	pkg      string
	external bool
	// head is a hash of the file's beginning; parts has its functions, by their nodes.
	head  uint64
	parts map[schemas.NodeKey]*functionPart
}

// same reports whether a file is known and has not changed.
func (k *kept) same(f resolve.File) bool { return k != nil && k.blob == f.Blob && k.skeleton != nil }

// read returns the syntax of the skeleton.
func (k *kept) read(fset *token.FileSet, f resolve.File, pkg string) (*source, *declared) {
	if k.source == nil {
		k.source = parse(fset, f, k.skeleton)
		k.source.kept = k
		k.names = declare(fset, k.source, pkg)
		k.names.nodes, k.names.edges = nil, nil // the graph has those of the whole file
	}
	return k.source, k.names
}

// position returns the file's entry in a file set, nil if it has none.
func (s *source) position(fset *token.FileSet) *token.File {
	return fset.File(s.syntax.FileStart)
}

// using reports whether the file depends on one of the marks.
func (k *kept) using(changed marks) bool { return usesAny(k.uses, changed) }

// skeleton returns the file without the bodies of functions. It returns nil if the file has syntax
// errors: what the parser makes of those may depend on the text that is cut.
func (s *source) skeleton(fset *token.FileSet) []byte {
	if s.problem != "" || s.skeletal != nil {
		return s.skeletal
	}
	var b []byte
	at := 0
	for _, decl := range s.decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
			from, to := fset.PositionFor(f.Body.Lbrace, false).Offset+1, fset.PositionFor(f.Body.Rbrace, false).Offset
			b = append(b, s.content[at:from]...)
			at = to
		}
	}
	s.skeletal = slices.Clip(append(b, s.content[at:]...))
	return s.skeletal
}

// external reports whether the file belongs to an external test package (package p_test).
func (s *source) external() bool { return s.test && strings.HasSuffix(s.pkg, "_test") }

// parse parses a file into fset. It is a pure function of the last part of the path and the bytes.
// If a file has syntax errors, the result contains what could be parsed.
func parse(fset *token.FileSet, f resolve.File, content []byte) (src *source) {
	src = &source{File: f, content: content, test: strings.HasSuffix(f.Path, "_test.go")}
	defer func() {
		if r := recover(); r != nil { // a bug of the parser must affect only this file
			src.problem = fmt.Sprintf("the parser failed: %v", r)
			src.syntax = &ast.File{Name: &ast.Ident{Name: "_"}}
			src.built = false
		}
	}()
	syntax, err := parser.ParseFile(fset, f.Path, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		src.problem = err.Error()
	}
	if bounded.Nesting(syntax) && src.problem == "" {
		src.problem = extract.TooDeep
	}
	src.syntax, src.decls = syntax, syntax.Decls
	if syntax.Name != nil && syntax.Name.Name != "_" {
		src.pkg = syntax.Name.Name
	}
	src.built = src.pkg != "" && matches(f.Path, content)
	return src
}

// matches applies the file name's suffixes and the build constraints.
func matches(file string, content []byte) bool {
	ctx := build.Context{
		GOOS: goos, GOARCH: goarch, Compiler: "gc", CgoEnabled: true,
		OpenFile: func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
	}
	for minor := 1; minor <= goMinor; minor++ {
		ctx.ReleaseTags = append(ctx.ReleaseTags, fmt.Sprintf("go1.%d", minor))
	}
	ok, err := ctx.MatchFile("/", path.Base(file))
	return ok && err == nil
}
