package extract

// #cgo LDFLAGS: -pthread
// #include "parse.h"
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	sitter "github.com/smacker/go-tree-sitter"
)

// Node is one node of a flat tree. C fills it in: the layout is rc_node's.
type Node struct {
	Start, End uint32 // bytes
	Parent     uint32
	Next       uint32 // the first node behind its children
	Kind       uint16
	field      uint8
	Flags      uint8
}

const (
	flagNamed   = 1
	FlagError   = 2
	FlagMissing = 4
	flagExtra   = 8
)

// Grammar is a tree-sitter grammar with the tables for reading its trees.
type Grammar struct {
	kinds  []string // by symbol
	fields []string // by field id
	lang   *C.TSLanguage
}

var countAllocations = sync.OnceFunc(func() { C.rc_init() })

// LoadGrammar reads a grammar's tables once.
func LoadGrammar(get func() *sitter.Language) func() *Grammar {
	return sync.OnceValue(func() *Grammar {
		countAllocations()
		// A sitter.Language is a struct with one pointer, which it does not expose.
		g := &Grammar{lang: (*C.TSLanguage)(*(*unsafe.Pointer)(unsafe.Pointer(get())))}
		for i := range C.ts_language_symbol_count(g.lang) {
			g.kinds = append(g.kinds, C.GoString(C.ts_language_symbol_name(g.lang, C.uint16_t(i))))
		}
		g.fields = append(g.fields, "")
		for i := range C.ts_language_field_count(g.lang) {
			g.fields = append(g.fields, C.GoString(C.ts_language_field_name_for_id(g.lang, C.uint16_t(i+1))))
		}
		if len(g.fields) > 256 {
			panic(fmt.Sprintf("a grammar with %d fields: node.field holds a byte", len(g.fields)))
		}
		return g
	})
}

// Limits of the parser's allocations for a file: workStart bytes plus workPerByte for each
// byte of the file, but at most workMost. Ordinary files need 20 to 200 per byte; a broken
// one of 1 MB that needs more would take minutes.
const (
	workStart   = 8 << 20
	workPerByte = 300
	workMost    = 128 << 20
)

var errWork = errors.New("its syntax errors are too many to recover from")

// Parse returns the flat tree of src. C's allocations are freed when it returns. cut is
// true if the tree is deeper than MaxDepth and was cut there.
func (g *Grammar) Parse(src []byte) (nodes []Node, cut bool, err error) {
	if len(src) == 0 {
		return []Node{{Next: 1}}, false, nil
	}
	budget := min(workStart+workPerByte*len(src), workMost)
	tree := C.rc_parse(g.lang, (*C.char)(unsafe.Pointer(&src[0])), C.uint32_t(len(src)), C.uint64_t(budget))
	if tree == nil {
		return nil, false, errWork
	}
	nodes = make([]Node, C.rc_count(tree))
	var c C.bool
	n := C.rc_flatten(tree, (*C.rc_node)(unsafe.Pointer(&nodes[0])), C.uint32_t(len(nodes)), MaxDepth, &c)
	return nodes[:n], bool(c), nil
}
