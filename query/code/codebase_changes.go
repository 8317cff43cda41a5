package code

import (
	"cmp"
	"slices"
	"strings"
	"time"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Changed is a commit that changed something of a codebase.
type Changed struct {
	Repo     string           `json:"repo" example:"github.com/acme/shop" doc:"The repository."`
	Commit   string           `json:"commit" example:"9fceb02d0ae598e95dc970b74767f19372d61af8" doc:"The commit."`
	Subject  string           `json:"subject,omitempty" example:"carts: retry on timeouts" doc:"The first line of its message."`
	Author   string           `json:"author" example:"Ada <ada@example.org>" doc:"The commit's author."`
	Time     time.Time        `json:"time,omitzero" doc:"When it was committed."`
	Position schemas.Position `json:"position" doc:"The event that closed the commit."`
	// By is BySymbol or ByFile.
	By string `json:"by" enum:"symbol,file" example:"symbol" doc:"symbol: the commit changed the symbol itself, according to the graphs before and after it. file: it changed the file that declares the symbol; without older graphs nothing more precise is known."`
}

// These are the values of Changed.By.
const (
	BySymbol = "symbol"
	ByFile   = "file"
)

// Changes returns for each symbol the commits that changed it, the newest first. It examines at
// most `most` commits of each repository. Before the oldest graph, the commits of the symbol's file
// are used.
func (c *Codebase) Changes(of []Handled, most int) ([][]Changed, error) {
	out := make([][]Changed, len(of))
	byGraph := map[int32][]int{}
	for i, h := range of {
		byGraph[h.at.g] = append(byGraph[h.at.g], i)
	}
	for g := range c.w.graphs {
		if at := byGraph[int32(g)]; len(at) > 0 {
			if err := c.changesIn(int32(g), of, at, out, most); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func (c *Codebase) changesIn(g int32, of []Handled, at []int, out [][]Changed, most int) error {
	snap := c.w.snaps[g]
	var keys []schemas.NodeKey
	place := map[schemas.NodeKey]int{}
	for _, i := range at {
		if _, ok := place[of[i].Key]; !ok {
			place[of[i].Key] = len(keys)
			keys = append(keys, of[i].Key)
		}
	}
	authors, _, err := c.a.authorship(snap, keys, most)
	if err != nil {
		return err
	}
	files := map[string][]Changed{}
	for _, i := range at {
		// authorship omits only keys that are not in the graph, and these keys are from it.
		s := &authors[place[of[i].Key]]
		for _, t := range s.touches {
			ch, err := c.changed(snap.Repo(), t.Commit)
			if err != nil {
				return err
			}
			out[i] = append(out[i], ch)
		}
		path := of[i].Key.Path()
		if _, ok := files[path]; !ok {
			if files[path], err = c.fileChanges(snap, path, most); err != nil {
				return err
			}
		}
		known := map[string]bool{}
		for _, ch := range out[i] {
			known[ch.Commit] = true
		}
		for _, ch := range files[path] {
			if !known[ch.Commit] {
				out[i] = append(out[i], ch)
			}
		}
		slices.SortStableFunc(out[i], func(x, y Changed) int { return cmp.Or(y.Time.Compare(x.Time), cmp.Compare(x.Commit, y.Commit)) })
	}
	return nil
}

// fileChanges returns the commits without a graph that changed a file; for the others the changed
// symbols are known. A commit that was imported in full lists all files, so it does not show
// whether a file changed.
func (c *Codebase) fileChanges(snap *snapshots.Snapshot, path string, most int) (all []Changed, err error) {
	err = c.a.history(snap.Repo(), snap.CodeSnapshot, most, func(s *recountv1.CodeSnapshot) bool {
		if s.Scope == recountv1.Scope_SCOPE_METADATA && len(s.Parents) < 2 && changedPath(s.Changed, path) {
			all = append(all, changedBy(s, ByFile))
		}
		return true
	})
	return all, err
}

// changed describes a commit that changed a symbol.
func (c *Codebase) changed(repo snapshots.RepoID, commit string) (Changed, error) {
	s, err := c.a.view.Commit(repo, commit)
	if err != nil || s == nil {
		return Changed{Repo: repo.Name, Commit: commit, By: BySymbol}, err
	}
	return changedBy(s, BySymbol), nil
}

// changedBy describes a commit. Its time is the committer's, at which it reached the branch, since
// that is what a deploy can contain.
func changedBy(s *recountv1.CodeSnapshot, by string) Changed {
	ch := Changed{
		Repo: s.Repository, Commit: s.Commit, Subject: firstLine(s.Message), Author: personName(s.GetAuthor()),
		Position: schemas.PositionOf(s.Position), By: by,
	}
	for _, w := range []*recountv1.Signature{s.Committer, s.Author} {
		if w.GetTime() != nil {
			ch.Time = w.Time.AsTime()
			break
		}
	}
	return ch
}

// Configuration reports whether a path is that of a configuration file, judged by its name.
func Configuration(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if name == "Dockerfile" || strings.HasPrefix(name, "Dockerfile.") || strings.HasPrefix(name, ".env") {
		return true
	}
	for _, suffix := range []string{".yaml", ".yml", ".toml", ".ini", ".conf", ".cfg", ".properties", ".tf", ".tfvars", ".json"} {
		if strings.HasSuffix(name, suffix) {
			return !strings.HasPrefix(path, ".github/") && name != "package-lock.json"
		}
	}
	return false
}
