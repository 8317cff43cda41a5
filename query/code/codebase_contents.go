package code

import (
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// FileRevision is a file that a commit changed, with the events that hold its content before and after
// the commit; nil if it did not exist then, or if its content is not in the log.
type FileRevision struct {
	Path          string
	Before, After *schemas.Position
}

// CommitsBetween returns the commits of a repository between two times that are not merges, the
// newest first, each with the paths that it changed. It visits at most `most` commits. A commit
// that was imported in full lists all files, and is left out unless it is the first of all.
func (c *Codebase) CommitsBetween(repo string, from, to time.Time, most int) (all []Changed, paths [][]string, err error) {
	for g, graph := range c.w.graphs {
		if graph.repo != repo {
			continue
		}
		snap := c.w.snaps[g]
		err = c.a.history(snap.Repo(), snap.CodeSnapshot, most, func(s *recountv1.CodeSnapshot) bool {
			ch := changedBy(s, ByFile)
			if len(s.Parents) > 1 || s.Scope == recountv1.Scope_SCOPE_FULL && len(s.Parents) > 0 || ch.Time.Before(from) || !ch.Time.Before(to) {
				return true
			}
			all, paths = append(all, ch), append(paths, s.Changed)
			return true
		})
	}
	return all, paths, err
}

// Revisions returns the files that a commit changed, at most `most`, or nil if the commit or its
// parent has no graph.
func (c *Codebase) Revisions(repo, commit string, most int) ([]FileRevision, error) {
	for g, graph := range c.w.graphs {
		if graph.repo != repo {
			continue
		}
		snap := c.w.snaps[g]
		s, err := c.a.view.Commit(snap.Repo(), commit)
		if err != nil || s == nil || s.Maps == nil || len(s.Parents) == 0 {
			return nil, err
		}
		parent, err := c.a.view.Commit(snap.Repo(), s.Parents[0])
		if err != nil || parent == nil || parent.Maps == nil {
			return nil, err
		}
		after, err := c.a.view.Open(s)
		if err != nil {
			return nil, err
		}
		before, err := c.a.view.Open(parent)
		if err != nil {
			return nil, err
		}
		var all []FileRevision
		for _, p := range s.Changed[:min(len(s.Changed), most)] {
			r := FileRevision{Path: p}
			if r.Before, err = contentAt(before, p); err != nil {
				return nil, err
			}
			if r.After, err = contentAt(after, p); err != nil {
				return nil, err
			}
			all = append(all, r)
		}
		return all, nil
	}
	return nil, nil
}

// contentAt returns the event that holds a file of a snapshot, or nil.
func contentAt(s *snapshots.Snapshot, path string) (*schemas.Position, error) {
	files, err := s.Files()
	if err != nil {
		return nil, err
	}
	value, ok, err := files.Get([]byte(path))
	if err != nil || !ok {
		return nil, err
	}
	f := &recountv1.CodeFile{}
	if err := proto.Unmarshal(value, f); err != nil {
		return nil, err
	}
	facts, err := s.Facts(f)
	if err != nil || facts == nil {
		return nil, err
	}
	at := schemas.PositionOf(facts.Position)
	return &at, nil
}

// Place finds the file of a repository that a running program names by a path of its own, such as
// /srv/app/lib/price.py for carts/lib/price.py: the file with the longest common end, below dir if
// there is one. It returns "" if none has the same name.
func (c *Codebase) Place(repo, dir, seen string) string {
	seen = strings.Trim(strings.TrimPrefix(strings.ReplaceAll(seen, `\`, "/"), "./"), "/")
	name := seen[strings.LastIndexByte(seen, '/')+1:]
	best, longest := "", 0
	for _, graph := range c.w.graphs {
		if graph.repo != repo {
			continue
		}
		for i := range graph.nodes {
			n := int32(i)
			if graph.kind(n) != recountv1.SymbolKind_SYMBOL_KIND_FILE {
				continue
			}
			path := graph.keys[n].Path()
			if !strings.HasSuffix(path, name) {
				continue
			}
			common := commonEnd(path, seen)
			if below, ok := strings.CutPrefix(path, dir+"/"); dir != "" && ok && commonEnd(below, seen) == segments(below) {
				common += 100 // the whole path below the service's folder
			} else if common != segments(path) && (dir == "" || !ok) {
				continue
			}
			if common > longest {
				best, longest = path, common
			}
		}
	}
	return best
}

// Folder returns the folder of a repository with a name, the one nearest to the root, or "" if there
// is none or several are as near.
func (c *Codebase) Folder(repo, name string) string {
	best, depth, several := "", 0, false
	for _, graph := range c.w.graphs {
		if graph.repo != repo {
			continue
		}
		for i := range graph.nodes {
			n := int32(i)
			if graph.kind(n) != recountv1.SymbolKind_SYMBOL_KIND_FILE || graph.nodes[n].test {
				continue
			}
			parts := strings.Split(graph.keys[n].Path(), "/")
			at := slices.Index(parts[:len(parts)-1], name)
			if at < 0 {
				continue
			}
			dir := strings.Join(parts[:at+1], "/")
			switch {
			case best == "" || at < depth:
				best, depth, several = dir, at, false
			case at == depth && dir != best:
				several = true
			}
		}
	}
	if several {
		return ""
	}
	return best
}

func segments(path string) int { return strings.Count(path, "/") + 1 }

// commonEnd returns the number of segments with which both paths end.
func commonEnd(a, b string) (n int) {
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	slices.Reverse(x)
	slices.Reverse(y)
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return n
}

// InFile returns the function of a file by its name or, if the file has none of that name, by a
// line of it.
func (c *Codebase) InFile(repo, path, name string, line uint32) (found []Handled) {
	for gi, g := range c.w.graphs {
		if g.repo != repo {
			continue
		}
		var all []int32
		if name != "" {
			all = g.inFile(path, name)
		}
		if len(all) == 0 && line > 0 {
			all = g.atLine(path, line)
		}
		for _, n := range all {
			if g.keys[n].Path() == path && g.chain(n) != "" {
				found = append(found, c.handled(ref{int32(gi), n}, 1000))
			}
		}
	}
	return found
}
