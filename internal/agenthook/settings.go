package agenthook

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/tailscale/hujson"
)

// Snippet returns the hooks as a complete settings file.
func (a Agent) Snippet(command string, what Recorded) []byte {
	b, _, err := a.Install(nil, command, what)
	if err != nil {
		panic("agenthook: no settings for " + err.Error()) // an empty file has no errors
	}
	return b
}

// Install returns the settings with hooks that call command, and whether they changed. Existing
// hooks of Recount with another path or matcher are replaced; everything else is kept, comments and
// layout included. An error says which part of the settings does not have the documented form.
func (a Agent) Install(settings []byte, command string, what Recorded) ([]byte, bool, error) {
	file, root, err := parse(settings)
	if err != nil {
		return nil, false, err
	}
	if a.installed(root, command, what) {
		return settings, false, nil
	}
	if err := a.strip(root); err != nil {
		return nil, false, err
	}
	l := layoutOf(settings)
	hooks, ok := get(root, "hooks").(*hujson.Object)
	if !ok {
		hooks = &hujson.Object{}
		l.addMember(root, "hooks", hooks, 1)
	}
	for _, e := range a.events {
		if !e.stage.tool() && !what.Messages {
			continue
		}
		groups, ok := get(hooks, e.name).(*hujson.Array)
		if !ok {
			groups = &hujson.Array{}
			l.addMember(hooks, e.name, groups, 2)
		}
		l.addElement(groups, l.value(a.group(e, command, what), 3), 3)
	}
	return file.Pack(), true, nil
}

// Installed returns the command that the settings' hooks call, "" if there is none of Recount's.
func (a Agent) Installed(settings []byte) string {
	_, root, err := parse(settings)
	if err != nil {
		return ""
	}
	hooks, _ := get(root, "hooks").(*hujson.Object)
	if hooks == nil {
		return ""
	}
	for _, e := range a.events {
		for _, g := range list(hooks, e.name) {
			if group, ok := g.Value.(*hujson.Object); ok {
				for _, h := range list(group, "hooks") {
					if a.isOurs(h) {
						return textOf(get(h.Value.(*hujson.Object), "command"))
					}
				}
			}
		}
	}
	return ""
}

// Uninstall returns the settings without Recount's hooks, and whether there were any.
func (a Agent) Uninstall(settings []byte) ([]byte, bool, error) {
	file, root, err := parse(settings)
	if err != nil {
		return nil, false, err
	}
	before := file.Pack()
	if err := a.strip(root); err != nil {
		return nil, false, err
	}
	after := file.Pack()
	if bytes.Equal(before, after) {
		return settings, false, nil
	}
	return after, true, nil
}

// group returns the entry below one event: the command, and for tools which.
func (a Agent) group(e event, command string, what Recorded) string {
	matcher := ""
	if e.stage.tool() {
		matcher = fmt.Sprintf(`
	"matcher": %s,`, []byte(hujson.String(a.Matcher(what))))
	}
	return fmt.Sprintf(`{%s
	"hooks": [
		{
			"type": "command",
			"command": %s,
			"timeout": %d
		}
	]
}`, matcher, []byte(hujson.String(command)), a.timeout)
}

// installed reports whether the settings have exactly what Install would add.
func (a Agent) installed(root *hujson.Object, command string, what Recorded) bool {
	hooks, ok := get(root, "hooks").(*hujson.Object)
	if !ok {
		return false
	}
	for _, e := range a.events {
		want := minimal(layout{}.value(a.group(e, command, what), 0))
		found, times := 0, 1
		if !e.stage.tool() && !what.Messages {
			times = 0
		}
		for _, g := range list(hooks, e.name) {
			if g, ok := g.Value.(*hujson.Object); ok && a.holds(g) {
				if found++; minimal(g) != want {
					return false
				}
			}
		}
		if found != times {
			return false
		}
	}
	return true
}

// holds reports whether a group contains a command of Recount.
func (a Agent) holds(group *hujson.Object) bool {
	return slices.ContainsFunc(list(group, "hooks"), a.isOurs)
}

// isOurs reports whether a handler is a command of Recount.
func (a Agent) isOurs(handler hujson.ArrayElement) bool {
	h, ok := handler.Value.(*hujson.Object)
	return ok && a.ours(textOf(get(h, "command")))
}

// strip removes Recount's commands below all events, and the containers that become empty.
func (a Agent) strip(root *hujson.Object) error {
	at := slices.IndexFunc(root.Members, func(m hujson.ObjectMember) bool { return nameOf(m) == "hooks" })
	if at < 0 {
		return nil
	}
	hooks, ok := root.Members[at].Value.Value.(*hujson.Object)
	if !ok {
		return fmt.Errorf("%q is not an object", "hooks")
	}
	for i, m := range slices.Backward(slices.Clone(hooks.Members)) {
		groups, ok := m.Value.Value.(*hujson.Array)
		if !ok {
			if a.has(nameOf(m)) {
				return fmt.Errorf("%q of %q is not a list", nameOf(m), "hooks")
			}
			continue // a switch, or a value of a later version
		}
		if a.stripGroups(groups) && len(groups.Elements) == 0 {
			removeMember(hooks, i)
		}
	}
	if len(hooks.Members) == 0 {
		removeMember(root, at)
		if len(root.Members) == 0 && len(bytes.TrimSpace(root.AfterExtra)) == 0 {
			root.AfterExtra = nil
		}
	}
	return nil
}

// stripGroups removes Recount's commands from the groups of an event, and reports whether there
// were any.
func (a Agent) stripGroups(groups *hujson.Array) (changed bool) {
	for i, g := range slices.Backward(slices.Clone(groups.Elements)) {
		group, ok := g.Value.(*hujson.Object)
		if !ok || !a.holds(group) {
			continue
		}
		changed = true
		handlers := get(group, "hooks").(*hujson.Array)
		for j, h := range slices.Backward(slices.Clone(handlers.Elements)) {
			if a.isOurs(h) {
				removeElement(handlers, j)
			}
		}
		if len(handlers.Elements) == 0 {
			removeElement(groups, i)
		}
	}
	return changed
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
