package scope

// Limits of the flow; see the package comment.
const (
	MaxValues  = 16
	maxTargets = 8
	maxVisits  = 64
	MaxDepth   = 12
	// MaxCalls is of how many calls of one path in a declaration the arguments are
	// looked at, where the result is one of them; maxNested, how deep in each other.
	MaxCalls  = 8
	MaxNested = 3
)

type valueKind uint8

const (
	ModuleValue valueKind = iota
	FunctionValue
	ClassValue
	// InstanceValue is of exactly a class; with open, of it or of a subclass.
	InstanceValue
	BoundValue
	ContainerValue
	// GeneratorValue is what calling a function that yields gives.
	GeneratorValue
	ExternalValue
	// SuperValue is a method's receiver seen from its class's bases.
	SuperValue
	// GenericValue is of a type of elsewhere whose arguments say what it holds.
	GenericValue
	// ParameterValue is of a type's parameter: who uses the type says what it is.
	ParameterValue
	// ListValue is a type's arguments: recv the first, more the others.
	ListValue
)

// Value is something that a name may stand for. Values are interned: equal ones
// are one pointer.
type Value struct {
	ValueID
	// elements are a container's by literal index: "" has those put at an index that
	// is not known, and all every one of them.
	elements map[string]*Variable
}

type ValueID struct {
	Kind valueKind
	Open bool
	Decl *Decl
	Mod  *Module
	Recv *Value
	// More are a type's arguments, or the others of a list.
	More *Value
	// Pkg and name are an external's module and the names below it.
	Pkg, Name string
	// home and place say which container: the scope and path it was made at.
	home  *Scope
	place string
}

func (p *Program) Intern(id ValueID) *Value {
	v := p.values[id]
	if v == nil {
		v = &Value{ValueID: id}
		p.values[id] = v
	}
	return v
}

func (p *Program) Instance(d *Decl, open bool) *Value {
	return p.Intern(ValueID{Kind: InstanceValue, Decl: d, Open: open})
}

func (p *Program) External(pkg, name string) *Value {
	return p.Intern(ValueID{Kind: ExternalValue, Pkg: pkg, Name: name})
}

func (p *Program) Container(s *Scope, place string) *Value {
	v := p.Intern(ValueID{Kind: ContainerValue, home: s, place: place})
	if v.elements == nil {
		v.elements = map[string]*Variable{}
	}
	return v
}

// EveryElement is the index that stands for every element.
const EveryElement = "\x00"

// Element is the variable of a container's elements at an index.
func (v *Value) Element(key string) *Variable {
	e := v.elements[key]
	if e == nil {
		e = &Variable{}
		v.elements[key] = e
	}
	return e
}

// member is a value in a set.
type member struct {
	Value *Value
	Sure  bool
}

// Set is a few values, in the order in which they came.
type Set []member

func (s Set) With(v *Value, sure bool) Set {
	for i, m := range s {
		if m.Value == v {
			if sure && !m.Sure {
				s[i].Sure = true
			}
			return s
		}
	}
	return append(s, member{v, sure})
}

// Variable is a name, an attribute, an element, a result: what values flow into.
type Variable struct {
	Values Set
	// full: it had more than maxValues, and says nothing.
	full    bool
	readers []*Flow
	// Written: something is assigned to it, known or not.
	Written bool
	// Parameter: callers give it values.
	Parameter bool
	// Used: its aliases are paths of what is imported by its name.
	Used bool

	// What the source says of it, for looking symbols up without values.
	Decls   []*Decl
	Imports []Imported
	Aliases []Path // what is assigned to it
	Scope   *Scope
}

// Add puts a value in, and wakes the flows that read the variable.
func (p *Program) Add(v *Variable, val *Value, sure bool) {
	if v.full {
		return
	}
	found := false
	for i, m := range v.Values {
		if m.Value == val {
			if m.Sure || !sure {
				return
			}
			v.Values[i].Sure = true
			found = true
			break
		}
	}
	if !found {
		if len(v.Values) == MaxValues {
			v.Values, v.full = nil, true
			return
		}
		v.Values = append(v.Values, member{val, sure})
	}
	for _, f := range v.readers {
		p.Wake(f)
	}
}

// Read is what a variable has, and notes that the flow depends on it.
func (p *Program) Read(f *Flow, v *Variable) Set {
	if v == nil {
		return nil
	}
	if f != nil && !f.reads[v] {
		if f.reads == nil {
			f.reads = map[*Variable]bool{}
		}
		f.reads[v] = true
		v.readers = append(v.readers, f)
	}
	return v.Values
}

// Nth is a list's i-th, nil where it is not known.
func (v *Value) Nth(i int) *Value {
	for ; v != nil && i > 0; i-- {
		v = v.More
	}
	if v == nil {
		return nil
	}
	return v.Recv
}
