package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Commit is a commit object.
type Commit struct {
	ID                string
	Tree              string
	Parents           []string
	Author, Committer Signature
	Message           string
}

// Signature is a person and a time.
type Signature struct {
	Name, Email string
	// Time is in the zone that was recorded.
	Time time.Time
}

// ParseCommit parses a commit object. Text that is not UTF-8 is read as Latin-1, whatever encoding
// the commit states, as git's own tools do.
func ParseCommit(id string, raw []byte) (Commit, error) {
	c := Commit{ID: id}
	head, message, _ := bytes.Cut(raw, []byte("\n\n"))
	for line := range bytes.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		switch key {
		case "tree":
			c.Tree = value
		case "parent":
			c.Parents = append(c.Parents, value)
		case "author":
			c.Author = parseSignature(value)
		case "committer":
			c.Committer = parseSignature(value)
		}
	}
	if !IsID(c.Tree) {
		return c, &ObjectError{ID: id, Detail: "a commit without a tree"}
	}
	for _, p := range c.Parents {
		if !IsID(p) {
			return c, &ObjectError{ID: id, Detail: fmt.Sprintf("a parent %q", p)}
		}
	}
	c.Message = text(message)
	return c, nil
}

// parseSignature parses "Name <email> seconds zone" from the end, as names may contain anything.
// Damaged parts stay empty.
func parseSignature(s string) Signature {
	var sig Signature
	open, end := strings.IndexByte(s, '<'), strings.LastIndexByte(s, '>')
	if open < 0 || end < open {
		sig.Name = text([]byte(strings.TrimSpace(s)))
		return sig
	}
	sig.Name, sig.Email = text([]byte(strings.TrimSpace(s[:open]))), text([]byte(s[open+1:end]))
	f := strings.Fields(s[end+1:])
	if len(f) == 0 {
		return sig
	}
	sec, err := strconv.ParseInt(f[0], 10, 64)
	if err != nil {
		return sig
	}
	zone := time.UTC
	if len(f) > 1 {
		if z, err := strconv.Atoi(f[1]); err == nil && z > -10000 && z < 10000 {
			zone = time.FixedZone("", (z/100*60+z%100)*60)
		}
	}
	sig.Time = time.Unix(sec, 0).In(zone)
	return sig
}

// text converts b to UTF-8.
func text(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	runes := make([]rune, len(b))
	for i, c := range b {
		runes[i] = rune(c)
	}
	return string(runes)
}

// Commits reads commits and passes them to each, in order.
func (o *Objects) Commits(ids []string, each func(c Commit) error) error {
	return o.Read(ids, func(i int, info Info, content []byte) error {
		if info.Type != TypeCommit {
			return &ObjectError{ID: ids[i], Detail: "a " + info.Type + " where a commit belongs"}
		}
		c, err := ParseCommit(ids[i], content)
		if err != nil {
			return err
		}
		return each(c)
	})
}

// Walked is a commit visited by Walk.
type Walked struct {
	ID string
	// Parents are the parents that are in the repository: a commit at the border of a shallow clone
	// has none here.
	Parents []string
}

// Walk yields the commits that are reachable from some commits and not from others, each after its
// parents and close to commits it differs little from (see order). All ids must be commits in the
// repository. The list is kept in memory, some 200 bytes per commit.
func (r *Repo) Walk(ctx context.Context, from, not []string, each func(Walked) error) (err error) {
	if len(from) == 0 {
		return nil
	}
	p, err := r.start(ctx, "rev-list", "--topo-order", "--reverse", "--parents", "--stdin")
	if err != nil {
		return err
	}
	if err := p.revisions(from, not); err != nil {
		return err
	}
	var lines []string
	for {
		line, err := p.out.ReadString('\n')
		if errors.Is(err, io.EOF) && line == "" {
			break
		}
		if err != nil {
			return p.fail(err)
		}
		line = strings.TrimSuffix(line, "\n")
		for id := range strings.FieldsSeq(line) {
			if !IsID(id) {
				return p.fail(fmt.Errorf("git lists %q", line))
			}
		}
		lines = append(lines, line)
	}
	if err := p.rest(); err != nil {
		return errors.Join(ctx.Err(), err)
	}
	for _, line := range order(lines) {
		ids := strings.Fields(line)
		if err := each(Walked{ids[0], ids[1:]}); err != nil {
			return err
		}
	}
	return nil
}

// Count returns the number of commits that Walk would yield.
func (r *Repo) Count(ctx context.Context, from, not []string) (int64, error) {
	if len(from) == 0 {
		return 0, nil
	}
	p, err := r.start(ctx, "rev-list", "--count", "--stdin")
	if err != nil {
		return 0, err
	}
	if err := p.revisions(from, not); err != nil {
		return 0, err
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		return 0, p.fail(err)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	return n, errors.Join(err, p.rest())
}

// revisions writes the revisions to list, and closes the input.
func (p *process) revisions(from, not []string) error {
	var list strings.Builder
	for i, id := range append(append([]string(nil), from...), not...) {
		if !IsID(id) {
			return p.fail(fmt.Errorf("revision %q: want an object id", id))
		}
		if i >= len(from) {
			list.WriteByte('^')
		}
		list.WriteString(id + "\n")
	}
	wait := p.ask(list.String())
	wait() // rev-list reads all of its input before it prints
	return p.in.Close()
}

// Back returns the commit n steps back along first parents, or the last one if there are fewer.
func (r *Repo) Back(ctx context.Context, id string, n int) (string, error) {
	if !IsID(id) {
		return "", fmt.Errorf("revision %q: want an object id", id)
	}
	out, err := r.run(ctx, "rev-list", "--first-parent", "--max-count="+strconv.Itoa(n+1), "--end-of-options", id)
	if err != nil {
		return "", err
	}
	ids := strings.Fields(string(out))
	if len(ids) == 0 || !IsID(ids[len(ids)-1]) {
		return "", fmt.Errorf("git rev-list answers %q", out)
	}
	return ids[len(ids)-1], nil
}

// Has reports whether a commit is an ancestor of another, or the same.
func (r *Repo) Has(ctx context.Context, descendant, ancestor string) (bool, error) {
	if !IsID(descendant) || !IsID(ancestor) {
		return false, fmt.Errorf("revisions %q and %q: want object ids", descendant, ancestor)
	}
	_, err := r.run(ctx, "merge-base", "--is-ancestor", ancestor, descendant)
	var ge *Error
	if errors.As(err, &ge) && ge.ExitCode() == 1 {
		return false, nil
	}
	return err == nil, err
}
