package git

import (
	"context"
	"iter"
	"sync"
)

// Entry is a commit from History.
type Entry struct {
	Walked
	Commit Commit
	// Changes are the changes from its first parent, from the empty tree if it has none; there are
	// none if the first parent is beyond the border of a shallow clone.
	Changes []Change
	// Lacks says which of the objects that the commit changes are missing in the clone.
	Lacks Lacks
}

const (
	// aheadCommits is the number of commits requested at once.
	aheadCommits = 256
	// aheadChanges limits the changes that are read ahead; the changes of one commit may exceed it.
	aheadChanges = 10_000
)

// History yields the same commits as Walk, with their content and changes. Each of the git
// processes behind it reads ahead: all of them work while the caller does.
func (r *Repo) History(ctx context.Context, from, not []string, each func(Entry) error) error {
	commits := ahead(r.walked(ctx, from, not))
	commits = ahead(r.read(ctx, commits))
	for part, err := range ahead(r.changed(ctx, commits)) {
		for _, e := range part {
			if err := each(e); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// entries yields runs of consecutive commits. An error is the last element, and may come together
// with the commits before it.
type entries = iter.Seq2[[]Entry, error]

// walked yields the commits with their ids.
func (r *Repo) walked(ctx context.Context, from, not []string) entries {
	return func(yield func([]Entry, error) bool) {
		var part []Entry
		stopped := false
		err := r.Walk(ctx, from, not, func(w Walked) error {
			if part = append(part, Entry{Walked: w}); len(part) == aheadCommits {
				if stopped = !yield(part, nil); stopped {
					return context.Canceled
				}
				part = nil
			}
			return nil
		})
		if !stopped {
			yield(part, err)
		}
	}
}

// read adds the commits' content.
func (r *Repo) read(ctx context.Context, commits entries) entries {
	return func(yield func([]Entry, error) bool) {
		o := r.Objects(ctx)
		defer func() { _ = o.Close() }() // its errors were already returned by the reads
		for part, err := range commits {
			ids := make([]string, len(part))
			for i, e := range part {
				ids[i] = e.ID
			}
			n := 0
			rerr := o.Commits(ids, func(c Commit) error {
				part[n].Commit = c
				n++
				return nil
			})
			if rerr != nil { // it precedes an error of the walk
				part, err = part[:n], rerr
			}
			if !yield(part, err) || err != nil {
				return
			}
		}
	}
}

// changed adds the commits' changes.
func (r *Repo) changed(ctx context.Context, commits entries) entries {
	return func(yield func([]Entry, error) bool) {
		d := r.Diffs(ctx)
		defer func() { _ = d.Close() }()
		for part, err := range commits {
			var pairs []Pair
			var of []int // indexes of the entries that the pairs belong to
			for i, e := range part {
				switch {
				case len(e.Parents) > 0:
					pairs, of = append(pairs, Pair{e.ID, e.Parents[0]}), append(of, i)
				case len(e.Commit.Parents) == 0:
					pairs, of = append(pairs, Pair{Commit: e.ID}), append(of, i)
				}
			}
			// sent and complete count entries of part; held counts changes that are waiting.
			sent, complete, held := 0, len(part), 0
			stopped := false
			if len(pairs) > 0 {
				answered := 0
				derr := d.Each(pairs, func(i int, changes []Change, lacks Lacks) error {
					part[of[i]].Changes, part[of[i]].Lacks = changes, lacks
					answered++
					if held += len(changes); held >= aheadChanges {
						if stopped = !yield(part[sent:of[i]+1], nil); stopped {
							return context.Canceled
						}
						sent, held = of[i]+1, 0
					}
					return nil
				})
				if derr != nil { // it precedes an error of the commits
					complete, err = of[answered], derr
				}
			}
			if stopped || !yield(part[sent:complete], err) || err != nil {
				return
			}
		}
	}
}

// ahead runs a sequence in a goroutine of its own, at most one and a half steps ahead of the
// consumer. The goroutine ends before the loop over it does.
func ahead[T any](seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	type step struct {
		v   T
		err error
	}
	return func(yield func(T, error) bool) {
		steps, stop := make(chan step, 1), make(chan struct{})
		var running sync.WaitGroup
		running.Go(func() {
			defer close(steps)
			for v, err := range seq {
				select {
				case steps <- step{v, err}:
				case <-stop:
					return
				}
			}
		})
		defer running.Wait()
		defer close(stop)
		for s := range steps {
			if !yield(s.v, s.err) {
				return
			}
		}
	}
}
