package code

import (
	"cmp"
	"maps"
	"slices"
	"time"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// SymbolAuthors has the authors of a symbol, by the snapshots of the commits before.
type SymbolAuthors struct {
	Symbol
	// Added is the commit that added it. If it was present in the oldest known graph, Since is the
	// oldest commit that has it instead.
	Added   *Touch   `json:"added,omitempty" doc:"The commit that added the symbol; absent if the oldest commit with a graph already has it."`
	Since   string   `json:"since,omitempty" doc:"If added is absent: the oldest commit examined that has the symbol."`
	Last    *Touch   `json:"last,omitempty" doc:"The last commit that changed its signature or body, or else the commit that added it."`
	Changes int      `json:"changes" example:"3" doc:"The number of commits that added or changed it. A merge counts only if it differs from all its parents."`
	Authors []Author `json:"authors" nullable:"false" doc:"The authors who changed it, ordered by number of changes, descending."`

	touches []touch
}

// Touch is a commit that changed something.
type Touch struct {
	Commit string    `json:"commit" doc:"The commit."`
	Author string    `json:"author" example:"Ada <ada@example.org>" doc:"The commit's author."`
	Time   time.Time `json:"time,omitzero" doc:"When."`
}

type touch struct {
	Touch
	added bool
}

// line is one line of a history being followed. tracked maps the symbols' keys at its commit to
// their indexes.
type line struct {
	commit  *recountv1.CodeSnapshot
	tracked map[schemas.NodeKey]int
}

// authorship follows symbols of a snapshot back through the earlier commits, also to other files if
// they moved unchanged, and returns who changed each. It reads the difference of each commit that
// touches one of their files. looked is the number of commits examined, at most `most`.
func (a *session) authorship(snap *snapshots.Snapshot, keys []schemas.NodeKey, most int) (all []SymbolAuthors, looked int, err error) {
	nodes, err := snap.Nodes()
	if err != nil {
		return nil, 0, err
	}
	start := line{snap.CodeSnapshot, map[schemas.NodeKey]int{}}
	for _, k := range keys {
		n, err := nodeIn(nodes, k)
		if err != nil {
			return nil, 0, err
		}
		if n != nil {
			symbol, err := symbolOf(snap, k, n)
			if err != nil {
				return nil, 0, err
			}
			start.tracked[k] = len(all)
			all = append(all, SymbolAuthors{Symbol: symbol})
		}
	}
	seen := map[string]bool{snap.Commit: true}
	read := 0
	for queue := []line{start}; len(queue) > 0 && looked < most; looked++ {
		if looked&0xff == 0 && a.Ctx.Err() != nil {
			return nil, looked, a.Ctx.Err()
		}
		l := queue[0]
		queue = queue[1:]
		parents, err := a.parents(snap.Repo(), l.commit)
		if err != nil {
			return nil, looked, err
		}
		next := l.tracked
		switch {
		case len(parents) == 0 || parents[0] == nil || parents[0].Maps == nil:
			if err := a.begins(l, all); err != nil {
				return nil, looked, err
			}
			continue
		case touches(l):
			read++
			if next, err = a.touched(l, parents, all); err != nil {
				return nil, looked, err
			}
		}
		for i, p := range parents {
			if p == nil || seen[p.Commit] {
				continue
			}
			seen[p.Commit] = true
			if i > 0 {
				next = l.tracked
			}
			if len(next) > 0 {
				queue = append(queue, line{p, next})
			}
		}
	}
	for i := range all {
		all[i].sum()
	}
	a.Step(query.Step{Operator: "authorship", Counts: map[string]int64{"symbols": int64(len(all)), "commits": int64(looked), "differences read": int64(read)}})
	a.RecordTime("authorship")
	return all, looked, nil
}

// parents returns a commit's parents; an unknown one is nil.
func (a *session) parents(repo snapshots.RepoID, c *recountv1.CodeSnapshot) ([]*recountv1.CodeSnapshot, error) {
	var all []*recountv1.CodeSnapshot
	for _, p := range c.Parents {
		s, err := a.view.Commit(repo, p)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// touches reports whether a commit changes a file with one of the symbols, or may do so: large
// commits do not list all their files.
func touches(l line) bool {
	if l.commit.Maps == nil {
		return false
	}
	if int(l.commit.ChangedCount) > len(l.commit.Changed) {
		return true
	}
	for k := range l.tracked {
		if _, ok := slices.BinarySearch(l.commit.Changed, k.Path()); ok {
			return true
		}
	}
	return false
}

// begins records that the known history of some symbols begins with a commit.
func (a *session) begins(l line, all []SymbolAuthors) error {
	if l.commit.Maps == nil {
		return nil
	}
	s, err := a.view.Open(l.commit)
	if err != nil {
		return err
	}
	nodes, err := s.Nodes()
	if err != nil {
		return err
	}
	for k, i := range l.tracked {
		there, err := nodes.Has([]byte(k))
		switch {
		case err != nil:
			return err
		case !there:
		case len(l.commit.Parents) == 0:
			all[i].touches = append(all[i].touches, touch{a.touchOf(l.commit), true})
		default:
			all[i].Since = l.commit.Commit
		}
	}
	return nil
}

// touched records what a commit did to the symbols, and returns their keys in its first parent.
func (a *session) touched(l line, parents []*recountv1.CodeSnapshot, all []SymbolAuthors) (map[schemas.NodeKey]int, error) {
	now, err := a.view.Open(l.commit)
	if err != nil {
		return nil, err
	}
	base, err := a.view.Open(parents[0])
	if err != nil {
		return nil, err
	}
	diff, err := changes(base, now)
	if err != nil {
		return nil, err
	}
	moved := movesOf(diff)
	next := maps.Clone(l.tracked)
	for _, c := range diff {
		i, ok := l.tracked[c.key]
		if !ok {
			continue
		}
		kind := moved.kind(c)
		switch kind {
		case changeOther:
			continue
		case changeMoved:
			delete(next, c.key)
			next[moved.from[c.key]] = i
			continue
		case changeAdded:
			delete(next, c.key)
		}
		mine, err := a.differsFromOthers(parents[1:], c)
		if err != nil {
			return nil, err
		}
		if mine {
			all[i].touches = append(all[i].touches, touch{a.touchOf(l.commit), kind == changeAdded})
		}
	}
	return next, nil
}

// differsFromOthers reports whether a node differs from all further parents of a merge, too.
func (a *session) differsFromOthers(parents []*recountv1.CodeSnapshot, c change) (bool, error) {
	for _, p := range parents {
		if p == nil || p.Maps == nil {
			continue
		}
		s, err := a.view.Open(p)
		if err != nil {
			return false, err
		}
		nodes, err := s.Nodes()
		if err != nil {
			return false, err
		}
		old, err := nodeIn(nodes, c.key)
		if err != nil {
			return false, err
		}
		if old != nil && (change{c.key, old, c.new}).kind() == changeOther {
			return false, nil
		}
	}
	return true, nil
}

func (a *session) touchOf(c *recountv1.CodeSnapshot) Touch {
	t := Touch{Commit: c.Commit, Author: a.people.name(c.GetAuthor())}
	if at := c.GetAuthor().GetTime(); at != nil {
		t.Time = at.AsTime()
	}
	return t
}

// sum computes the answer from the recorded touches, the newest first.
func (s *SymbolAuthors) sum() {
	slices.SortStableFunc(s.touches, func(x, y touch) int { return y.Time.Compare(x.Time) })
	s.Changes, s.Authors = len(s.touches), []Author{}
	for i, t := range s.touches {
		if i == 0 {
			s.Last = &Touch{t.Commit, t.Author, t.Time}
		}
		if t.added { // the oldest counts
			s.Added, s.Since = &Touch{t.Commit, t.Author, t.Time}, ""
		}
		at := slices.IndexFunc(s.Authors, func(x Author) bool { return x.Name == t.Author })
		if at < 0 {
			at = len(s.Authors)
			s.Authors = append(s.Authors, Author{Name: t.Author, Last: t.Time, Commit: t.Commit})
		}
		s.Authors[at].Commits++
	}
	slices.SortStableFunc(s.Authors, func(x, y Author) int { return cmp.Compare(y.Commits, x.Commits) })
}
