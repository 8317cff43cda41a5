package replay

import (
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay/shell"
)

// NeedsCopy returns why the run of a plan needs a copy of its directory, which overlayfs would not show as a step wants
// it, or "". Git links files when it clones a repository of this machine, and refuses if a link shows another number than
// its file, as it does to whoever is not root. Git mv renames directories by a call that overlayfs refuses for those
// that were there before; mv copies them then. And of a file that was there before and gets a second name, overlayfs may
// show the length that it had under the first, so that cp and cat leave out what was written since.
func (p *Plan) NeedsCopy() string {
	for i := range p.Steps {
		s := &p.Steps[i]
		l, err := shell.Read(s.Command, path.Base(s.Shell), s.Cwd)
		if err != nil {
			continue
		}
		for j := range l.Calls {
			switch c := &l.Calls[j]; {
			case c.Name == "ln" && !c.Flag("-s", "--symbolic"), c.Name == "cp" && c.Flag("-l", "--link"):
				return c.Name + " gives a file a second name, of which overlayfs may show an old length"
			case c.Name != "git":
			case clonesHere(c):
				return "git links files when it clones a repository of this machine, which overlayfs does not show as it wants it"
			case c.Sub() == "mv" && slices.ContainsFunc(s.Post, func(p Postcondition) bool { return p.Kind == PostDirectory }):
				return "git mv renames a directory, which overlayfs refuses for one that was there before"
			}
		}
	}
	return ""
}

func clonesHere(c *shell.Call) bool {
	here := shell.Call{Args: c.After()}
	words := shell.Operands(here.Args, "-b --branch -o --origin -c --config -j --jobs --depth --reference --template -u --upload-pack --name --filter --separate-git-dir")
	switch c.Sub() {
	case "clone":
		if here.Flag("--no-hardlinks", "--no-local") {
			return false
		}
	case "submodule":
		if len(words) == 0 || words[0].Value != "add" && words[0].Value != "update" {
			return false
		}
		if words = words[1:]; len(words) == 0 {
			return true // where from is in a file
		}
	default:
		return false
	}
	if len(words) == 0 {
		return false
	}
	from := words[0].Value
	host, _, _ := strings.Cut(from, "/")
	return words[0].Dynamic || !strings.Contains(from, "://") && !strings.Contains(host, ":") || here.Flag("--recurse-submodules", "--recursive")
}
