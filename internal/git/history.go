package git

import (
	"context"
	"iter"
	"sync"
)

// Entry is a commit on a walk, read.
type Entry struct {
	Walked
	Commit Commit
	// Changes are those from its first parent; from nothing where it has none, and
	// none where that lies behind the border of a shallow clone.
	Changes []Change
	// Lacks is what the clone lacks of what the commit changes.
	Lacks Lacks
}

const (
	// aheadCommits is how many commits are asked for at once.
	aheadCommits = 256
	// aheadChanges bounds the changes that are read ahead, to within those of a commit.
	aheadChanges = 10_000
)

// History yields the commits that Walk does, with what they say and change. Each of
// the git processes behind it reads ahead: all of them work while the caller does.
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

// entries are some commits of a walk after others. An error is the last, and may
// come with the commits before it.
type entries = iter.Seq2[[]Entry, error]

// walked yields the commits by their ids.
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

// read fills in what the commits say.
func (r *Repo) read(ctx context.Context, commits entries) entries {
	return func(yield func([]Entry, error) bool) {
		o := r.Objects(ctx)
		defer func() { _ = o.Close() }() // what it had to say was said by what it read
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
			if rerr != nil { // it comes before an error of the walk
				part, err = part[:n], rerr
			}
			if !yield(part, err) || err != nil {
				return
			}
		}
	}
}

// changed fills in what the commits change.
func (r *Repo) changed(ctx context.Context, commits entries) entries {
	return func(yield func([]Entry, error) bool) {
		d := r.Diffs(ctx)
		defer func() { _ = d.Close() }()
		for part, err := range commits {
			var pairs []Pair
			var of []int // which entries the pairs are of
			for i, e := range part {
				switch {
				case len(e.Parents) > 0:
					pairs, of = append(pairs, Pair{e.ID, e.Parents[0]}), append(of, i)
				case len(e.Commit.Parents) == 0:
					pairs, of = append(pairs, Pair{Commit: e.ID}), append(of, i)
				}
			}
			// Of part: how many are sent, and how many are complete; of changes: how many wait.
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
				if derr != nil { // it comes before an error of the commits
					complete, err = of[answered], derr
				}
			}
			if stopped || !yield(part[sent:complete], err) || err != nil {
				return
			}
		}
	}
}

// ahead runs a sequence in a goroutine of its own, one step and a half before what
// is asked of it. The goroutine ends before the loop over it does.
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
