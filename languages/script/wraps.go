package script

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// givenTo returns the paths of the arguments of a call that makes a handler: wrap(schema, auth.login). Those of a call
// among them come after it.
func (j *walker) givenTo(n extract.Ref, s state) (all []string) {
	n = j.unwrapped(j.meant(n))
	if j.Kind(n) != "call_expression" || !strings.HasSuffix(j.path(n, s), "()") { // f.bind(this) is f
		return nil
	}
	for c := range j.Children(j.Field(n, "arguments")) {
		if path := j.routePath(c, s); path != extract.Unknown && j.Kind(c) != "new_expression" {
			all = append(append(all, path), j.givenTo(c, s)...)
		}
	}
	return all
}

// wraps notes that a function calls the parameter of one around it, which so makes a handler of what it is given:
// (fn) => (req, res, next) => fn(req, res).catch(next), or fn.call(this, req, res).
func (j *walker) wraps(path string, s state) {
	name := strings.TrimSuffix(strings.TrimSuffix(path, ".call"), ".apply")
	if !extract.IsName(name) {
		return
	}
	inner := s.inline
	for in := s.in; in != 0; in = j.Decl(in).Owner {
		if slices.ContainsFunc(j.Decl(in).Parameters, func(p *recountv1.Parameter) bool { return p.Name == name }) {
			if inner {
				j.wrappers[in] = name
			}
			return
		}
		inner = true
	}
}

// noteWrappers gives the functions whose results call a parameter their attribute.
func (j *walker) noteWrappers() {
	for in, name := range j.wrappers {
		d := j.Decl(in)
		if d.Attributes == nil {
			d.Attributes = map[string]string{}
		}
		d.Attributes[scope.Wraps] = name
	}
}
