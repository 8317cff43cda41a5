package csharp

import (
	"bytes"
	"regexp"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// extensionWord begins a block of extensions of C# 14: extension(Client client) { … }.
var extensionWord = regexp.MustCompile(`(?m)^[ \t]*(extension)[ \t]*[(<]`)

// openExtensions writes the word as the head of a class with a primary constructor, which the
// grammar parses, without changing any position.
func openExtensions(src []byte) []byte {
	out := bytes.Clone(src)
	for _, m := range extensionWord.FindAllSubmatchIndex(src, -1) {
		copy(out[m[2]:m[3]], "class   E")
	}
	return out
}

// parse parses a file with its blocks of extensions opened. If that gives syntax errors, it also
// tries the file with what the grammar does not know (withBodies, withoutPointerCasts), then with both
// halves of its conditions, and then with the first ones only, and takes the tree with the fewest errors.
func parse(g *extract.Grammar, src []byte) ([]extract.Node, bool, error) {
	text := openExtensions(src)
	nodes, cut, err := g.Parse(text)
	better := func(try []byte) bool {
		again, cutAgain, failed := g.Parse(try)
		if failed != nil || extract.Mistakes(again) >= extract.Mistakes(nodes) {
			return false
		}
		nodes, cut = again, cutAgain
		return true
	}
	for _, rewrite := range []func([]byte) []byte{withBodies, withoutPointerCasts} {
		if err != nil || extract.Mistakes(nodes) == 0 {
			break
		}
		if try := rewrite(text); !bytes.Equal(try, text) && better(try) {
			text = try
		}
	}
	for _, try := range []func() []byte{
		func() []byte { return src },
		func() []byte { return withoutDirectives(text, false) },
		func() []byte { return withoutDirectives(text, true) },
	} {
		if err != nil || extract.Mistakes(nodes) == 0 {
			break
		}
		better(try())
	}
	return nodes, cut, err
}

// bodiless is a type without a body, as C# 12 has it: class Failure : Exception;
var bodiless = regexp.MustCompile(`(?m)^[ \t]*(?:\[[^\]\n]*\][ \t]*)?(?:(?:public|internal|private|protected|static|sealed|abstract|partial|unsafe|file|readonly|ref|new)[ \t]+)*(?:class|struct|interface)[ \t]+\w[^{};]*(;\s)`)

// withBodies writes the semicolon of a type without a body and the white space after it as a body.
func withBodies(src []byte) []byte {
	out := bytes.Clone(src)
	for _, m := range bodiless.FindAllSubmatchIndex(src, -1) {
		copy(out[m[2]:m[3]], "{}")
	}
	return out
}

// pointerCast is a cast to a pointer, with what takes the address and reads it: *(ulong*)&x.
var pointerCast = regexp.MustCompile(`(?:\*[ \t]*)?\([ \t]*\w[\w.]*(?:<[\w., ]*>)?[ \t]*\*+[ \t]*\)(?:[ \t]*&)?`)

// withoutPointerCasts blanks the casts to pointers.
func withoutPointerCasts(src []byte) []byte {
	return pointerCast.ReplaceAllFunc(src, func(cast []byte) []byte { return bytes.Repeat([]byte{' '}, len(cast)) })
}

var directive = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*(if|elif|else|endif)\b.*$`)

// withoutDirectives blanks the lines of #if, #elif, #else and #endif, and, if first is set, all
// halves but the first of each condition. No position changes.
func withoutDirectives(src []byte, first bool) []byte {
	out := bytes.Clone(src)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			if out[i] != '\n' && out[i] != '\r' {
				out[i] = ' '
			}
		}
	}
	var other []int // where the other halves of each open condition begin, 0 in its first one
	for _, m := range directive.FindAllSubmatchIndex(src, -1) {
		blank(m[0], m[1])
		switch word := string(src[m[2]:m[3]]); {
		case word == "if":
			other = append(other, 0)
		case len(other) == 0:
		case word == "endif":
			if from := other[len(other)-1]; first && from > 0 {
				blank(from, m[0])
			}
			other = other[:len(other)-1]
		case other[len(other)-1] == 0:
			other[len(other)-1] = m[1]
		}
	}
	return out
}

// isExtensions reports whether a class is a block of extensions.
func (c *walker) isExtensions(n extract.Ref) bool {
	return bytes.HasPrefix(c.Src[c.Start(n):], []byte("extension"))
}

// extensions walks a block of extensions. Its methods are extension methods of the class around
// it: their first parameter is the block's.
func (c *walker) extensions(n extract.Ref, s state) {
	s.receiver = n
	c.block(c.Field(n, "body"), s)
}

// receive adds the parameter of the block of extensions around a method.
func (c *walker) receive(decl *recountv1.Declaration, s, inside state) {
	own := decl.Attributes[extract.TypeParametersKey]
	c.typeParameters(s.receiver, decl, inside)
	if outer := decl.Attributes[extract.TypeParametersKey]; own != "" && outer != own {
		decl.Attributes[extract.TypeParametersKey] = extract.Clip(outer+", "+own, extract.MaxValue)
	}
	decl.Modifiers = append(decl.Modifiers, "static", "extension")
	decl.Parameters = append(c.parameters(c.FirstOf(s.receiver, "parameter_list"), inside), decl.Parameters...)
}
