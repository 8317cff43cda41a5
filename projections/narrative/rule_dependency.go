package narrative

import (
	"cmp"
	"math"
	"path"
	"slices"

	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const (
	// maxWriters is the maximum number of writers of one resource that an intent depends on. The
	// newest count, and each weighs half of the one after it.
	maxWriters = 3
	// maxReaders is the maximum number of intents found that depend on one writer through one
	// resource; the newest are found.
	maxReaders = 16
)

// dependencyRule (dependency/2) finds intents that wrote what this one reads or works on. The
// weight is that of the closest tie:
//
//	0.9   it names a file that the other was seen to write
//	0.8   it names what the other wrote, or an argument of it is the name of a file that the
//	      other wrote
//	0.6   it reads it without naming it, as git commit reads the index
//	0.5   it reads a directory below which the other wrote
//	0.4   it reads something in a directory that the other made; or it failed to write
//	      something in a directory that the other made or changed
//	0.5   it changes what the other, of the same session, was the last to show,
//	      and nothing tried to change since
//	0.4   both write it
//	0.3   the other rewrote the working tree that it reads from
//
// The weight is halved for the second newest writer and again for the third; if the other is known
// to have failed; if this was tried since with the same outcome, which is then explained already;
// if a directory above the resource was made or removed since; and if the tie is by way of a
// directory and the other is of another session. It is multiplied by 0.3 if this failed but what
// the other wrote was read with success since. By way of a directory, a failed intent does not
// count as a writer. An intent that was seen to leave a resource as it was did not write it, whatever
// its text says.
var dependencyRule = rule{
	kind: Dependency,
	name: "dependency/2",
	in: func(f *forming) error {
		ties, err := f.v.ties(f.to)
		if err != nil {
			return err
		}
		for _, t := range ties {
			if err := f.edge(t.from, t.weight, t.evidence...); err != nil {
				return err
			}
		}
		return nil
	},
	ends: dependants,
}

const (
	seenWeight = 0.9
	showsSeen  = "was seen to write"
)

// halved are the factors of the newest writer and those before it.
var halved = [maxWriters]float64{1, 0.5, 0.25}

// tie joins an intent to an earlier one that wrote what it uses.
type tie struct {
	from     *Node
	weight   float64
	exact    bool     // it reads, by name, what the other wrote
	shown    bool     // the other only displayed it
	proven   bool     // it was used with success since
	rank     int      // lower bound of how many intents wrote the resource since
	resource Resource // as the other wrote it
	used     Resource // as this one uses it, if by way of a directory
	evidence []Evidence
}

// ties returns the ties of an intent to earlier ones, newest first.
func (v *View) ties(n *Node) ([]tie, error) {
	if n.tied {
		return n.ties, nil
	}
	before, alike, err := v.attempt(n)
	if err != nil {
		return nil, err
	}
	f := tieFinder{View: v, n: n, looked: map[string]bool{}}
	if before != nil && n.Failed() && before.Succeeded() && alike > sameThing {
		f.succeeded = before
	}
	if before != nil && alike >= sameThing && before.Failed() == n.Failed() {
		f.before = before
	}
	for _, r := range n.Resources {
		if err := f.resource(r); err != nil {
			return nil, err
		}
	}
	f.using = Resource{}
	if path.IsAbs(n.Dir) {
		dir := path.Clean(n.Dir)
		if err := f.made(dir); err != nil {
			return nil, err
		}
		if err := f.madeAbove(dir); err != nil {
			return nil, err
		}
	}
	all := f.all
	slices.SortFunc(all, func(a, b tie) int { return b.from.Position.Compare(a.from.Position) })
	for i := range all {
		if err := v.outlived(&all[i], all[:i], n); err != nil {
			return nil, err
		}
	}
	n.ties, n.tied = all, true
	return all, nil
}

// tieFinder finds the ties of an intent.
type tieFinder struct {
	*View
	n         *Node
	before    *Node           // the last attempt at the same thing, if it ended as this one
	succeeded *Node           // the same command, if it succeeded when it ran last and this one failed
	using     Resource        // the resource whose directories are being examined
	looked    map[string]bool // the directories that were examined
	all       []tie
}

// add adds a tie, or merges it with the one to the same intent. added is false if there was one.
func (f *tieFinder) add(from *Node, weight float64, rank int, r Resource, shows string, exact bool) (added bool) {
	weight = float64(weight * halved[rank])
	if from.Failed() {
		weight /= 2
	}
	if f.before != nil && from.before(f.before) {
		weight /= 2
	}
	if !exact && from.session != f.n.session {
		weight /= 2
	}
	proven := f.succeeded != nil && from.before(f.succeeded)
	if proven {
		weight = float64(weight * 0.3)
	}
	e := Evidence{Position: from.Position, Shows: shows, Resource: r.String()}
	for i := range f.all {
		if t := &f.all[i]; t.from.Position == from.Position {
			t.exact = t.exact || exact
			if weight > t.weight {
				t.weight, t.resource, t.rank = weight, r, rank
			}
			if len(t.evidence) < 4 && !slices.Contains(t.evidence, e) {
				t.evidence = append(t.evidence, e)
			}
			return false
		}
	}
	f.all = append(f.all, tie{from: from, weight: weight, exact: exact, proven: proven, resource: r, used: f.using, rank: rank, evidence: []Evidence{e}})
	return true
}

// resource adds the ties by way of a resource of the intent.
func (f *tieFinder) resource(r Resource) error {
	if r.Access&(Read|Write) == Write && r.Access&Implied != 0 {
		return nil
	}
	if err := f.wrote(r); err != nil {
		return err
	}
	if r.Access&(Write|Implied) == Write {
		if err := f.shown(f.n, r, func(from *Node) {
			if f.add(from, 0.5, 0, r, "showed", true) {
				f.all[len(f.all)-1].shown = true
			}
		}); err != nil {
			return err
		}
	}
	if r.Kind != recountv1.ResourceKind_RESOURCE_KIND_PATH || r.Access&Bare != 0 || r.Access&Read == 0 && !f.n.Failed() {
		return nil
	}
	if r.Access&Read != 0 && (r.Access&Implied == 0 || r.Name == f.n.Dir) {
		if err := f.writers(kindBelow, f.n, r, maxWriters, func(from *Node, w Resource, rank int, _ bool) {
			if !from.Failed() {
				f.add(from, 0.5, rank, w, "wrote below", false)
			}
		}); err != nil {
			return err
		}
	}
	f.using = r
	return f.madeAbove(r.Name)
}

// wrote adds the intents that wrote a resource.
func (f *tieFinder) wrote(r Resource) error {
	weight := 0.8
	switch {
	case r.Access&Bare != 0:
	case r.Access&Implied != 0:
		weight = 0.6
	case r.Access&Read == 0:
		weight = 0.4
	}
	return f.writers(kindWrite, f.n, r, maxWriters, func(from *Node, w Resource, rank int, seen bool) {
		switch {
		case w.Access&Implied != 0 && r.Access&Implied == 0: // see made
		case seen:
			f.add(from, seenWeight, rank, r, showsSeen, true)
		default:
			f.add(from, weight, rank, r, "wrote", r.Access&(Read|Implied) == Read || r.Access&Bare != 0)
		}
	})
}

// madeAbove adds the intents that made the directories above a path.
func (f *tieFinder) madeAbove(name string) error {
	for dir := range above(name, f.n.Workspace) {
		if err := f.made(dir); err != nil {
			return err
		}
	}
	return nil
}

// made adds the intent that made or changed a directory.
func (f *tieFinder) made(dir string) error {
	if f.looked[dir] {
		return nil
	}
	f.looked[dir] = true
	r := Resource{Kind: recountv1.ResourceKind_RESOURCE_KIND_PATH, Name: dir}
	return f.writers(kindWrite, f.n, r, 1, func(from *Node, w Resource, rank int, _ bool) {
		switch {
		case from.Failed():
		case w.Access&(Tree|Implied) == Tree|Implied:
			f.add(from, 0.3, rank, w, "rewrote files below", false)
		case w.Access&Tree != 0 && from.Effects&Configures != 0:
			f.add(from, 0.4, rank, r, "changed the directory", false)
		case w.Access&Tree != 0:
			f.add(from, 0.4, rank, r, "made the directory", false)
		}
	})
}

// outlived lowers the weight of a tie if the resource was replaced, or used with success, since.
func (v *View) outlived(t *tie, newer []tie, n *Node) error {
	for _, o := range newer {
		if !o.exact && !o.shown && below(t.resource.Name, o.resource.Name) && o.from.Effects&WritesTree != 0 {
			t.rank++
			t.weight /= 2
			break
		}
	}
	if !n.Failed() || t.shown || t.resource.Access&(Implied|Bare) == Implied || t.from.Position.TP() != n.Position.TP() {
		return nil
	}
	return v.visitBackward(v.list(kindRead, n, resourceList(t.resource, n.Workspace)), n.Position.Offset, 4, func(offset int64, _ []byte) (bool, error) {
		if offset <= t.from.Position.Offset {
			return false, nil
		}
		u, err := v.sibling(n, offset)
		if u == nil || err != nil || !u.Succeeded() || u.Effects&(Changes|Builds) == 0 && !u.runs(t.resource) {
			return true, err
		}
		t.proven = true
		t.weight = float64(t.weight * 0.3)
		return false, nil
	})
}

// writers visits the intents before n that wrote a resource, or something below it: the newest
// first, each with the resource as it wrote it, the number of newer writers, and whether it was seen to write
// it.
func (v *View) writers(kind byte, n *Node, r Resource, most int, visit func(from *Node, w Resource, rank int, seen bool)) error {
	rank := 0
	see := func(from *Node) error {
		for _, w := range from.Resources {
			if w.Access&Write == 0 || w.Kind != r.Kind {
				continue
			}
			if kind == kindWrite && w.Name != r.Name || kind == kindBelow && (w.Access&Implied != 0 || !below(w.Name, r.Name)) {
				continue
			}
			if not, err := v.untouched(from, w); not || err != nil {
				return err
			}
			visit(from, w, min(rank, maxWriters-1), false)
			rank++
			break
		}
		return nil
	}
	var sure []*Node // that were seen to write it and are still to be visited
	if kind == kindWrite {
		var err error
		if sure, err = v.seenWriters(n, r); err != nil {
			return err
		}
	}
	// seen visits those of them from an offset on, and reports whether the one at the offset is among them.
	seen := func(offset int64) (there bool) {
		for len(sure) > 0 && sure[0].Position.Offset >= offset {
			if there = sure[0].Position.Offset == offset; rank < most {
				visit(sure[0], Resource{Kind: r.Kind, Name: r.Name, Access: Write}, min(rank, maxWriters-1), true)
			}
			rank++
			sure = sure[1:]
		}
		return there
	}
	which := resourceList(r, n.Workspace)
	err := v.visitBackward(v.list(kind, n, which), n.Position.Offset, most, func(offset int64, _ []byte) (bool, error) {
		if seen(offset) {
			return true, nil
		}
		from, err := v.sibling(n, offset)
		if from != nil && err == nil {
			err = see(from)
		}
		return true, err
	})
	seen(0)
	if err != nil || kind != kindWrite || r.Kind != recountv1.ResourceKind_RESOURCE_KIND_PATH || r.Access&(Implied|Bare) == Implied {
		return err
	}
	var failed error
	err = v.visitElsewhere(kind, n, which, func(from *Node) bool {
		if !from.before(n) || from.host != n.host {
			return true
		}
		failed = see(from)
		return false
	})
	return cmp.Or(failed, err)
}

// visitElsewhere visits the intents of a list in the partitions other than n's, in each the newest
// first, until visit returns false.
func (v *View) visitElsewhere(kind byte, n *Node, which uint64, visit func(*Node) bool) error {
	for _, tp := range v.tps {
		if tp == n.Position.TP() {
			continue
		}
		l := list{listPrefix(make([]byte, 0, 48), kind, store.AppendShard(nil, tp), which), v.seen.end(tp)}
		err := v.visitBackward(l, math.MaxInt64, maxReaders, func(offset int64, _ []byte) (bool, error) {
			from, err := v.nodeAt(schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: offset})
			if from == nil || err != nil {
				return true, err
			}
			if err := v.loadOutcome(from); err != nil {
				return false, err
			}
			return visit(from), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// shown visits the intent of the session that was the last to read a resource before n, if it
// changed nothing and nothing tried to write the resource since.
func (v *View) shown(n *Node, r Resource, visit func(from *Node)) error {
	written := int64(-1)
	if err := v.visitBackward(v.list(kindWrite, n, resourceList(r, n.Workspace)), n.Position.Offset, 1, func(offset int64, _ []byte) (bool, error) {
		written = offset
		return false, nil
	}); err != nil {
		return err
	}
	return v.visitBackward(v.list(kindRead, n, resourceList(r, n.Workspace)), n.Position.Offset, 4, func(offset int64, _ []byte) (bool, error) {
		if offset < written {
			return false, nil
		}
		from, err := v.sibling(n, offset)
		if from == nil || err != nil || from.session != n.session || from.uses(r) == 0 {
			return true, err
		}
		if from.Effects&(Changes|Builds) != 0 || from.Failed() {
			return true, nil
		}
		visit(from)
		return false, nil
	})
}

// below reports whether a path is below a directory.
func below(name, dir string) bool {
	return len(name) > len(dir)+1 && name[:len(dir)] == dir && name[len(dir)] == '/'
}

// dependants calls found for the newest intents that use what a node wrote, up to the offset from
// which they would no longer examine it because newer writers displace it.
func dependants(v *View, n *Node, found func(schemas.Position)) error {
	each := func(kind byte, r Resource, end int64) error {
		return v.visitBackward(v.list(kind, n, resourceList(r, n.Workspace)), end, maxReaders, func(offset int64, _ []byte) (bool, error) {
			if offset <= n.Position.Offset {
				return false, nil
			}
			p := n.Position
			p.Offset = offset
			found(p)
			return true, nil
		})
	}
	// end returns the offset from which no intent looks back as far as n for a resource.
	end := func(kind byte, r Resource) (int64, error) {
		last, count := int64(math.MaxInt64), 0
		err := v.visitForward(v.list(kind, n, resourceList(r, n.Workspace)), n.Position.Offset, maxWriters, func(offset int64, _ []byte) (bool, error) {
			if count++; count == maxWriters {
				last = offset + 1
			}
			return true, nil
		})
		return last, err
	}
	for _, r := range n.Resources {
		if r.Access&(Read|Write|Implied) == Read && n.Effects&(Changes|Builds) == 0 {
			// A later change may rest on what this intent displayed.
			if err := v.visitForward(v.list(kindWrite, n, resourceList(r, n.Workspace)), n.Position.Offset, 4, func(offset int64, _ []byte) (bool, error) {
				p := n.Position
				p.Offset = offset
				found(p)
				return true, nil
			}); err != nil {
				return err
			}
		}
		if r.Access&Write == 0 {
			continue
		}
		last, err := end(kindWrite, r)
		if err == nil {
			err = each(kindRead, r, last)
		}
		if err == nil {
			err = each(kindWrite, r, last)
		}
		if err == nil && r.Kind == recountv1.ResourceKind_RESOURCE_KIND_PATH {
			err = v.visitElsewhere(kindRead, n, resourceList(r, n.Workspace), func(to *Node) bool {
				found(to.Position)
				return true
			})
		}
		if err != nil {
			return err
		}
		if r.Kind != recountv1.ResourceKind_RESOURCE_KIND_PATH {
			continue
		}
		if r.Access&Implied == 0 {
			for dir := range above(r.Name, n.Workspace) {
				d := Resource{Kind: r.Kind, Name: dir}
				last, err := end(kindBelow, d)
				if err == nil {
					err = each(kindRead, d, last)
				}
				if err != nil {
					return err
				}
			}
		}
	}
	if n.Effects&(WritesTree|WritesWorktree) != 0 || v.seen.Looked != nil {
		return v.soonAfter(n, found)
	}
	return nil
}

// soonAfter calls found for the next intents of the session.
func (v *View) soonAfter(n *Node, found func(schemas.Position)) error {
	return v.visitForward(v.list(kindSession, n, n.session), n.Position.Offset, window, func(offset int64, _ []byte) (bool, error) {
		p := n.Position
		p.Offset = offset
		found(p)
		return true, nil
	})
}
