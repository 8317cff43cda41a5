package typed

import (
	"strconv"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// choose selects the method that the arguments of a call fit: by their number, then by what is
// known of their types. If more than one is left, it selects none.
func (t *Typer) choose(at Spot, all []boundMethod, call *recountv1.Reference) selection {
	if len(all) == 0 {
		return selection{}
	}
	if call == nil { // the method is named and not called
		if len(all) == 1 {
			return selection{method: all[0].method, recv: all[0].recv}
		}
		return selection{several: true}
	}
	all = stated(all, call)
	n := int(call.Count)
	var fixed, variadic []boundMethod
	for _, c := range all {
		if n >= c.method.MinArgs && n <= len(c.method.Params) {
			fixed = append(fixed, c)
		}
		if c.method.rest && n >= c.method.MinArgs {
			variadic = append(variadic, c)
		}
	}
	// An array may be passed for the variadic arguments; passing them one by one is tried last.
	for i, some := range [][]boundMethod{fixed, variadic} {
		fit := t.fitting(at, some, call, len(all) > 1, i == 1)
		if c, ok := t.exact(at, fit, call, i == 1); ok {
			return selection{method: c.method, recv: c.recv}
		}
		switch {
		case len(fit) == 1:
			return selection{method: fit[0].method, recv: fit[0].recv}
		case len(fit) > 1:
			if c, ok := t.byResults(at, fit, call); ok {
				return selection{method: c.method, recv: c.recv}
			}
			if c, ok := t.mostSpecific(at, fit, call); ok {
				return selection{method: c.method, recv: c.recv}
			}
			return selection{several: true, result: oneResult(fit)}
		}
	}
	return selection{}
}

// oneResult returns the result that all candidates have, nil if they differ.
func oneResult(of []boundMethod) *Type {
	first := of[0].method
	for _, c := range of {
		if len(c.method.tparams) > 0 || c.method.Class != first.Class || !identical(c.method.Result, first.Result) {
			return nil
		}
	}
	return first.Result.subst(of[0].recv)
}

// TypeArguments is the attribute of a call that states the types its method's type parameters
// stand for: their texts, separated by commas.
const TypeArguments = "types"

// stated returns the candidates whose number of type parameters is that of the call's type
// arguments, or, if it states none, those whose type parameters the arguments can tell. If
// there are none, it returns all.
func stated(all []boundMethod, call *recountv1.Reference) []boundMethod {
	if len(all) < 2 {
		return all
	}
	text := call.GetAttributes()[TypeArguments]
	var fit []boundMethod
	for _, c := range all {
		switch {
		case text != "" && len(c.method.tparams) == len(splitTypes(text)), text == "" && c.method.inferred():
			fit = append(fit, c)
		}
	}
	if len(fit) == 0 {
		return all
	}
	return fit
}

// inferred reports whether the parameters of a method name all of its type parameters.
func (m *Method) inferred() bool {
	for _, p := range m.tparams {
		found := false
		for _, of := range m.Params {
			found = found || of == nil || of.names(p)
		}
		if !found {
			return false
		}
	}
	return true
}

// names reports whether a type names a type parameter.
func (t *Type) names(p *typeParam) bool {
	switch {
	case t == nil:
		return false
	case t.param != nil:
		return t.param == p
	case t.elem != nil:
		return t.elem.names(p)
	}
	for _, a := range t.Args {
		if a.names(p) {
			return true
		}
	}
	return false
}

// fitting returns the candidates that no known type of an argument excludes; if all types are
// known, only those that every argument fits without boxing, if there are any. If look is false, the
// types are not compared.
func (t *Typer) fitting(at Spot, some []boundMethod, call *recountv1.Reference, look, variadic bool) (fit []boundMethod) {
	if !look {
		return some
	}
	args := t.arguments(at, call)
	known := true
	var strict []boundMethod
	for _, c := range some {
		worst := fits
		for i, a := range args {
			p := c.method.parameter(i)
			if !variadic {
				p = c.method.Params[i]
			}
			worst = min(worst, t.fit(a, p.subst(c.recv)))
		}
		if worst == never {
			continue
		}
		fit = append(fit, c)
		if worst == fits {
			strict = append(strict, c)
		}
		known = known && worst != unclear
	}
	if known && len(strict) > 0 {
		return strict
	}
	return fit
}

// exact returns the only candidate of several whose parameters have the types of all arguments.
func (t *Typer) exact(at Spot, of []boundMethod, call *recountv1.Reference, variadic bool) (found boundMethod, ok bool) {
	if len(of) < 2 {
		return boundMethod{}, false
	}
	args := t.arguments(at, call)
	for _, c := range of {
		all := len(args) > 0
		for i, a := range args {
			p := c.method.parameter(i)
			if !variadic {
				p = c.method.Params[i]
			}
			all = all && identical(a, p.subst(c.recv))
		}
		switch {
		case !all:
		case !ok || len(c.method.Params) == len(args) && len(found.method.Params) > len(args): // it needs no default
			found, ok = c, true
		case len(found.method.Params) != len(args):
			return boundMethod{}, false
		}
	}
	return found, ok
}

// byResults returns the only candidate of several for whose parameters the functions that are passed give exactly
// what they are asked for: Func<T, string> rather than Func<T, object> for a function that returns a string.
func (t *Typer) byResults(at Spot, of []boundMethod, call *recountv1.Reference) (found boundMethod, ok bool) {
	at.at, at.after = call.GetAt(), true
	var results []*Type
	some := false
	for _, a := range t.arguments(at, call) {
		var result *Type
		if a != nil && a.fn != nil && a.fn.result.Text != "" {
			t.depth++
			result = t.eval(at, a.fn.result).value()
			t.depth--
			some = some || result != nil
		}
		results = append(results, result)
	}
	if !some {
		return boundMethod{}, false
	}
	for _, c := range of {
		all := true
		for i, r := range results {
			if r != nil {
				m, b := t.functional(c.method.parameter(i).subst(c.recv).bounded())
				all = all && m != nil && identical(r, m.Result.subst(b))
			}
		}
		switch {
		case all && ok:
			return boundMethod{}, false
		case all:
			found, ok = c, true
		}
	}
	return found, ok
}

// arguments returns the types of the arguments of a call, nil for one that is not known.
func (t *Typer) arguments(at Spot, call *recountv1.Reference) []*Type {
	if args, ok := t.args[call]; ok {
		return args
	}
	key := nestedCall{call, t.depth}
	if args, ok := t.nested[key]; ok {
		t.cut++
		return args
	}
	cut := t.cut
	args := make([]*Type, call.GetCount())
	at.at, at.after = call.GetAt(), true
	for _, a := range call.GetArgs() {
		if int(a.Index) >= len(args) || a.Name != "" {
			continue
		}
		if count, result, ok := strings.Cut(strings.TrimPrefix(a.Path, "{"), "}"); ok && strings.HasPrefix(a.Path, "{") {
			f := &function{count: -1, result: at.Module.Path(result)}
			if n, err := strconv.Atoi(count); err == nil {
				f.count = n
			}
			args[a.Index] = &Type{fn: f}
			continue
		}
		if of := t.eval(at, at.Module.Path(a.Path)).value(); of != nil && !of.Prefix {
			args[a.Index] = of
		}
	}
	if t.cut == cut {
		t.args[call] = args
	} else if t.depth > 0 {
		t.nested[key] = args
	}
	return args
}

// mostSpecific returns the candidate that is better than all others for some arguments of a call and
// as good for the rest.
func (t *Typer) mostSpecific(at Spot, of []boundMethod, call *recountv1.Reference) (boundMethod, bool) {
	args := t.arguments(at, call)
	for i, c := range of {
		best := true
		for k, other := range of {
			best = best && (i == k || !differs(c.method, other.method))
			for a, arg := range args {
				best = best && (i == k || t.better(arg, c.method.parameter(a).subst(c.recv), other.method.parameter(a).subst(other.recv)))
			}
		}
		if best {
			return c, true
		}
	}
	return boundMethod{}, false
}

// better reports whether an argument suits one type of a parameter at least as well as another: the type
// is its own, or needs no boxing, or fits the other type. If the types are not the same, what the argument
// is has to be known.
func (t *Typer) better(arg, p, q *Type) bool {
	if identical(p, q) {
		return true
	}
	left, right := t.fit(arg, p), t.fit(arg, q)
	switch own, others := identical(arg, p), identical(arg, q); {
	case left == unclear || right == unclear:
		return false
	case own != others:
		return own
	case left != right:
		return left > right
	}
	return t.fit(p, q) == fits
}

// differs reports whether two methods have the same types of parameters and not the same text: what tells
// them apart, as the ? of Instant?, is no part of types. Extensions differ in their receivers, too.
func differs(m, o *Method) bool {
	if m.Decl == nil || o.Decl == nil || m.extension || o.extension || !m.repeats(o) {
		return false
	}
	for i, p := range m.Params {
		if !identical(p, o.Params[i]) {
			return false
		}
	}
	_, left, _ := strings.Cut(m.Decl.Signature, "(")
	_, right, _ := strings.Cut(o.Decl.Signature, "(")
	return left != right
}
