package plan

import (
	"cmp"
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
	var all []*parameter
	at := map[slot]*parameter{}
	for i, a := range w.acts {
		if !s.kept[i] || a.Line == nil {
			continue
		}
		mine := slots(a.whole)
		for k, sl := range mine {
			if strings.HasPrefix(sl.value, "[redacted:") {
				continue
			}
			p := at[sl]
			if p == nil {
				p = &parameter{Parameter: replay.Parameter{Name: sl.name, Value: sl.value, Steps: []int{}, Values: []string{}, Origins: []schemas.Position{}}, base: sl.name}
				at[sl], all = p, append(all, p)
			}
			p.has = append(p.has, i)
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
				p.Steps = append(p.Steps, i)
				if len(p.Values) < maxValues && !slices.Contains(p.Values, theirs[k].value) {
					p.Values = append(p.Values, theirs[k].value)
					p.Origins = append(p.Origins, o.Position)
				}
			}
		}
	}
	// Those with other values in other runs come first, so that their names are the shortest.
	slices.SortStableFunc(all, func(a, b *parameter) int { return cmp.Compare(min(len(b.Values), 1), min(len(a.Values), 1)) })
	distinguish(all)
	shared := map[string]bool{} // the names of those that are set, without numbers
	for _, name := range slices.Sorted(maps.Keys(set)) {
		i := slices.IndexFunc(all, func(p *parameter) bool { return p.Name == name })
		if i < 0 {
			hint := "no step has a variable, flag or argument of that name"
			if known := known(all, shared); known != "" {
				hint += "; parameters are " + known
			}
			return nil, &query.RequestError{Field: "set", Value: fmt.Sprintf("%q", name), Reason: hint}
		}
		p := all[i]
		p.Set, p.Given, p.Steps, shared[p.base] = set[name], true, append(p.Steps, p.has...), true
	}
	// A value that is not set is listed only if other runs had another one, and not for every path; or if its name is that
	// of one which is set.
	var out []replay.Parameter
	for _, p := range all {
		if !p.Given && len(p.Values) == 0 {
			if !shared[p.base] {
				continue
			}
			p.Steps = p.has
		}
		slices.Sort(p.Steps)
		p.Steps = slices.Compact(p.Steps)
		out = append(out, p.Parameter)
	}
	slices.SortStableFunc(out, func(a, b replay.Parameter) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// parameter is a value that may be set: base is its name without a number, and has are the acts in which it stands.
type parameter struct {
	replay.Parameter
	base string
	has  []int
}

// distinguish numbers values that share a name: PREFIX, PREFIX_2.
func distinguish(all []*parameter) {
	taken, last := map[string]bool{}, map[string]int{}
	for _, p := range all {
		taken[p.base] = true
	}
	for _, p := range all {
		if last[p.base]++; last[p.base] == 1 {
			continue
		}
		for p.Name = fmt.Sprintf("%s_%d", p.base, last[p.base]); taken[p.Name]; p.Name = fmt.Sprintf("%s_%d", p.base, last[p.base]) {
			last[p.base]++
		}
		taken[p.Name] = true
	}
}

// known names the parameters that have other values in other runs, and those whose names are shared, with their values.
func known(all []*parameter, shared map[string]bool) string {
	var names []string
	for _, p := range all {
		if len(p.Values) > 0 || shared[p.base] {
			names = append(names, fmt.Sprintf("%s (%s)", p.Name, replay.Brief(p.Value)))
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
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
