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

// These are the file modes in trees.
const (
	ModeFile       = 0o100644
	ModeExecutable = 0o100755
	ModeSymlink    = 0o120000
	ModeSubmodule  = 0o160000
)

// Change is the difference at one path between two trees.
type Change struct {
	// Status is git's letter: A, M, D, R, C or T.
	Status byte
	// Path is in the bytes that git has; OldPath is set for R and C.
	Path, OldPath string
	// Mode and Blob are those of the new side: 0 and "" for a deletion.
	Mode uint32
	Blob string
	// Size is set only by listings of trees; -1 means that git does not find the file's content.
	Size int64
}

// Diffs compares commits with their parents through one long-lived `git diff-tree
// --stdin`. It is used by one goroutine at a time.
type Diffs struct {
	r   *Repo
	ctx context.Context //nolint:containedctx // the life of the processes
	p   *process        // nil until needed, and after an object was lacking
	// at is the number of pairs of the current request that are answered.
	at   atomic.Int64
	slow time.Duration
}

// Lacks says which objects needed to compare two commits are missing in a clone.
type Lacks int

// These are the values of Lacks; clones lack objects if they are partial or were made without all
// objects.
const (
	LacksNothing Lacks = iota
	// LacksContent means that contents are missing, so that only exact renames are found.
	LacksContent
	// LacksTrees means that the commit's changes are unknown.
	LacksTrees
)

// renameLimit limits the work of finding renames: for commits with more added times deleted files
// than its square only exact renames are found. It is set here because the changes of a commit must
// not depend on a user's configuration.
const renameLimit = 1000

// Diffs returns a reader, which lives until the context ends or Close is called.
func (r *Repo) Diffs(ctx context.Context) *Diffs { return &Diffs{r: r, ctx: ctx, slow: slowDiff} }

func (d *Diffs) start(renames string) (*process, error) {
	return d.r.start(d.ctx, "diff-tree", "--stdin", "--root", "-r", "-z", renames, fmt.Sprintf("-l%d", renameLimit),
		"--raw", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none")
}

const (
	similarRenames = "-M50%"
	exactRenames   = "-M100%" // reads no contents
)

// Close ends the process.
func (d *Diffs) Close() error { return d.p.close() }

// diffEnd is not an object id, so diff-tree echoes it, which shows that all earlier requests are
// answered.
const diffEnd = "end"

// Pair is a commit and its base of comparison; with Parent "" it is compared with the empty tree.
type Pair struct{ Commit, Parent string }

// Each passes the changes of each pair, and what the clone lacks of them, to a function, in order.
// All pairs are requested at once. No commit may be in two pairs.
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
	var ended *Error
	switch rest := pairs[done:]; {
	case !lacking(err) && errors.As(err, &ended) && len(rest) > 1:
		return d.until(rest, func(i int, changes []Change, lacks Lacks) error { return each(done+i, changes, lacks) })
	case !lacking(err):
		return err
	}
	return d.one(pairs[done:], func(i int, changes []Change, lacks Lacks) error { return each(done+i, changes, lacks) })
}

// lacking reports whether git ended because an object is missing.
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

// until compares pairs one at a time up to the one at which git ends: of several it doesn't say which.
func (d *Diffs) until(pairs []Pair, each func(i int, changes []Change, lacks Lacks) error) error {
	d.p = nil // it has ended
	for i := range pairs {
		err := d.ask(pairs[i:i+1], similarRenames, func(_ int, changes []Change) error { return each(i, changes, LacksNothing) })
		if lacking(err) {
			return d.one(pairs[i:], func(j int, changes []Change, lacks Lacks) error { return each(i+j, changes, lacks) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// one compares pairs one at a time, in a clone that lacks objects.
func (d *Diffs) one(pairs []Pair, each func(i int, changes []Change, lacks Lacks) error) (err error) {
	c := d.r.counter(d.ctx)
	defer func() { err = errors.Join(err, c.close()) }()
	for i, p := range pairs {
		// In a clone without trees, the commit's tree is nearly always missing.
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

// ask sends pairs to the process. It ends a process that detects renames in another way than
// requested.
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

// answers reads the answers: for a pair that differs the commit's id, then the changes.
func (d *Diffs) answers(pairs []Pair, each func(i int, changes []Change) error) error {
	at := 0 // pairs before this index are done
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
				paths++ // one path is gone, one is new
			}
			if paths > limit {
				return &PathsError{pairs[at].Commit, limit}
			}
			changes = append(changes, c)
			continue
		}
		// A commit's id, ended by a zero byte, or diffEnd.
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

// broken returns the error for an answer that did not arrive, for a pair or a later one.
func (d *Diffs) broken(pairs []Pair, at int, err error) error {
	err = d.p.fail(err)
	if at == len(pairs)-1 {
		return fmt.Errorf("changes of commit %s: %w", pairs[at].Commit, err)
	}
	return fmt.Errorf("changes of commits from %s on: %w", pairs[at].Commit, err)
}

// readUntil reads up to one of two bytes and returns what precedes it.
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

// readChange parses ":100644 100644 OLD NEW M\0path\0", or the same with two paths.
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

// ErrLacksTrees means that the clone does not have all trees of a commit.
var ErrLacksTrees = errors.New("the clone lacks some trees: git fetch --refetch --no-filter fetches them")

// Tree passes every file of a commit, sorted by path, with its size, to each, as changes of status
// A. If the clone lacks trees, it returns ErrLacksTrees, possibly after some files.
func (r *Repo) Tree(ctx context.Context, commit string, each func(Change) error) error {
	if !IsID(commit) {
		return fmt.Errorf("files of %q: want an object id", commit)
	}
	if err := r.checkTree(ctx, commit); err != nil {
		return err
	}
	passed := 0
	err := r.tree(ctx, commit, true, func(c Change) error {
		passed++
		return each(c)
	})
	if ofPartial(err) {
		// git ends at a content whose size it does not find.
		err = r.treeOfPartial(ctx, commit, passed, each)
	}
	if lacking(err) || err != nil && strings.Contains(err.Error(), "not a tree object") {
		err = errors.Join(ErrLacksTrees, err)
	}
	return err
}

// treeOfPartial is Tree without the first files, in a clone that does not have all of the contents.
func (r *Repo) treeOfPartial(ctx context.Context, commit string, without int, each func(Change) error) (err error) {
	o := r.Objects(ctx)
	defer func() { err = errors.Join(err, o.Close()) }()
	var part []Change
	sized := func() error {
		var files []*Change
		var ids []string
		for i := range part {
			if part[i].Mode != ModeSubmodule {
				files, ids = append(files, &part[i]), append(ids, part[i].Blob)
			}
		}
		err := o.Infos(ids, func(i int, info Info) error {
			if files[i].Size = info.Size; info.Type == "" {
				files[i].Size = -1
			}
			return nil
		})
		for i := 0; i < len(part) && err == nil; i++ {
			err = each(part[i])
		}
		part = part[:0]
		return err
	}
	n := 0
	err = r.tree(ctx, commit, false, func(c Change) error {
		if n++; n <= without {
			return nil
		}
		if part = append(part, c); len(part) == aheadChanges {
			return sized()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return sized()
}

// tree lists the files of a commit, with their sizes if they are wanted.
func (r *Repo) tree(ctx context.Context, commit string, sizes bool, each func(Change) error) error {
	args, fields := []string{"ls-tree", "-r", "-z", "--full-tree"}, 3
	if sizes {
		args, fields = append(args, "-l"), 4
	}
	p, err := r.start(ctx, append(args, "--end-of-options", commit)...)
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
		c, err := readFile(entry, fields)
		if err != nil {
			return fmt.Errorf("files of commit %s: %w", commit, p.fail(err))
		}
		if err := each(c); err != nil {
			_ = p.fail(err)
			return err
		}
	}
	if err := p.rest(); err != nil {
		return errors.Join(ctx.Err(), fmt.Errorf("files of commit %s: %w", commit, err))
	}
	return nil
}

// readFile parses an entry of a tree, of so many fields before its path.
func readFile(entry string, fields int) (c Change, err error) {
	wrong := fmt.Errorf("git answers %q", entry)
	head, name, ok := strings.Cut(strings.TrimSuffix(entry, "\x00"), "\t")
	f := strings.Fields(head)
	if !ok || len(f) != fields || !IsID(f[2]) {
		return c, wrong
	}
	mode, err := strconv.ParseUint(f[0], 8, 32)
	if err != nil {
		return c, wrong
	}
	c = Change{Status: 'A', Path: name, Mode: uint32(mode), Blob: f[2]}
	switch {
	case fields < 4, f[3] == "-": // the size of a submodule
	case f[3] == "BAD":
		c.Size = -1
	default:
		if c.Size, err = strconv.ParseInt(f[3], 10, 64); err != nil {
			return c, wrong
		}
	}
	return c, nil
}
