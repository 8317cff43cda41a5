// Package proto extracts and resolves Protocol Buffers.
package proto

import (
	"bytes"
	"strings"

	"github.com/smacker/go-tree-sitter/protobuf"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// extractor reads messages with their fields, enums, services and their procedures. Procedures
// refer to the types that they take and return. The options that name generated code are
// attributes of services; google.api.http gives routes, whose declarations are procedures.
var extractor = extract.Language{
	Name: "proto", Version: 2, Matches: extract.Suffixed(".proto"),
	Extract: extract.Repaired(extract.LoadGrammar(protobuf.GetLanguage), repairProto, func(f *extract.File) {
		p := &walker{File: f, options: map[string]string{}}
		for c := range p.Children(0) {
			switch p.Kind(c) {
			case "package":
				p.Facts.Package = extract.Clip(extract.OneLine(p.Text(p.Child(c, 0))), extract.MaxName)
			case "option":
				name := strings.Join(strings.Fields(p.Text(p.Child(c, 0))), "")
				if protoOptions[name] {
					p.options[name] = extract.Clip(p.literal(p.Child(c, 1)), extract.MaxValue)
				}
			}
		}
		p.block(0, 0)
	}),
}

// protoOptions are the file options that name the generated code.
var protoOptions = map[string]bool{"go_package": true, "java_package": true, "csharp_namespace": true}

type walker struct {
	*extract.File
	options map[string]string
}

// repairProto rewrites proto2 and editions as proto3, which the grammar parses, and blanks what
// proto3 does not have: ranges of extension numbers, and extensions, whose fields belong to
// messages of other files. It blanks reserved names and numbers too, of which the grammar knows
// only some forms.
func repairProto(src []byte) []byte {
	out := append([]byte(nil), src...)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	for at := 0; at < len(src); {
		i, word := protoWord(src, at)
		if i < 0 {
			break
		}
		at = i + len(word)
		switch word {
		case "syntax":
			if end := at + bytes.IndexByte(src[at:], ';'); end > at {
				if j := bytes.Index(src[at:end], []byte("proto2")); j >= 0 {
					out[at+j+5] = '3'
				}
			}
		case "edition":
			if end := at + bytes.IndexByte(src[at:], ';'); end > at && bytes.Contains(src[at:end], []byte("=")) {
				blank(i, end+1)
				at = end
			}
		case "required":
			copy(out[i:], "optional")
		case "extensions":
			for at < len(src) && src[at] != ';' && src[at] != '{' && src[at] != '}' {
				at++
			}
			if at < len(src) && src[at] == ';' {
				blank(i, at+1)
			}
		case "reserved":
			if end := reservedEnd(src, at); end > 0 {
				blank(i, end)
				at = end
			}
		case "extend":
			open := at
			for open < len(src) && src[open] != '{' && src[open] != ';' && src[open] != '=' {
				open++
			}
			if open == len(src) || src[open] != '{' {
				continue
			}
			depth := 0
			for at = open; at < len(src); at++ {
				if src[at] == '{' {
					depth++
				} else if src[at] == '}' {
					if depth--; depth == 0 {
						at++
						break
					}
				}
			}
			blank(i, at)
		}
	}
	return out
}

// reservedEnd returns the end of a statement that reserves names or numbers, from behind its first
// word on; 0 if it is another statement, as that of a field with this name.
func reservedEnd(src []byte, at int) int {
	begin := at
	for at < len(src) {
		switch c := src[at]; {
		case c == ';' && len(bytes.TrimSpace(src[begin:at])) > 0:
			return at + 1
		case c == '"' || c == '\'':
			end := bytes.IndexByte(src[at+1:], c)
			if end < 0 {
				return 0
			}
			at += end + 2
		case c == ',' || c == '-' || c == ' ' || c == '\t' || c == '\n' || c == '\r' || extract.IsWordByte(c):
			at++
		default:
			return 0
		}
	}
	return 0
}

// protoWord returns the next word from at on that begins a statement, outside comments and
// strings.
func protoWord(src []byte, at int) (int, string) {
	for at < len(src) {
		switch c := src[at]; {
		case c == '/' && at+1 < len(src) && src[at+1] == '/':
			for at < len(src) && src[at] != '\n' {
				at++
			}
		case c == '/' && at+1 < len(src) && src[at+1] == '*':
			end := bytes.Index(src[at+2:], []byte("*/"))
			if end < 0 {
				return -1, ""
			}
			at += end + 4
		case c == '"' || c == '\'':
			for at++; at < len(src) && src[at] != c && src[at] != '\n'; at++ {
				if src[at] == '\\' {
					at++
				}
			}
			at++
		case extract.IsWordByte(c):
			from := at
			for at < len(src) && extract.IsWordByte(src[at]) {
				at++
			}
			return from, string(src[from:at])
		default:
			at++
		}
	}
	return -1, ""
}

// block walks the statements of a file, a message or a service.
func (p *walker) block(n extract.Ref, in uint32) {
	for c := range p.Children(n) {
		switch p.Kind(c) {
		case "import":
			if path := p.literal(p.Field(c, "path")); path != "" {
				p.AddImport(in, path, c).Export = p.Has(c, "public")
			}
		case "message":
			p.named(c, recountv1.SymbolKind_SYMBOL_KIND_MESSAGE, "message_body", in)
		case "enum":
			p.named(c, recountv1.SymbolKind_SYMBOL_KIND_ENUM, "enum_body", in)
		case "service":
			p.service(c, in)
		case "field", "map_field", "oneof_field":
			p.messageField(c, in)
		case "oneof", "ERROR":
			p.block(c, in)
		case "enum_field":
			p.Declare(extract.Declaration{Kind: recountv1.SymbolKind_SYMBOL_KIND_ENUM_MEMBER, Name: p.Text(p.Child(c, 0)), In: in, Node: c, Doc: p.CommentBefore(c), Head: p.statementEnd(c)})
			p.Facts.Declarations[len(p.Facts.Declarations)-1].Exported = true
		}
	}
}

// named declares a message or an enum and what is in its body.
func (p *walker) named(n extract.Ref, kind recountv1.SymbolKind, body string, in uint32) {
	b := p.FirstOf(n, body)
	d := extract.Declaration{Kind: kind, Name: p.Text(p.Child(n, 0)), In: in, Node: n, Doc: p.CommentBefore(n)}
	if b != extract.None {
		d.Head = p.Start(b)
	}
	inner, decl := p.Declare(d)
	decl.Exported = true
	if b != extract.None {
		p.block(b, inner)
	}
}

func (p *walker) service(n extract.Ref, in uint32) {
	d := extract.Declaration{Kind: recountv1.SymbolKind_SYMBOL_KIND_SERVICE, Name: p.Text(p.Child(n, 0)), In: in, Node: n, Doc: p.CommentBefore(n)}
	if brace := p.FirstOf(n, "{"); brace != extract.None {
		d.Head = p.Start(brace)
	}
	inner, decl := p.Declare(d)
	decl.Exported = true
	if len(p.options) > 0 {
		decl.Attributes = p.options
	}
	for c := range p.Children(n) {
		if p.Kind(c) == "rpc" {
			p.procedure(c, inner)
		}
	}
}

// procedure declares an rpc. Its attributes say which sides stream.
func (p *walker) procedure(n extract.Ref, in uint32) {
	d := extract.Declaration{Kind: recountv1.SymbolKind_SYMBOL_KIND_RPC, Name: p.Text(p.Child(n, 0)), In: in, Node: n, Doc: p.CommentBefore(n), Head: p.statementEnd(n)}
	if brace := p.FirstOf(n, "{"); brace != extract.None {
		d.Head = p.Start(brace)
	}
	inner, decl := p.Declare(d)
	decl.Exported = true
	side, streams := "request", map[string]string{}
	for c := p.First(n); c != extract.None; c = p.Next(c) {
		switch p.Kind(c) {
		case "stream":
			streams[side+"_stream"] = "true"
		case "message_or_enum_type":
			p.typeOf(c, inner)
			if side == "response" {
				decl.Type = extract.KnownPath(p.typePath(c))
			}
			side = "response"
		case "option":
			name := strings.Join(strings.Fields(p.Text(c)), "")
			if strings.HasPrefix(name, "option(google.api.http)") {
				p.httpRule(p.FirstOf(p.FirstOf(c, "constant"), "block_lit"), inner)
			}
		}
	}
	if len(streams) > 0 {
		decl.Attributes = streams
	}
}

// httpRule adds the routes of a google.api.http option: verb and pattern, with the kind of
// `custom` as the verb, and those of additional bindings.
func (p *walker) httpRule(block extract.Ref, in uint32) {
	if block == extract.None {
		return
	}
	var values []extract.Ref
	var keys []string
	for c := range p.Children(block) {
		if p.Kind(c) == "constant" {
			values = append(values, c)
		} else if len(keys) == len(values) {
			keys = append(keys, p.Text(c))
		}
	}
	find := func(n extract.Ref, key string) string {
		last := ""
		for c := range p.Children(n) {
			if p.Kind(c) != "constant" {
				last = p.Text(c)
			} else if last == key {
				return p.literal(c)
			}
		}
		return ""
	}
	for i, v := range values {
		if i >= len(keys) {
			return
		}
		method, pattern := "", ""
		switch keys[i] {
		case "get", "put", "post", "delete", "patch":
			method, pattern = strings.ToUpper(keys[i]), p.literal(v)
		case "custom":
			custom := p.FirstOf(v, "block_lit")
			method, pattern = strings.ToUpper(find(custom, "kind")), find(custom, "path")
		case "additional_bindings":
			if inner := p.FirstOf(v, "block_lit"); inner != extract.None {
				p.httpRule(inner, in)
			}
			for c := range p.Children(p.FirstOf(v, "list_lit")) {
				p.httpRule(c, in)
			}
		}
		if method == "*" {
			method = "ANY"
		}
		if pattern != "" && method != "" {
			p.AddRoute(&recountv1.RouteFact{Method: extract.Clip(method, 16), Pattern: pattern, Framework: "google.api.http", In: in}, v)
		}
	}
}

func (p *walker) messageField(n extract.Ref, in uint32) {
	name, typ := extract.None, extract.None
	for c := range p.Children(n) {
		switch p.Kind(c) {
		case "type":
			typ = c
		case "identifier":
			if name == extract.None {
				name = c
			}
		}
	}
	inner, decl := p.Declare(extract.Declaration{Kind: recountv1.SymbolKind_SYMBOL_KIND_FIELD, Name: p.Text(name), In: in, Node: n, Doc: p.CommentBefore(n), Head: p.statementEnd(n)})
	decl.Exported = true
	decl.Type = extract.Clip(extract.OneLine(p.Text(typ)), extract.MaxPath)
	if t := p.FirstOf(typ, "message_or_enum_type"); t != extract.None {
		p.typeOf(t, inner)
	}
}

// statementEnd returns where a statement ends, without its semicolon.
func (p *walker) statementEnd(n extract.Ref) uint32 {
	if semi := p.FirstOf(n, ";"); semi != extract.None {
		return p.Start(semi)
	}
	return p.End(n)
}

// typeOf adds a reference to the message or enum that a type names.
func (p *walker) typeOf(n extract.Ref, in uint32) {
	p.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, in, p.typePath(n), n)
}

// typePath returns the name of a type, with a leading dot if it is the full name.
func (p *walker) typePath(n extract.Ref) string {
	return extract.Checked(strings.Join(strings.Fields(p.Text(n)), ""))
}

// literal returns the text of a string, or of another constant.
func (p *walker) literal(n extract.Ref) string {
	if p.Kind(n) == "constant" {
		n = p.FirstOf(n, "string")
	}
	text := p.Text(n)
	if p.Kind(n) != "string" || len(text) < 2 {
		return ""
	}
	return text[1 : len(text)-1]
}
