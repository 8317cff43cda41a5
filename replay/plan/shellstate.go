package plan

import (
	"maps"
	"slices"
	"strings"
)

// shellState is what the acts of one session changed in their shell.
type shellState struct {
	setters map[string][]int  // the acts that set a variable; for "*" and "option" all of them count
	loops   map[string]int    // the last act with a loop over a variable, if no act set it since
	values  map[string]string // of variables
	bodies  map[string]string // of functions
	removed map[string]int    // the act that unset a variable
	jobs    []int             // the acts that run in the background
}

func (w *world) shell(session string) *shellState {
	s := w.shells[session]
	if s == nil {
		s = &shellState{setters: map[string][]int{}, loops: map[string]int{}, values: map[string]string{}, bodies: map[string]string{}, removed: map[string]int{}}
		w.shells[session] = s
	}
	return s
}

// leavesVariables records the variables and functions that an act sets and unsets in its shell.
func (w *world) leavesVariables(a *act) {
	s := w.shell(a.Session)
	for _, name := range a.Sets {
		if name == "*" || name == "option" || name == "" {
			s.setters[name] = append(s.setters[name], a.at)
		} else {
			s.setters[name] = []int{a.at}
			delete(s.removed, name)
			delete(s.loops, name)
		}
		if v, ok := a.Values[name]; ok {
			s.values[name] = v
		} else {
			delete(s.values, name)
		}
	}
	for _, name := range a.Unsets {
		if len(s.setters[name]) > 0 {
			s.removed[name] = a.at
		}
		delete(s.values, name)
		delete(s.bodies, strings.TrimSuffix(name, "()"))
	}
	maps.Copy(s.bodies, a.Functions)
	if a.Line == nil || a.apart {
		return
	}
	for _, name := range a.Line.Looped {
		if !slices.Contains(a.Sets, name) {
			s.loops[name] = a.at
			delete(s.values, name)
		}
	}
}

// looped makes the act that had the last loop over a variable one that sets it: an act uses it.
func (w *world) looped(a *act, name string) {
	s := w.shells[a.Session]
	at, ok := s.loops[name]
	if !ok || at == a.at {
		return
	}
	delete(s.loops, name)
	s.setters[name] = []int{at}
	w.acts[at].Sets, w.acts[at].Looks = append(w.acts[at].Sets, name), false
}
