package extract

import (
	"bytes"
	"strings"

	"github.com/smacker/go-tree-sitter/protobuf"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Protocol Buffers: messages with their fields, enums, services and their
// procedures, whose references are the types that they take and give. The options
// that name what is generated for a language stand with the services, as
// attributes; google.api.http gives routes, in the procedures.
var protoLanguage = Language{
	Name: "proto", Version: 1, Matches: suffixed(".proto"),
	Extract: repaired(loadGrammar(protobuf.GetLanguage), repairProto, func(f *file) {
		p := &protoFile{file: f, options: map[string]string{}}
		for c := range p.children(0) {
			switch p.kind(c) {
			case "package":
				p.facts.Package = clip(oneLine(p.text(p.child(c, 0))), maxName)
			case "option":
				name := strings.Join(strings.Fields(p.text(p.child(c, 0))), "")
				if protoOptions[name] {
					p.options[name] = clip(p.literal(p.child(c, 1)), maxValue)
				}
			}
		}
		p.block(0, 0)
	}),
}

// protoOptions are the file options that name the generated code.
var protoOptions = map[string]bool{"go_package": true, "java_package": true, "csharp_namespace": true}

type protoFile struct {
	*file
	options map[string]string
}

// repairProto writes proto2 and editions as the grammar's proto3, and blanks what
// proto3 does not have: ranges of extension numbers, and what is extended. Its fields
// belong to messages of elsewhere.
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

// protoWord finds the next word from at on that begins a statement: outside of
// comments and strings.
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
		case isWordByte(c):
			from := at
			for at < len(src) && isWordByte(src[at]) {
				at++
			}
			return from, string(src[from:at])
		default:
			at++
		}
	}
	return -1, ""
}

func isWordByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// block walks the statements of a file, a message or a service.
func (p *protoFile) block(n ref, in uint32) {
	for c := range p.children(n) {
		switch p.kind(c) {
		case "import":
			if path := p.literal(p.field(c, "path")); path != "" {
				p.addImport(in, path, c).Export = p.has(c, "public")
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
			p.declare(declaration{kind: recountv1.SymbolKind_SYMBOL_KIND_ENUM_MEMBER, name: p.text(p.child(c, 0)), in: in, node: c, doc: p.commentBefore(c), head: p.statementEnd(c)})
			p.facts.Declarations[len(p.facts.Declarations)-1].Exported = true
		}
	}
}

// named declares a message or an enum, with what is in its body.
func (p *protoFile) named(n ref, kind recountv1.SymbolKind, body string, in uint32) {
	b := p.firstOf(n, body)
	d := declaration{kind: kind, name: p.text(p.child(n, 0)), in: in, node: n, doc: p.commentBefore(n)}
	if b != none {
		d.head = p.start(b)
	}
	inner, decl := p.declare(d)
	decl.Exported = true
	if b != none {
		p.block(b, inner)
	}
}

func (p *protoFile) service(n ref, in uint32) {
	d := declaration{kind: recountv1.SymbolKind_SYMBOL_KIND_SERVICE, name: p.text(p.child(n, 0)), in: in, node: n, doc: p.commentBefore(n)}
	if brace := p.firstOf(n, "{"); brace != none {
		d.head = p.start(brace)
	}
	inner, decl := p.declare(d)
	decl.Exported = true
	if len(p.options) > 0 {
		decl.Attributes = p.options
	}
	for c := range p.children(n) {
		if p.kind(c) == "rpc" {
			p.procedure(c, inner)
		}
	}
}

// procedure declares an rpc: its attributes say which side streams.
func (p *protoFile) procedure(n ref, in uint32) {
	d := declaration{kind: recountv1.SymbolKind_SYMBOL_KIND_RPC, name: p.text(p.child(n, 0)), in: in, node: n, doc: p.commentBefore(n), head: p.statementEnd(n)}
	if brace := p.firstOf(n, "{"); brace != none {
		d.head = p.start(brace)
	}
	inner, decl := p.declare(d)
	decl.Exported = true
	side, streams := "request", map[string]string{}
	for c := p.first(n); c != none; c = p.next(c) {
		switch p.kind(c) {
		case "stream":
			streams[side+"_stream"] = "true"
		case "message_or_enum_type":
			p.typeOf(c, inner)
			if side == "response" {
				decl.Type = knownPath(p.typePath(c))
			}
			side = "response"
		case "option":
			name := strings.Join(strings.Fields(p.text(c)), "")
			if strings.HasPrefix(name, "option(google.api.http)") {
				p.httpRule(p.firstOf(p.firstOf(c, "constant"), "block_lit"), inner)
			}
		}
	}
	if len(streams) > 0 {
		decl.Attributes = streams
	}
}

// httpRule adds the routes of a google.api.http option: verb and pattern, those of
// `custom` by its kind, and the additional bindings'.
func (p *protoFile) httpRule(block ref, in uint32) {
	if block == none {
		return
	}
	var values []ref
	var keys []string
	for c := range p.children(block) {
		if p.kind(c) == "constant" {
			values = append(values, c)
		} else if len(keys) == len(values) {
			keys = append(keys, p.text(c))
		}
	}
	find := func(n ref, key string) string {
		last := ""
		for c := range p.children(n) {
			if p.kind(c) != "constant" {
				last = p.text(c)
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
			custom := p.firstOf(v, "block_lit")
			method, pattern = strings.ToUpper(find(custom, "kind")), find(custom, "path")
		case "additional_bindings":
			if inner := p.firstOf(v, "block_lit"); inner != none {
				p.httpRule(inner, in)
			}
			for c := range p.children(p.firstOf(v, "list_lit")) {
				p.httpRule(c, in)
			}
		}
		if method == "*" {
			method = "ANY"
		}
		if pattern != "" && method != "" {
			p.addRoute(&recountv1.RouteFact{Method: clip(method, 16), Pattern: pattern, Framework: "google.api.http", In: in}, v)
		}
	}
}

func (p *protoFile) messageField(n ref, in uint32) {
	name, typ := none, none
	for c := range p.children(n) {
		switch p.kind(c) {
		case "type":
			typ = c
		case "identifier":
			if name == none {
				name = c
			}
		}
	}
	inner, decl := p.declare(declaration{kind: recountv1.SymbolKind_SYMBOL_KIND_FIELD, name: p.text(name), in: in, node: n, doc: p.commentBefore(n), head: p.statementEnd(n)})
	decl.Exported = true
	decl.Type = clip(oneLine(p.text(typ)), maxPath)
	if t := p.firstOf(typ, "message_or_enum_type"); t != none {
		p.typeOf(t, inner)
	}
}

// statementEnd is where a statement ends, without its semicolon.
func (p *protoFile) statementEnd(n ref) uint32 {
	if semi := p.firstOf(n, ";"); semi != none {
		return p.start(semi)
	}
	return p.end(n)
}

// typeOf refers to the message or enum that a type names.
func (p *protoFile) typeOf(n ref, in uint32) {
	p.refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, in, p.typePath(n), n)
}

// typePath is a type's name: with a dot before it where it is the full name.
func (p *protoFile) typePath(n ref) string {
	return checked(strings.Join(strings.Fields(p.text(n)), ""))
}

// literal is the text of a string, or of a constant that is one.
func (p *protoFile) literal(n ref) string {
	if p.kind(n) == "constant" {
		n = p.firstOf(n, "string")
	}
	text := p.text(n)
	if p.kind(n) != "string" || len(text) < 2 {
		return ""
	}
	return text[1 : len(text)-1]
}
