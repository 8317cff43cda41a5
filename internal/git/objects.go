package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// These are the types of objects.
const (
	TypeBlob   = "blob"
	TypeTree   = "tree"
	TypeCommit = "commit"
	TypeTag    = "tag"
)

// ObjectError reports an object that cannot be read.
type ObjectError struct {
	ID string
	// Missing means that git does not find the object: a partial clone does not have it, or the
	// start of its file is damaged. Otherwise it exists and is damaged.
	Missing bool
	// Detail is git's message.
	Detail string
}

func (e *ObjectError) Error() string {
	if e.Missing {
		return fmt.Sprintf("object %s: missing or damaged: check with git fsck; git fetch --refetch --no-filter completes a partial clone", e.ID)
	}
	return fmt.Sprintf("object %s: corrupt (%s): check with git fsck", e.ID, e.Detail)
}

// Unreadable reports whether an error means that git cannot read a part of the repository.
func Unreadable(err error) bool {
	var object *ObjectError
	var ended *Error
	return errors.As(err, &object) || errors.As(err, &ended)
}

// Objects reads objects through one long-running `git cat-file --batch`, and their sizes through
// one `--batch-check`; each starts when it is first needed. It is not safe for concurrent use.
type Objects struct {
	r           *Repo
	ctx         context.Context //nolint:containedctx // the life of the processes
	full, check *process
	content     []byte
}

// Objects returns a reader, which lives until the context ends or Close is called.
func (r *Repo) Objects(ctx context.Context) *Objects { return &Objects{r: r, ctx: ctx} }

// Close ends the processes.
func (o *Objects) Close() error { return errors.Join(o.full.close(), o.check.close()) }

// Info is an object's type and size; Type is "" if the object is missing.
type Info struct {
	ID   string
	Type string
	Size int64
}

// Infos passes each object's type and size to each, in order. A name may also be COMMIT:PATH; the
// answer then contains the id.
func (o *Objects) Infos(names []string, each func(i int, info Info) error) error {
	done := 0
	err := o.infos(names, func(i int, info Info) error {
		done = i + 1
		return each(i, info)
	})
	if !ofPartial(err) || done == len(names) {
		return err
	}
	// In a partial clone git ends at an object that is missing.
	there, err := o.there(names[done:])
	if err != nil {
		return err
	}
	for i := done; i < len(names); i++ {
		if !there[names[i]] {
			if err := each(i, Info{ID: names[i]}); err != nil {
				return err
			}
			continue
		}
		n := i
		for n < len(names) && there[names[n]] {
			n++
		}
		if err := o.infos(names[i:n], func(j int, info Info) error { return each(i+j, info) }); err != nil {
			return err
		}
		i = n - 1
	}
	return nil
}

// infos is Infos of objects that the clone does not lack.
func (o *Objects) infos(names []string, each func(i int, info Info) error) error {
	if len(names) == 0 {
		return nil
	}
	if o.check == nil || ofPartial(o.check.ended) {
		var err error
		if o.check, err = o.r.start(o.ctx, "cat-file", "--batch-check"); err != nil {
			return err
		}
	}
	return o.each(o.check, names, each)
}

// there returns which objects a partial clone has. It asks for all ids at once, and for other names one
// by one.
func (o *Objects) there(names []string) (map[string]bool, error) {
	there := map[string]bool{}
	var ids strings.Builder
	for _, name := range names {
		if IsID(name) {
			ids.WriteString(name + "\n")
			continue
		}
		err := o.infos([]string{name}, func(_ int, info Info) error {
			there[name] = info.Type != ""
			return nil
		})
		if err != nil && !ofPartial(err) {
			return nil, err
		}
	}
	if ids.Len() == 0 {
		return there, nil
	}
	cmd := o.r.command(o.ctx, "rev-list", "--objects", "--no-walk", "--ignore-missing", "--missing=allow-any", "--stdin")
	cmd.Stdin = strings.NewReader(ids.String())
	out, err := finish(cmd, "rev-list")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		id, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		there[id] = true
	}
	return there, nil
}

// ofPartial reports whether git ended because a partial clone lacks an object.
func ofPartial(err error) bool {
	var object *ObjectError
	var ended *Error
	return errors.As(err, &object) && strings.Contains(object.Detail, "promisor remote") ||
		errors.As(err, &ended) && strings.Contains(ended.Stderr, "promisor remote")
}

// Read passes each object's content to a function, in order; the content is valid until the
// function returns. For a missing object it returns an *ObjectError.
func (o *Objects) Read(ids []string, each func(i int, info Info, content []byte) error) error {
	if len(ids) == 0 {
		return nil
	}
	if o.full == nil || ofPartial(o.full.ended) {
		var err error
		if o.full, err = o.r.start(o.ctx, "cat-file", "--batch"); err != nil {
			return err
		}
	}
	return o.each(o.full, ids, func(i int, info Info) error {
		if info.Type == "" {
			return &ObjectError{ID: ids[i], Missing: true}
		}
		// The buffer grows with the content, so that a wrong size does not allocate memory.
		if int64(cap(o.content)) > 8<<20 && info.Size < 1<<20 {
			o.content = nil
		}
		o.content = o.content[:0]
		for left := info.Size; left > 0; {
			n := min(left, 4<<20)
			o.content = append(o.content, make([]byte, n)...)
			if _, err := io.ReadFull(o.full.out, o.content[int64(len(o.content))-n:]); err != nil {
				return o.broken(o.full, ids[i], err)
			}
			left -= n
		}
		if b, err := o.full.out.ReadByte(); err != nil || b != '\n' {
			return o.broken(o.full, ids[i], fmt.Errorf("no end of the object: %w", err))
		}
		return each(i, info, o.content)
	})
}

// Damaged reports whether an object that git does not find has a file nevertheless, so that it is
// damaged and not missing from the clone.
func (r *Repo) Damaged(id string) bool {
	if !IsID(id) {
		return false
	}
	_, err := os.Lstat(filepath.Join(r.CommonDir, "objects", id[:2], id[2:]))
	return err == nil
}

// each requests all names and reads the headers of the answers. If it stops early, the process
// cannot be used again.
func (o *Objects) each(p *process, names []string, fn func(i int, info Info) error) (err error) {
	if p.ended != nil {
		return p.ended
	}
	for _, name := range names {
		if strings.ContainsAny(name, "\n\x00") {
			return fmt.Errorf("object %q: not an object id", name)
		}
	}
	wait := p.ask(strings.Join(names, "\n") + "\n")
	defer func() {
		if err != nil {
			_ = p.fail(err)
		}
		wait()
	}()
	for i, name := range names {
		head, err := p.out.ReadString('\n')
		if err != nil {
			return o.broken(p, name, err)
		}
		info, ok := parseInfo(strings.TrimSuffix(head, "\n"), name)
		if !ok {
			return o.broken(p, name, fmt.Errorf("git answers %q", head))
		}
		if err := fn(i, info); err != nil {
			return err
		}
	}
	return nil
}

func parseInfo(head, name string) (Info, bool) {
	if rest, ok := strings.CutPrefix(head, name); ok {
		if rest == " missing" || rest == " ambiguous" {
			return Info{ID: name}, true
		}
	}
	f := strings.Split(head, " ")
	if len(f) != 3 || !IsID(f[0]) {
		return Info{}, false
	}
	n, err := strconv.ParseInt(f[2], 10, 64)
	return Info{ID: f[0], Type: f[1], Size: n}, err == nil && n >= 0
}

// broken ends a process that did not answer and returns an error about the object.
func (o *Objects) broken(p *process, id string, err error) error {
	ctx := o.ctx.Err()
	err = p.fail(err)
	if ctx != nil {
		return ctx
	}
	return &ObjectError{ID: id, Detail: err.Error(), Missing: ofPartial(err)}
}
