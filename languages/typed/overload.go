package typed

import (
	"strconv"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// choose selects the method that the arguments of a call fit: by their number, then by what is
// known of their types. If more than one is left, it selects none.
func (t *Typer) choose(at Spot, all []candidate, call *recountv1.Reference) selection {
	if len(all) == 0 {
		return selection{}
	}
	if call == nil { // the method is named and not called
		if len(all) == 1 {
			return selection{method: all[0].method, recv: all[0].recv}
		}
		return selection{several: true}
	}
	n := int(call.Count)
	var fixed, variadic []candidate
	for _, c := range all {
		if n >= c.method.MinArgs && n <= len(c.method.Params) {
			fixed = append(fixed, c)
		}
		if c.method.rest && n >= c.method.MinArgs {
			variadic = append(variadic, c)
		}
	}
	// An array may be passed for the variadic arguments; passing them one by one is tried last.
	for i, some := range [][]candidate{fixed, variadic} {
		fit, known := t.fitting(at, some, call, len(all) > 1, i == 1)
		switch {
		case len(fit) == 1:
			return selection{method: fit[0].method, recv: fit[0].recv}
		case len(fit) > 1:
			if c, ok := t.mostSpecific(fit, call); ok && known {
				return selection{method: c.method, recv: c.recv}
			}
			return selection{several: true}
		}
	}
	return selection{}
}

// fitting returns the candidates that no known type of an argument excludes; if all types are
// known, only those that every argument fits without boxing, if there are any. known is false if
// a type that matters was not known. If look is false, the types are not compared.
func (t *Typer) fitting(at Spot, some []candidate, call *recountv1.Reference, look, variadic bool) (fit []candidate, known bool) {
	if !look {
		return some, true
	}
	args := t.arguments(at, call)
	known = true
	var strict []candidate
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
		return strict, true
	}
	return fit, known
}

// arguments returns the types of the arguments of a call, nil for one that is not known.
func (t *Typer) arguments(at Spot, call *recountv1.Reference) []*Type {
	if args, ok := t.args[call]; ok {
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
		args[a.Index] = t.eval(at, at.Module.Path(a.Path)).value()
	}
	if t.cut == cut {
		t.args[call] = args
	}
	return args
}

// mostSpecific returns the candidate whose parameters fit those of all others.
func (t *Typer) mostSpecific(of []candidate, call *recountv1.Reference) (candidate, bool) {
	n := int(call.Count)
	for i, c := range of {
		best := true
		for k, other := range of {
			for a := range n {
				if i != k && t.fit(c.method.parameter(a), other.method.parameter(a)) != fits {
					best = false
				}
			}
		}
		if best {
			return c, true
		}
	}
	return candidate{}, false
}
