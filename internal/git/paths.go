package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// DefaultMaxPaths is the limit if Repo.MaxPaths is 0.
const DefaultMaxPaths = 1_000_000

// slowDiff is how long a comparison may take before its paths are counted. In most repositories
// that never happens.
const slowDiff = time.Second

// PathsError means that a commit has, or changes, more paths than the limit. A tree may occur in
// other trees any number of times, so that some kilobytes can expand to a billion paths.
type PathsError struct {
	Commit string
	Limit  int
}

func (e *PathsError) Error() string {
	return fmt.Sprintf("commit %s has or changes more than %d paths: the repository is refused, because it could exhaust memory; if that many paths are intended, raise --max-paths", e.Commit, e.Limit)
}

func (r *Repo) maxPaths() int {
	if r.MaxPaths > 0 {
		return r.MaxPaths
	}
	return DefaultMaxPaths
}

// counter counts paths without listing them: each tree is read once, however often it occurs.
type counter struct {
	objects *Objects
	limit   int
	idBytes int
	trees   map[string]int    // number of paths below a tree
	pairs   map[[2]string]int // number of differing paths between two trees
	close   func() error
}

func (r *Repo) counter(ctx context.Context) *counter {
	c := &counter{objects: r.Objects(ctx), limit: r.maxPaths(), idBytes: 20, trees: map[string]int{}, pairs: map[[2]string]int{}}
	if r.SHA256 {
		c.idBytes = 32
	}
	c.close = c.objects.Close
	return c
}

// treeEntry is an entry of a tree.
type treeEntry struct {
	name, id string
	mode     uint32
}

func (e treeEntry) isTree() bool { return e.mode == 0o40000 }

// entries reads a tree. A missing object, or one that is not a tree, has no entries; the later
// listing reports it.
func (c *counter) entries(id string) (all []treeEntry, err error) {
	err = c.objects.Read([]string{id}, func(_ int, info Info, content []byte) error {
		if info.Type != TypeTree {
			return nil
		}
		for len(content) > 0 {
			head, rest, ok := bytes.Cut(content, []byte{0})
			mode, name, spaced := bytes.Cut(head, []byte(" "))
			n, err := strconv.ParseUint(string(mode), 8, 32)
			if !ok || !spaced || err != nil || len(rest) < c.idBytes {
				return &ObjectError{ID: id, Detail: "no tree"}
			}
			all = append(all, treeEntry{string(name), fmt.Sprintf("%x", rest[:c.idBytes]), uint32(n)})
			content = rest[c.idBytes:]
		}
		return nil
	})
	var missing *ObjectError
	if errors.As(err, &missing) && missing.Missing {
		err = nil
	}
	return all, err
}

// below counts the paths below a tree, up to one more than the limit.
func (c *counter) below(id string) (int, error) {
	if n, known := c.trees[id]; known {
		return n, nil
	}
	entries, err := c.entries(id)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, e := range entries {
		one, err := c.paths(e)
		if err != nil {
			return 0, err
		}
		if n = c.sum(n, one); n > c.limit {
			break
		}
	}
	c.trees[id] = n
	return n, nil
}

// paths counts the paths of an entry.
func (c *counter) paths(e treeEntry) (int, error) {
	if !e.isTree() {
		return 1, nil
	}
	return c.below(e.id)
}

func (c *counter) sum(a, b int) int { return min(a+b, c.limit+1) }

// differing counts the paths that differ between two trees. One of them may be "", the empty tree.
func (c *counter) differing(a, b string) (int, error) {
	switch {
	case a == b:
		return 0, nil
	case a == "":
		return c.below(b)
	case b == "":
		return c.below(a)
	}
	key := [2]string{a, b}
	if n, known := c.pairs[key]; known {
		return n, nil
	}
	before, err := c.entries(a)
	if err != nil {
		return 0, err
	}
	after, err := c.entries(b)
	if err != nil {
		return 0, err
	}
	had := make(map[string]treeEntry, len(before))
	for _, e := range before {
		had[e.name] = e
	}
	n := 0
	add := func(one int, err error) error {
		n = c.sum(n, one)
		return err
	}
	for _, e := range after {
		old, both := had[e.name]
		delete(had, e.name)
		switch {
		case both && old == e:
		case both && old.isTree() && e.isTree():
			err = add(c.differing(old.id, e.id))
		default:
			if err = add(c.paths(e)); err == nil && both {
				err = add(c.paths(old))
			}
		}
		if err != nil || n > c.limit {
			break
		}
	}
	for _, e := range before {
		if _, gone := had[e.name]; !gone || err != nil || n > c.limit {
			continue
		}
		err = add(c.paths(e))
	}
	if err != nil {
		return 0, err
	}
	c.pairs[key] = n
	return n, nil
}

// tree returns a commit's tree, "" for no commit or a missing one.
func (c *counter) tree(commit string) (tree string, err error) {
	if commit == "" {
		return "", nil
	}
	err = c.objects.Infos([]string{commit + "^{tree}"}, func(_ int, info Info) error {
		if info.Type == TypeTree {
			tree = info.ID
		}
		return nil
	})
	return tree, err
}

// checkTree refuses a commit with too many paths.
func (r *Repo) checkTree(ctx context.Context, commit string) (err error) {
	c := r.counter(ctx)
	defer func() { err = errors.Join(err, c.close()) }()
	return c.check(Pair{Commit: commit})
}

// check refuses a pair with too many differing paths.
func (c *counter) check(p Pair) error {
	a, err := c.tree(p.Parent)
	if err != nil {
		return err
	}
	b, err := c.tree(p.Commit)
	if err != nil {
		return err
	}
	n, err := c.differing(a, b)
	if err == nil && n > c.limit {
		err = &PathsError{p.Commit, c.limit}
	}
	return err
}

// watch counts the paths of the current pair of a comparison, and of those after it, if the
// comparison is slow: git lists all of them, and looks for renames among them, before it answers. A
// pair with too many paths ends the process. The returned function ends the watch and returns that
// error.
func (d *Diffs) watch(pairs []Pair) (stop func() error) {
	ctx, cancel := context.WithCancel(d.ctx)
	found := make(chan error, 1)
	go func() {
		defer close(found)
		timer := time.NewTimer(d.slow)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		c := d.r.counter(ctx)
		defer func() { _ = c.close() }()
		for i := 0; i < len(pairs) && ctx.Err() == nil; i++ {
			i = max(i, int(d.at.Load()))
			var over *PathsError
			if i < len(pairs) && errors.As(c.check(pairs[i]), &over) {
				found <- over
				_ = d.p.cmd.Process.Kill()
				return
			}
		}
	}()
	return func() error {
		cancel()
		return <-found
	}
}
