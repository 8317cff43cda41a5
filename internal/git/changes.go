package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// File modes, as trees hold them.
const (
	ModeFile       = 0o100644
	ModeExecutable = 0o100755
	ModeSymlink    = 0o120000
	ModeSubmodule  = 0o160000
)

// Change is what differs at one path between two trees.
type Change struct {
	// Status is git's letter: A, M, D, R, C or T.
	Status byte
	// Path is the bytes that git has; OldPath is set for R and C.
	Path, OldPath string
	// Mode and Blob are the new side's: 0 and "" for a deletion.
	Mode uint32
	Blob string
	// Size is set by listings of trees alone; -1 says that git does not find the
	// file's content.
	Size int64
}

// Diffs compares commits with their parents through one long-lived `git diff-tree
// --stdin`. It is used by one goroutine at a time.
type Diffs struct {
	r   *Repo
	ctx context.Context //nolint:containedctx // the life of the processes
	p   *process        // nil until it is needed, and after a clone lacked something
	// at is how many of the pairs being asked for are answered.
	at   atomic.Int64
	slow time.Duration
}

// Lacks says what a clone lacks of what is needed to compare two commits.
type Lacks int

// What may be lacking: a partial clone, or one that was made without all of its objects.
const (
	LacksNothing Lacks = iota
	// LacksContent: contents, so that only exact renames are found.
	LacksContent
	// LacksTrees: what the commit changes is not known.
	LacksTrees
)

// renameLimit bounds the work of finding renames: commits with more added times
// deleted files than its square have only exact ones. It is set here, for the
// changes of a commit must not depend on anyone's configuration.
const renameLimit = 1000

// Diffs opens the reader, which lives as long as the context and until Close.
func (r *Repo) Diffs(ctx context.Context) *Diffs { return &Diffs{r: r, ctx: ctx, slow: slowDiff} }

func (d *Diffs) start(renames string) (*process, error) {
	return d.r.start(d.ctx, "diff-tree", "--stdin", "--root", "-r", "-z", renames, fmt.Sprintf("-l%d", renameLimit),
		"--raw", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none")
}

const (
	similarRenames = "-M50%"
	exactRenames   = "-M100%" // which reads no contents
)

// Close ends the process.
func (d *Diffs) Close() error { return d.p.close() }

// diffEnd is no object id, so diff-tree echoes it: what was asked before it has
// been answered.
const diffEnd = "end"

// Pair is a commit and what it is compared with, nothing where Parent is "".
type Pair struct{ Commit, Parent string }

// Changes are those from a parent to a commit, by path; with parent "" those
// from nothing.
func (d *Diffs) Changes(commit, parent string) (changes []Change, err error) {
	err = d.Each([]Pair{{commit, parent}}, func(_ int, all []Change, lacks Lacks) error {
		if lacks == LacksTrees {
			return &ObjectError{ID: commit, Detail: "its trees are missing"}
		}
		changes = all
		return nil
	})
	return changes, err
}

// Each hands the changes of each pair to a function, in order, and what the clone lacks
// of them. All are asked for at once. No commit is in two pairs.
func (d *Diffs) Each(pairs []Pair, each func(i int, changes []Change, lacks Lacks) error) error {
	for _, p := range pairs {
		if !IsID(p.Commit) || (p.Parent != "" && !IsID(p.Parent)) {
			return fmt.Errorf("changes of %q from %q: want object ids", p.Commit, p.Parent)
		}
	}
	done := 0
	err := d.ask(pairs, similarRenames, func(i int, changes []Change) error {
		done = i + 1
		return each(i, changes, LacksNothing)
	})
	if !lacking(err) {
		return err
	}
	return d.one(pairs[done:], func(i int, changes []Change, lacks Lacks) error { return each(done+i, changes, lacks) })
}

// lacking reports whether git ended since an object is not there.
func lacking(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	for _, said := range []string{"unable to read", "promisor remote", "bad tree object", "Could not read"} {
		if strings.Contains(e.Stderr, said) && !strings.Contains(e.Stderr, "corrupt") {
			return true
		}
	}
	return false
}

// one compares pairs one by one, of a clone that lacks something.
func (d *Diffs) one(pairs []Pair, each func(i int, changes []Change, lacks Lacks) error) (err error) {
	c := d.r.counter(d.ctx)
	defer func() { err = errors.Join(err, c.close()) }()
	for i, p := range pairs {
		// Of clones without trees, that of the commit is missing nearly always.
		tree, err := c.tree(p.Commit)
		if err != nil {
			return err
		}
		if tree == "" {
			if err := each(i, nil, LacksTrees); err != nil {
				return err
			}
			continue
		}
		var changes []Change
		lacks := LacksNothing
		for _, renames := range []string{similarRenames, exactRenames, ""} {
			if renames == "" {
				changes, lacks = nil, LacksTrees
				break
			}
			err := d.ask(pairs[i:i+1], renames, func(_ int, all []Change) error {
				changes = all
				return nil
			})
			if err == nil {
				break
			}
			if !lacking(err) {
				return err
			}
			lacks = LacksContent
		}
		if err := each(i, changes, lacks); err != nil {
			return err
		}
	}
	return nil
}

// ask has the process compare pairs. One that looks for other renames than the next is to
// is ended.
func (d *Diffs) ask(pairs []Pair, renames string, each func(i int, changes []Change) error) (err error) {
	if d.p != nil && d.p.ended != nil && !lacking(d.p.ended) {
		return d.p.ended
	}
	if d.p == nil || d.p.ended != nil {
		if d.p, err = d.start(renames); err != nil {
			return err
		}
	}
	var questions strings.Builder
	for _, p := range pairs {
		questions.WriteString(p.Commit)
		if p.Parent != "" {
			questions.WriteString(" " + p.Parent)
		}
		questions.WriteByte('\n')
	}
	questions.WriteString(diffEnd + "\n")
	d.at.Store(0)
	stop := d.watch(pairs)
	wait := d.p.ask(questions.String())
	defer func() {
		if err != nil {
			_ = d.p.fail(err)
		}
		wait()
		if over := stop(); err != nil && over != nil {
			err = over
		}
		if err == nil && renames != similarRenames {
			err = d.p.close()
			d.p = nil
		}
	}()
	return d.answers(pairs, each)
}

// answers reads them: of a pair that differs its commit's id, then the changes.
func (d *Diffs) answers(pairs []Pair, each func(i int, changes []Change) error) error {
	at := 0 // pairs before it are done
	var changes []Change
	paths, limit := 0, d.r.maxPaths()
	done := func(next int) error {
		for ; at < next; at++ {
			if err := each(at, changes); err != nil {
				return err
			}
			changes, paths = nil, 0
			d.at.Store(int64(at) + 1)
		}
		return nil
	}
	for {
		first, err := d.p.out.Peek(1)
		if err != nil {
			return d.broken(pairs, at, err)
		}
		if first[0] == ':' {
			c, err := readChange(d.p.out)
			if err != nil {
				return d.broken(pairs, at, err)
			}
			if paths++; c.Status == 'R' {
				paths++ // one that is gone, and one that is new
			}
			if paths > limit {
				return &PathsError{pairs[at].Commit, limit}
			}
			changes = append(changes, c)
			continue
		}
		// A commit's id, ended by a zero byte, or the end.
		line, err := readUntil(d.p.out, '\n', 0)
		if err != nil {
			return d.broken(pairs, at, err)
		}
		if line == diffEnd {
			return done(len(pairs))
		}
		next := at
		for next < len(pairs) && pairs[next].Commit != line {
			next++
		}
		if next == len(pairs) {
			return d.broken(pairs, at, fmt.Errorf("git answers %q", line))
		}
		if err := done(next); err != nil {
			return err
		}
	}
}

// broken tells of an answer that did not come: of a pair, or of one that follows.
func (d *Diffs) broken(pairs []Pair, at int, err error) error {
	err = d.p.fail(err)
	if at == len(pairs)-1 {
		return fmt.Errorf("changes of commit %s: %w", pairs[at].Commit, err)
	}
	return fmt.Errorf("changes of commits from %s on: %w", pairs[at].Commit, err)
}

// readUntil reads up to one of two bytes, which it leaves out.
func readUntil(r *bufio.Reader, a, b byte) (string, error) {
	var s []byte
	for {
		c, err := r.ReadByte()
		if err != nil {
			return "", err
		}
		if c == a || c == b {
			return string(s), nil
		}
		s = append(s, c)
	}
}

// readChange reads ":100644 100644 OLD NEW M\0path\0", or two paths.
func readChange(r *bufio.Reader) (Change, error) {
	var c Change
	head, err := r.ReadString(0)
	if err != nil {
		return c, err
	}
	f := strings.Fields(strings.TrimSuffix(head, "\x00"))
	if len(f) != 5 || !strings.HasPrefix(f[0], ":") || f[4] == "" || !IsID(f[3]) {
		return c, fmt.Errorf("git answers %q", head)
	}
	mode, err := strconv.ParseUint(f[1], 8, 32)
	if err != nil {
		return c, fmt.Errorf("git answers %q", head)
	}
	c.Status = f[4][0]
	if c.Status != 'D' {
		c.Mode, c.Blob = uint32(mode), f[3]
	}
	if c.Path, err = path(r); err != nil {
		return c, err
	}
	if c.Status == 'R' || c.Status == 'C' {
		c.OldPath = c.Path
		c.Path, err = path(r)
	}
	return c, err
}

func path(r *bufio.Reader) (string, error) {
	s, err := r.ReadString(0)
	return strings.TrimSuffix(s, "\x00"), err
}

// ErrLacksTrees: the clone has not all trees of a commit.
var ErrLacksTrees = errors.New("the clone has not all of its trees: git fetch --refetch --no-filter brings them")

// Tree lists every file of a commit, by path, with sizes, as changes of status A. It is
// ErrLacksTrees, after some of them perhaps, where the clone has not all of its trees.
func (r *Repo) Tree(ctx context.Context, commit string, each func(Change) error) error {
	if !IsID(commit) {
		return fmt.Errorf("files of %q: want an object id", commit)
	}
	if err := r.checkTree(ctx, commit); err != nil {
		return err
	}
	p, err := r.start(ctx, "ls-tree", "-r", "-z", "-l", "--full-tree", "--end-of-options", commit)
	if err != nil {
		return err
	}
	for {
		// "100644 blob ID    1234\tpath\0"; a submodule's size is "-".
		entry, err := p.out.ReadString(0)
		if errors.Is(err, io.EOF) && entry == "" {
			break
		}
		if err != nil {
			return fmt.Errorf("files of commit %s: %w", commit, p.fail(err))
		}
		head, name, ok := strings.Cut(strings.TrimSuffix(entry, "\x00"), "\t")
		f := strings.Fields(head)
		if !ok || len(f) != 4 || !IsID(f[2]) {
			return fmt.Errorf("files of commit %s: %w", commit, p.fail(fmt.Errorf("git answers %q", entry)))
		}
		mode, err := strconv.ParseUint(f[0], 8, 32)
		if err != nil {
			return fmt.Errorf("files of commit %s: %w", commit, p.fail(fmt.Errorf("git answers %q", entry)))
		}
		c := Change{Status: 'A', Path: name, Mode: uint32(mode), Blob: f[2]}
		switch f[3] {
		case "-": // a submodule's
		case "BAD":
			c.Size = -1
		default:
			if c.Size, err = strconv.ParseInt(f[3], 10, 64); err != nil {
				return fmt.Errorf("files of commit %s: %w", commit, p.fail(fmt.Errorf("git answers %q", entry)))
			}
		}
		if err := each(c); err != nil {
			_ = p.fail(err)
			return err
		}
	}
	if err := p.rest(); err != nil {
		if lacking(err) || strings.Contains(err.Error(), "not a tree object") {
			err = errors.Join(ErrLacksTrees, err)
		}
		return errors.Join(ctx.Err(), fmt.Errorf("files of commit %s: %w", commit, err))
	}
	return nil
}
