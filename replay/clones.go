package replay

import (
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay/shell"
)

// ClonesHere reports whether a step clones a repository of this machine with git, which links its files
// instead of copying them, and refuses if a link shows another number than its file. Overlayfs shows another
// one to whoever is not root.
func (p *Plan) ClonesHere() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool {
		l, err := shell.Read(s.Command, path.Base(s.Shell), s.Cwd)
		if err != nil {
			return false
		}
		return slices.ContainsFunc(l.Calls, func(c shell.Call) bool {
			return c.Name == "git" && clonesHere(&c)
		})
	})
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
