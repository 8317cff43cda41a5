package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/shell"
	"github.com/recountdb/recount/schemas"
)

// maxValues bounds the other values of a parameter.
const maxValues = 8

// slot is a word of a command that may be a parameter.
type slot struct{ name, value string }

// slots returns the words of a line that can be parameters: values of variables and flags, and
// arguments, each with the name that it would have.
func slots(l *shell.Line) (out []slot) {
	for _, v := range l.Assigned {
		if !v.Unknown && v.Value.Value != "" {
			out = append(out, slot{v.Name, v.Value.Value})
		}
	}
	for i := range l.Calls {
		c := &l.Calls[i]
		for _, v := range c.Assigns {
			if !v.Unknown && v.Value.Value != "" {
				out = append(out, slot{v.Name, v.Value.Value})
			}
		}
		flag := ""
		for k, w := range c.Args {
			v := w.Value
			name, rest, assigns := strings.Cut(v, "=")
			switch {
			case w.Dynamic || v == "":
			case assigns && rest != "" && strings.Trim(name, "-") != "":
				out = append(out, slot{upper(name), rest})
			case strings.HasPrefix(v, "-"):
				flag = v
				continue
			case strings.HasPrefix(flag, "--"):
				out = append(out, slot{upper(flag), v})
			default:
				out = append(out, slot{fmt.Sprintf("%s_%d", upper(c.Name), k+1), v})
			}
			flag = ""
		}
	}
	return out
}

func upper(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, strings.TrimLeft(s, "-"))
}

// parameters finds the values that differ between runs of one template that did not fail, and those that the request
// sets. Steps are indexes of acts. The error is a *query.RequestError.
func parameters(w *world, s *slice, runs []commands.Scanned, set map[string]string) ([]replay.Parameter, error) {
	byTemplate := map[string][]commands.Scanned{}
	steps := map[schemas.EventID]bool{} // two steps of one template are no two runs of one step
	for i, a := range w.acts {
		steps[a.ID] = s.kept[i]
	}
	for _, c := range sorted(runs) {
		if c.ExitCode != nil && *c.ExitCode != 0 {
			continue // with a value that may be wrong
		}
		byTemplate[c.Template] = append(byTemplate[c.Template], c)
	}
	lines := map[schemas.EventID][]slot{}
	read := func(c commands.Scanned) []slot {
		if have, ok := lines[c.ID]; ok {
			return have
		}
		var found []slot
		if l, err := shell.Read(c.Command, c.Shell, c.Cwd); err == nil {
			found = slots(l)
		}
		lines[c.ID] = found
		return found
	}
	var out []replay.Parameter
	at := map[slot]int{}
	find := func(name, value string) *replay.Parameter {
		if i, ok := at[slot{name, value}]; ok {
			return &out[i]
		}
		at[slot{name, value}] = len(out)
		out = append(out, replay.Parameter{Name: name, Value: value, Steps: []int{}, Values: []string{}, Origins: []schemas.Position{}})
		return &out[len(out)-1]
	}
	for i, a := range w.acts {
		if !s.kept[i] || a.Line == nil {
			continue
		}
		mine := slots(a.whole)
		for k, sl := range mine {
			_, asked := set[sl.name]
			if asked && !strings.HasPrefix(sl.value, "[redacted:") {
				p := find(sl.name, sl.value)
				p.Steps = append(p.Steps, i)
			}
			others := byTemplate[a.Template]
			for n := len(others) - 1; n >= 0; n-- {
				o := others[n]
				if steps[o.ID] || o.Command == a.Command || o.Cwd != a.Cwd {
					continue
				}
				theirs := read(o)
				if len(theirs) != len(mine) || theirs[k].name != sl.name || theirs[k].value == sl.value || strings.Contains(theirs[k].value+sl.value, "[redacted:") || !alike(mine, theirs, k) {
					continue
				}
				p := find(sl.name, sl.value)
				if !slices.Contains(p.Steps, i) {
					p.Steps = append(p.Steps, i)
				}
				if len(p.Values) < maxValues && !slices.Contains(p.Values, theirs[k].value) {
					p.Values = append(p.Values, theirs[k].value)
					p.Origins = append(p.Origins, o.Position)
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		found := false
		for i := range out {
			if out[i].Name == name {
				found = true
				out[i].Set = set[name]
			}
		}
		if !found {
			var known []string
			for _, p := range out {
				known = append(known, p.Name)
			}
			slices.Sort(known)
			hint := "no step has a variable, flag or argument of that name"
			if len(known) > 0 {
				hint += "; parameters are " + strings.Join(slices.Compact(known), ", ")
			}
			return nil, &query.RequestError{Field: "set", Value: fmt.Sprintf("%q", name), Reason: hint}
		}
	}
	// A value that is not set is listed only if other runs had another one, and not for every path.
	out = slices.DeleteFunc(out, func(p replay.Parameter) bool { return p.Set == "" && len(p.Values) == 0 })
	for i := range out {
		slices.Sort(out[i].Steps)
		out[i].Steps = slices.Compact(out[i].Steps)
	}
	slices.SortStableFunc(out, func(a, b replay.Parameter) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// alike reports whether two runs have most of their words in common, apart from the one in question.
// Two commits with different messages are not one command with a parameter.
func alike(a, b []slot, except int) bool {
	differ := 0
	for i := range a {
		if i != except && a[i].value != b[i].value {
			differ++
		}
	}
	return differ == 0 || differ*2 < len(a)-1
}
