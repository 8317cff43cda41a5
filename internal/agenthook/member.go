package agenthook

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/tailscale/hujson"
)

// SetMember returns settings in which the member at a path has a value, and whether they changed.
// Objects on the path are made if they are missing; everything else is kept, comments and layout
// included.
func SetMember(settings []byte, value string, path ...string) ([]byte, bool, error) {
	file, root, err := parse(settings)
	if err != nil {
		return nil, false, err
	}
	l := layoutOf(settings)
	o, err := l.objectAt(root, path[:len(path)-1], true)
	if err != nil {
		return nil, false, err
	}
	name := path[len(path)-1]
	v := l.value(value, len(path))
	for i, m := range o.Members {
		if nameOf(m) != name {
			continue
		}
		if minimal(m.Value.Value) == minimal(v) {
			return settings, false, nil
		}
		o.Members[i].Value.Value = v
		return file.Pack(), true, nil
	}
	l.addMember(o, name, v, len(path))
	return file.Pack(), true, nil
}

// RemoveMember returns settings without the member at a path, and without the objects on the path
// that become empty, and whether there was one.
func RemoveMember(settings []byte, path ...string) ([]byte, bool, error) {
	file, root, err := parse(settings)
	if err != nil {
		return nil, false, err
	}
	removed := false
	for depth := len(path); depth > 0; depth-- {
		o, err := layout{}.objectAt(root, path[:depth-1], false)
		if err != nil {
			return nil, false, err
		}
		if o == nil {
			return settings, false, nil
		}
		at := slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool { return nameOf(m) == path[depth-1] })
		if at < 0 {
			return settings, false, nil
		}
		if inner, ok := o.Members[at].Value.Value.(*hujson.Object); removed && (!ok || len(inner.Members) > 0) {
			break
		}
		removeMember(o, at)
		removed = true
		if len(root.Members) == 0 && len(bytes.TrimSpace(root.AfterExtra)) == 0 {
			root.AfterExtra = nil
		}
	}
	return file.Pack(), true, nil
}

// objectAt returns the object at a path; nil if there is none, and create is false.
func (l layout) objectAt(o *hujson.Object, path []string, create bool) (*hujson.Object, error) {
	for depth, name := range path {
		switch inner := get(o, name).(type) {
		case *hujson.Object:
			o = inner
		case nil:
			if !create {
				return nil, nil
			}
			made := &hujson.Object{}
			l.addMember(o, name, made, depth+1)
			o = made
		default:
			return nil, fmt.Errorf("%q is not an object", name)
		}
	}
	return o, nil
}
