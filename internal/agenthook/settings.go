package agenthook

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Snippet returns the hooks as a complete settings file.
func (a Agent) Snippet(command string, edits bool) []byte {
	b, _, err := a.Install(nil, command, edits)
	if err != nil {
		panic("agenthook: the settings of nobody: " + err.Error()) // an empty file has no errors
	}
	return b
}

// Install returns the settings with hooks that call command, and whether they changed. Existing
// hooks of Recount with another path or matcher are replaced; everything else is kept. An error
// says which part of the settings does not have the documented form.
func (a Agent) Install(settings []byte, command string, edits bool) ([]byte, bool, error) {
	root, err := decode(settings)
	if err != nil {
		return nil, false, err
	}
	if a.installed(root, command, edits) {
		return settings, false, nil
	}
	if err := a.strip(root); err != nil {
		return nil, false, err
	}
	hooks, ok := root.get("hooks").(*object)
	if !ok {
		hooks = &object{}
		root.set("hooks", hooks)
	}
	for _, e := range a.events {
		groups, _ := hooks.get(e.name).([]any)
		hooks.set(e.name, append(groups, a.group(command, edits)))
	}
	return encode(root, indentOf(settings)), true, nil
}

// Uninstall returns the settings without Recount's hooks, and whether there were any.
func (a Agent) Uninstall(settings []byte) ([]byte, bool, error) {
	root, err := decode(settings)
	if err != nil {
		return nil, false, err
	}
	before := string(encode(root, " "))
	if err := a.strip(root); err != nil {
		return nil, false, err
	}
	if string(encode(root, " ")) == before {
		return settings, false, nil
	}
	return encode(root, indentOf(settings)), true, nil
}

// group returns the entry below one event: a matcher and the command.
func (a Agent) group(command string, edits bool) *object {
	handler := &object{[]member{{"type", "command"}, {"command", command}, {"timeout", json.Number(strconv.Itoa(a.timeout))}}}
	return &object{[]member{{"matcher", a.Matcher(edits)}, {"hooks", []any{handler}}}}
}

// installed reports whether the settings have exactly what Install would add.
func (a Agent) installed(root *object, command string, edits bool) bool {
	hooks, ok := root.get("hooks").(*object)
	if !ok {
		return false
	}
	want := string(encode(a.group(command, edits), " "))
	for _, e := range a.events {
		found := 0
		groups, _ := hooks.get(e.name).([]any)
		for _, g := range groups {
			if g, ok := g.(*object); ok && a.holds(g) {
				if found++; string(encode(g, " ")) != want {
					return false
				}
			}
		}
		if found != 1 {
			return false
		}
	}
	return true
}

// holds reports whether a group contains a command of Recount.
func (a Agent) holds(group *object) bool {
	handlers, _ := group.get("hooks").([]any)
	for _, h := range handlers {
		if h, ok := h.(*object); ok {
			if c, ok := h.get("command").(string); ok && a.ours(c) {
				return true
			}
		}
	}
	return false
}

// strip removes Recount's commands below all events, and the containers that become empty.
func (a Agent) strip(root *object) error {
	value := root.get("hooks")
	if value == nil {
		return nil
	}
	hooks, ok := value.(*object)
	if !ok {
		return fmt.Errorf("%q is not an object", "hooks")
	}
	for _, m := range append([]member(nil), hooks.members...) {
		groups, ok := m.value.([]any)
		if !ok {
			if a.has(m.name) {
				return fmt.Errorf("%q of %q is not a list", m.name, "hooks")
			}
			continue // a switch, or a value of a later version
		}
		var kept []any
		changed := false
		for _, g := range groups {
			group, ok := g.(*object)
			if !ok || !a.holds(group) {
				kept = append(kept, g)
				continue
			}
			changed = true
			var others []any
			handlers, _ := group.get("hooks").([]any)
			for _, h := range handlers {
				o, _ := h.(*object)
				if o != nil {
					if c, ok := o.get("command").(string); ok && a.ours(c) {
						continue
					}
				}
				others = append(others, h)
			}
			if len(others) > 0 {
				group.set("hooks", others)
				kept = append(kept, group)
			}
		}
		switch {
		case !changed:
		case len(kept) == 0:
			hooks.remove(m.name)
		default:
			hooks.set(m.name, kept)
		}
	}
	if len(hooks.members) == 0 {
		root.remove("hooks")
	}
	return nil
}

// has reports whether the agent has a hook for an event.
func (a Agent) has(name string) bool {
	for _, e := range a.events {
		if e.name == name {
			return true
		}
	}
	return false
}
