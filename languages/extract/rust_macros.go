package extract

import (
	"bytes"
	"regexp"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// opened are the macros whose arguments are read as expressions. No macro is expanded,
// and what stands in the others is a row of tokens.
var opened = regexp.MustCompile(`\b(?:print|println|eprint|eprintln|format|write|writeln|panic|assert|assert_eq|assert_ne|` +
	`debug_assert|debug_assert_eq|debug_assert_ne|unreachable|todo|unimplemented|dbg|vec|matches|` +
	`trace|debug|info|warn|error|bail|ensure|anyhow)(!)\s*([(\[])`)

// openMacros writes the invocations of those macros within [from, to) as calls, and
// those with brackets as lists, without moving anything.
func openMacros(out, src []byte, from, to int) {
	for _, m := range opened.FindAllSubmatchIndex(src[from:to], -1) {
		name, mark := m[0]+from, m[2]+from
		if out[mark] = ' '; src[m[4]+from] == '[' {
			for i := name; i < mark; i++ {
				out[i] = ' '
			}
		}
	}
}

// parseRust parses with macros opened. Where that brings syntax errors they stay
// closed: in the statement around an error, or, if that is not enough, the function.
func parseRust(g *grammar, src []byte) ([]node, bool, error) {
	text := bytes.Clone(src)
	openMacros(text, src, 0, len(src))
	nodes, cut, err := g.parse(text)
	if err == nil && mistakes(nodes) == 0 || bytes.Equal(text, src) {
		return nodes, cut, err
	}
	plain, plainCut, plainErr := g.parse(src)
	if plainErr != nil {
		return nodes, cut, err
	}
	for _, statement := range []bool{true, false} {
		if err != nil || mistakes(nodes) <= mistakes(plain) {
			break
		}
		for i, n := range nodes {
			if n.flags&(flagMissing|flagError) != 0 {
				around := g.around(nodes, i, statement)
				copy(text[around.start:around.end], src[around.start:around.end])
			}
		}
		nodes, cut, err = g.parse(text)
	}
	if err != nil || mistakes(nodes) > mistakes(plain) {
		return plain, plainCut, nil
	}
	return nodes, cut, nil
}

// around is the statement or the function in which a node stands, or the item at the
// file's top.
func (g *grammar) around(nodes []node, i int, statement bool) node {
	for ; i > 0 && nodes[i].parent != 0; i = int(nodes[i].parent) {
		switch g.kindName(nodes[i].kind) {
		case "function_item":
			return nodes[i]
		case "expression_statement", "let_declaration", "match_arm":
			if statement {
				return nodes[i]
			}
		}
	}
	return nodes[i]
}

// isMacro reports whether a call is one that openMacros made.
func (r *rustFile) isMacro(call ref) bool {
	fn := r.field(call, "function")
	if fn == none {
		return false
	}
	rest := bytes.TrimLeft(r.src[r.end(fn):r.end(call)], " \t\r\n")
	return len(rest) > 0 && rest[0] == '!'
}

// macroCall refers to the macro of a call that openMacros made, and walks its
// arguments.
func (r *rustFile) macroCall(n, fn, args ref, s rustScope) {
	r.refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, r.text(fn)+"!", fn)
	for c := range r.children(args) {
		if r.kind(c) == "assignment_expression" { // name = value
			c = r.field(c, "right")
		}
		if r.text(fn) == "matches" && c != r.child(args, 0) {
			break // a pattern
		}
		r.visit(c, s)
	}
}

// macro refers to a macro whose arguments stay tokens.
func (r *rustFile) macro(n ref, s rustScope) {
	name := r.field(n, "macro")
	path := r.pathText(name, s)
	if path == unknown {
		return
	}
	r.refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, path+"!", r.lastName(name))
	tokens := r.firstOf(n, "token_tree")
	if path == "env" || path == "option_env" || path == "std.env" {
		if v, ok := r.literal(r.child(tokens, 0)); ok {
			e := r.refer(recountv1.EdgeKind_EDGE_KIND_READS_ENV, s.in, path+"!", r.lastName(name))
			e.Attributes = map[string]string{"variable": clip(v, maxValue)}
		}
	}
}

// tokens are the paths that a macro is given, separated by commas: routes![a, b::c].
func (r *rustFile) tokens(macro ref) []string {
	text := strings.Trim(strings.TrimSpace(r.text(r.firstOf(macro, "token_tree"))), "()[]{}")
	var all []string
	for part := range strings.SplitSeq(text, ",") {
		path := strings.ReplaceAll(strings.Join(strings.Fields(part), ""), "::", ".")
		if isDotted(path) {
			all = append(all, strings.TrimPrefix(path, "self."))
		}
	}
	return all
}
