package golang

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// Texts of routes are put together from constants, variables that are set once, parameters and results of
// functions. What only a caller knows stands in a text between two marks, and is replaced once the call is known.
const (
	openMark  = "\x01"
	closeMark = "\x02"
)

// textCall is a call whose result is a text: of a function, or of the function that it returns.
type textCall struct {
	fn   string
	args []text
}

// Limits of what one text leads through: variables and functions, one after the other, and all of them
// together, since each may name the next many times.
const (
	maxComposed = 8
	maxSteps    = 1000
)

// unknownIn returns a text for what a spot stands for.
func unknownIn(spot string) text { return text{openMark + spot + closeMark, true} }

// open reports whether a text has parts that only callers know.
func (t text) open() bool { return strings.Contains(t.is, openMark) }

// plus returns two texts, one after the other. If the first is not known, what follows still is.
func (t text) plus(after text) text {
	if t.known && after.known {
		return text{t.is + after.is, true}
	}
	return text{is: after.is}
}

// composed returns the text of an expression that is no constant.
func (r *routing) composed(e ast.Expr, depth int) text {
	e = r.meant(e)
	if s, ok := r.constantOf(e); ok || r.info.Types[e].Value != nil {
		return text{s, true}
	}
	if depth == 0 {
		r.steps = 0
	}
	if r.steps++; depth > maxComposed || r.steps > maxSteps {
		return text{}
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.BasicLit: // that the checker gave no value, since something around it is wrong
		if s, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text{s, true}
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return r.composed(e.X, depth+1).plus(r.composed(e.Y, depth+1))
		}
	case *ast.Ident:
		of := r.info.Uses[e]
		if v := r.setOnce(of); v != nil {
			if r.bare[of] || of.Exported() && of.Pkg() != nil && of.Parent() == of.Pkg().Scope() {
				return text{}
			}
			return r.composed(v, depth+1)
		}
		if _, assigned := r.set[of]; !assigned && r.params[of] != "" && isText(of.Type()) {
			t := unknownIn(r.params[of])
			for _, more := range r.appended[of] {
				if more.at < e.Pos() {
					t.is += more.text
				}
			}
			return t
		}
	case *ast.CallExpr:
		return r.composedCall(e, depth)
	}
	return text{}
}

// isText reports whether values of a type are texts.
func isText(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// composedCall returns the text that a call returns.
func (r *routing) composedCall(call *ast.CallExpr, depth int) text {
	if len(call.Args) == 1 && r.info.Types[call.Fun].IsType() {
		return r.composed(call.Args[0], depth+1)
	}
	_, obj := (&linker{unit: r.unit}).callee(call)
	args := call.Args
	fn, ok := obj.(*types.Func)
	if !ok { // of a function that another returned: base := under("/api"), base("/orders")
		made, isCall := ast.Unparen(call.Fun).(*ast.CallExpr)
		if v := r.setOnce(obj); v != nil {
			made, isCall = ast.Unparen(v).(*ast.CallExpr)
		}
		if !isCall {
			return text{}
		}
		_, obj = (&linker{unit: r.unit}).callee(made)
		if fn, ok = obj.(*types.Func); !ok || !r.near(fn) {
			return text{}
		}
		args = append(append([]ast.Expr(nil), made.Args...), call.Args...)
	}
	var all []text
	for _, a := range args {
		all = append(all, r.composed(a, depth+1))
	}
	switch name := fn.FullName(); {
	case name == "fmt.Sprintf" && len(all) > 0:
		return formatted(all[0], all[1:])
	case name == "path.Join" && len(all) > 0:
		out := all[0]
		for _, t := range all[1:] {
			if out.known && t.known {
				out = text{join(out.is, t.is), true}
			} else {
				out = text{is: t.is}
			}
		}
		return out
	case r.near(fn):
		at := r.local(call.Pos()) + r.lapAt(call.Pos())
		r.facts.results[at] = textCall{fn.Origin().FullName(), all}
		return unknownIn(at)
	}
	return text{}
}

// formatted returns a format with the texts of its verbs.
func formatted(format text, args []text) text {
	out := text{known: format.known}
	for rest := format.is; ; {
		before, after, found := strings.Cut(rest, "%")
		if out = out.plus(text{before, format.known}); !found {
			return out
		}
		if len(args) == 0 || after == "" || after[0] != 's' && after[0] != 'v' {
			return text{}
		}
		out, args, rest = out.plus(args[0]), args[1:], after[1:]
	}
}

// returned notes the text that a function returns, by its parameters. The parameters of a function that it
// returns follow its own.
func (r *routing) returned(fn *types.Func) {
	sig := fn.Signature()
	if sig.Results().Len() != 1 {
		return
	}
	of := sig.Results().At(0).Type()
	made, curried := of.Underlying().(*types.Signature)
	if !isText(of) && (!curried || made.Results().Len() != 1 || !isText(made.Results().At(0).Type())) {
		return
	}
	value := r.setOnce(fn)
	if value == nil {
		return
	}
	if lit, ok := ast.Unparen(value).(*ast.FuncLit); ok && curried {
		i := sig.Params().Len()
		for _, p := range lit.Type.Params.List {
			for _, name := range p.Names {
				if v := r.info.Defs[name]; v != nil {
					r.params[v] = parameter(fn, i)
				}
				i++
			}
		}
		value = nil
		if len(lit.Body.List) == 1 {
			if ret, ok := lit.Body.List[0].(*ast.ReturnStmt); ok && len(ret.Results) == 1 {
				value = ret.Results[0]
			}
		}
	} else if curried {
		return
	}
	if value != nil {
		if t := r.composed(value, 0); t.known {
			r.facts.returns[fn.FullName()] = t
		}
	}
}
