package plan

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/replay/shell"
	"github.com/recountdb/recount/schemas"
)

// maxInputs bounds the inputs of a plan that are listed.
const maxInputs = 64

// inputs returns the files that steps read and that no step before them makes, by the acts that read them.
func (b *builder) inputs() []replay.Input {
	var out []replay.Input
	made := func(i int, t effects.Thing) bool {
		if slices.ContainsFunc(b.w.acts[i].deps, func(d dep) bool { return b.s.kept[d.on] && d.what == t.Name }) {
			return true // also if it may have made it
		}
		return slices.ContainsFunc(b.w.acts[:i+1], func(a *act) bool {
			return b.s.kept[a.at] && slices.ContainsFunc(a.Things, func(o effects.Thing) bool {
				return isPath(o) && o.Access != effects.Read && o.Access != effects.Remove && (a.at < i || o.Access == effects.Write && t.Access == effects.Update || o.Kind == effects.Directory) && (overlaps(o, t) || within(o.Name, t.Name))
			})
		})
	}
	for i, a := range b.w.acts {
		if !b.s.kept[i] {
			continue
		}
		for _, t := range a.Things {
			read := t.Access == effects.Read || t.Access == effects.Update
			if !read || t.Kind != effects.Path || t.Glob || t.Partial || t.Sure < 0.9 && !a.readsOperand(t.Name) || !strings.HasPrefix(t.Name, "/") || machines(t.Name) || within(a.Cwd, t.Name) || strings.ContainsFunc(t.Name, func(r rune) bool { return r < ' ' }) || made(i, t) {
				continue
			}
			in := replay.Input{Path: b.m.Path(t.Name), Step: i, Certain: a.needsThere(t), Evidence: []schemas.Position{a.Position}}
			switch at := slices.IndexFunc(out, func(o replay.Input) bool { return o.Path == in.Path }); {
			case at < 0 && len(out) < maxInputs:
				out = append(out, in)
			case at >= 0 && in.Certain && !out[at].Certain:
				out[at] = in
			}
		}
	}
	return out
}

// machines reports whether a path belongs to the machine rather than to who works on it.
func machines(name string) bool {
	return slices.ContainsFunc([]string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/dev", "/proc", "/sys", "/etc"}, func(dir string) bool { return within(name, dir) })
}

// needsThere reports whether a file that an act reads was certainly there: it was seen before the act changed it, or the
// act is one call that is known to read it by name, and would have failed without it.
func (a *act) needsThere(t effects.Thing) bool {
	if a.ExitCode == nil || *a.ExitCode != 0 || a.Line == nil || len(a.Line.Calls) != 1 || a.Line.Calls[0].Maybe || a.Background {
		return false
	}
	if t.Access == effects.Update {
		appended := slices.ContainsFunc(a.Line.Redirects, func(r shell.Redirect) bool { return r.Appends() })
		f, seen := a.seenFile(t.Name)
		return seen && !appended && f.Was != "" && f.Was != absent
	}
	return a.readsOperand(t.Name) || a.Known && copies[a.Line.Calls[0].Name]
}

// readers are programs all of whose operands are files that they read, and runners those whose first operand is.
var (
	readers = map[string]bool{"cat": true, "tac": true, "head": true, "tail": true, "sort": true, "wc": true, "cut": true, "nl": true, "paste": true, "join": true, "comm": true, "column": true, "od": true, "base64": true, "md5sum": true, "sha1sum": true, "sha256sum": true}
	runners = map[string]bool{"sh": true, "bash": true, "dash": true, "python3": true, "python": true, "perl": true, "node": true, "ruby": true}
	copies  = map[string]bool{"cp": true, "mv": true}
)

// readsOperand reports whether a path is an operand of one of the readers, or the script of one of the runners.
func (a *act) readsOperand(name string) bool {
	return a.Line != nil && slices.ContainsFunc(a.Line.Calls, func(c shell.Call) bool {
		operands := shell.Operands(c.Args, "-n -c -d -f -k -t -o -s -w -A -j -N --lines --bytes --key --delimiter --fields")
		if runners[c.Name] && len(operands) > 0 && len(c.Args) > 0 && c.Args[0].Value == operands[0].Value {
			operands = operands[:1]
		} else if !readers[c.Name] {
			return false
		}
		return slices.ContainsFunc(operands, func(v shell.Word) bool {
			p, ok := shell.Resolve(v, c.Dir, a.home)
			return ok && p == name
		})
	})
}

// seenFile returns how a file was seen to change while an act ran.
func (a *act) seenFile(name string) (f SeenFile, seen bool) {
	if a.seen != nil {
		f, seen = a.seen.Files[name]
	}
	return f, seen
}
