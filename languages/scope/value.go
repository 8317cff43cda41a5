package scope

// Limits of the flow; see the package comment.
const (
	maxValues  = 16
	maxTargets = 8
	maxVisits  = 64
	maxDepth   = 12
	// maxCalls is of how many calls of one path in a declaration the arguments are
	// looked at, where the result is one of them; maxNested, how deep in each other.
	maxCalls  = 8
	maxNested = 3
)

type valueKind uint8

const (
	moduleValue valueKind = iota
	functionValue
	classValue
	// instanceValue is of exactly a class; with open, of it or of a subclass.
	instanceValue
	boundValue
	containerValue
	// generatorValue is what calling a function that yields gives.
	generatorValue
	externalValue
	// superValue is a method's receiver seen from its class's bases.
	superValue
	// genericValue is of a type of elsewhere whose arguments say what it holds.
	genericValue
	// parameterValue is of a type's parameter: who uses the type says what it is.
	parameterValue
	// listValue is a type's arguments: recv the first, more the others.
	listValue
)

// value is something that a name may stand for. Values are interned: equal ones
// are one pointer.
type value struct {
	valueID
	// elements are a container's by literal index: "" has those put at an index that
	// is not known, and all every one of them.
	elements map[string]*variable
}

type valueID struct {
	kind valueKind
	open bool
	decl *decl
	mod  *module
	recv *value
	// more are a type's arguments, or the others of a list.
	more *value
	// pkg and name are an external's module and the names below it.
	pkg, name string
	// home and place say which container: the scope and path it was made at.
	home  *scope
	place string
}

func (p *program) intern(id valueID) *value {
	v := p.values[id]
	if v == nil {
		v = &value{valueID: id}
		p.values[id] = v
	}
	return v
}

func (p *program) instance(d *decl, open bool) *value {
	return p.intern(valueID{kind: instanceValue, decl: d, open: open})
}

func (p *program) external(pkg, name string) *value {
	return p.intern(valueID{kind: externalValue, pkg: pkg, name: name})
}

func (p *program) container(s *scope, place string) *value {
	v := p.intern(valueID{kind: containerValue, home: s, place: place})
	if v.elements == nil {
		v.elements = map[string]*variable{}
	}
	return v
}

// all is the index that stands for every element.
const all = "\x00"

// element is the variable of a container's elements at an index.
func (v *value) element(key string) *variable {
	e := v.elements[key]
	if e == nil {
		e = &variable{}
		v.elements[key] = e
	}
	return e
}

// member is a value in a set.
type member struct {
	value *value
	sure  bool
}

// set is a few values, in the order in which they came.
type set []member

func (s set) with(v *value, sure bool) set {
	for i, m := range s {
		if m.value == v {
			if sure && !m.sure {
				s[i].sure = true
			}
			return s
		}
	}
	return append(s, member{v, sure})
}

// variable is a name, an attribute, an element, a result: what values flow into.
type variable struct {
	values set
	// full: it had more than maxValues, and says nothing.
	full    bool
	readers []*flow
	// written: something is assigned to it, known or not.
	written bool
	// parameter: callers give it values.
	parameter bool
	// used: its aliases are paths of what is imported by its name.
	used bool

	// What the source says of it, for looking symbols up without values.
	decls   []*decl
	imports []imported
	aliases []path // what is assigned to it
	scope   *scope
}

// add puts a value in, and wakes the flows that read the variable.
func (p *program) add(v *variable, val *value, sure bool) {
	if v.full {
		return
	}
	found := false
	for i, m := range v.values {
		if m.value == val {
			if m.sure || !sure {
				return
			}
			v.values[i].sure = true
			found = true
			break
		}
	}
	if !found {
		if len(v.values) == maxValues {
			v.values, v.full = nil, true
			return
		}
		v.values = append(v.values, member{val, sure})
	}
	for _, f := range v.readers {
		p.wake(f)
	}
}

// read is what a variable has, and notes that the flow depends on it.
func (p *program) read(f *flow, v *variable) set {
	if v == nil {
		return nil
	}
	if f != nil && !f.reads[v] {
		if f.reads == nil {
			f.reads = map[*variable]bool{}
		}
		f.reads[v] = true
		v.readers = append(v.readers, f)
	}
	return v.values
}

// nth is a list's i-th, nil where it is not known.
func (v *value) nth(i int) *value {
	for ; v != nil && i > 0; i-- {
		v = v.more
	}
	if v == nil {
		return nil
	}
	return v.recv
}
