package script

import "github.com/recountdb/recount/languages/extract"

// What is around a function says what it is given, where the function does not say so itself:
//
//	const logged: Handler = (c, next) => …
//	function logger(): Handler { return async (c, next) => … }

// stands binds a name of its own to what a declared type says, and returns the name.
func (j *walker) stands(path, typ string, at extract.Ref, s state) string {
	j.takenApart++
	name := "<<" + extract.Decimal(j.takenApart) + ">>"
	j.bindPlain(name, path, typ, at, s)
	return name
}

// givenParameters binds the parameters of a declared function that have no types to what the context says of it.
func (j *walker) givenParameters(in uint32, given string, at extract.Ref) {
	for i, p := range j.Decl(in).Parameters {
		if path := parameterOf(given, i); path != "" && p.Type == "" && !p.Variadic {
			j.Bind(in, p.Name, path, "", at)
		}
	}
}

// typedFunction gives a declared function what the type says of it with which its name is declared.
func (j *walker) typedFunction(in uint32, annotation, at extract.Ref) {
	if annotation == extract.None || in == 0 || len(j.Decl(in).Parameters) == 0 {
		return
	}
	if typ := j.typeOf(annotation, state{in: in}); typ != "" {
		j.givenParameters(in, j.stands(extract.Unknown, typ, at, state{in: in}), at)
	}
}

// returning returns the state for what a function returns: of a function or an object the result's type says what its
// parameters are.
func (j *walker) returning(value extract.Ref, s state) state {
	inner := s.plain()
	d := j.Decl(s.in)
	if d != nil && d.Type != "" && !s.inline && (j.isFunction(value) || j.hasFunctions(value)) {
		inner.given = j.stands(extract.Unknown, d.Type, value, s)
	}
	return inner
}
