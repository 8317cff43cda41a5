package plan

import (
	"path"
	"strings"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/effects"
)

func key(t effects.Thing) string {
	kind := t.Kind
	if kind == effects.Directory {
		kind = effects.Path
	}
	return kind + "\x00" + t.Repo + "\x00" + t.Name
}

func isPath(t effects.Thing) bool { return t.Kind == effects.Path || t.Kind == effects.Directory }

func within(name, dir string) bool {
	return name == dir || dir == "/" || strings.HasPrefix(name, dir) && len(name) > len(dir) && name[len(dir)] == '/'
}

// covers reports whether a thing, such as a directory tree or a pattern, includes another one or a part
// of it.
func covers(wide, t effects.Thing) bool {
	if wide.Kind != t.Kind && !(isPath(wide) && isPath(t)) || wide.Repo != t.Repo {
		return false
	}
	switch {
	case wide.Name == t.Name, wide.Name == "*" && !isPath(wide):
		return true
	case wide.Glob && t.Glob:
		return within(path.Dir(t.Name), path.Dir(wide.Name)) || within(path.Dir(wide.Name), path.Dir(t.Name))
	case wide.Glob:
		for name := t.Name; len(name) > 1; name = path.Dir(name) {
			if ok, _ := path.Match(wide.Name, name); ok {
				return true
			}
		}
		return false
	case wide.Tree:
		name := t.Name
		if t.Glob {
			name = path.Dir(name)
		}
		return within(name, wide.Name) || t.Tree && within(wide.Name, name)
	}
	return false
}

// overlaps reports whether one of two things covers the other.
func overlaps(a, b effects.Thing) bool { return covers(a, b) || covers(b, a) }

// kindOf returns the kind of dependency of an act that needs a thing.
func kindOf(t effects.Thing) string {
	switch t.Kind {
	case effects.Directory:
		return replay.NeedDirectory
	case effects.Package:
		return replay.NeedPackage
	case effects.Image:
		return replay.NeedImage
	case effects.Container:
		return replay.NeedContainer
	case effects.Port, effects.Address, effects.Job:
		return replay.NeedService
	case effects.Branch, effects.Tag:
		return replay.NeedBranch
	case effects.Commit, effects.Staged, effects.Repository, effects.Settings, effects.Bisect, effects.Remote, "stash", "notes", "pushed":
		return replay.NeedCommit
	case effects.Path:
		if t.Tree {
			return replay.NeedDirectory
		}
	}
	return replay.NeedFile
}

// product returns the name under which the writes of a build are compared: what it builds, or its command line.
func product(a *act) string {
	if a.Built && a.Product != "" {
		return a.Product
	}
	return strings.Join(strings.Fields(a.Command), " ")
}
