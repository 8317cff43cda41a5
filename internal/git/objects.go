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

// Types of objects.
const (
	TypeBlob   = "blob"
	TypeTree   = "tree"
	TypeCommit = "commit"
	TypeTag    = "tag"
)

// ObjectError is an object that cannot be read.
type ObjectError struct {
	ID string
	// Missing says that git does not find it: a partial clone has not got it, or
	// its file is damaged from the start; else it is there and damaged.
	Missing bool
	// Detail is what git said.
	Detail string
}

func (e *ObjectError) Error() string {
	if e.Missing {
		return fmt.Sprintf("object %s: missing or damaged: look with git fsck; a partial clone becomes whole with git fetch --refetch --no-filter", e.ID)
	}
	return fmt.Sprintf("object %s: corrupt (%s): look with git fsck", e.ID, e.Detail)
}

// Objects reads objects through one long-lived `git cat-file --batch`, and their
// sizes through one `--batch-check`; each starts when it is first needed. It is
// used by one goroutine at a time.
type Objects struct {
	r           *Repo
	ctx         context.Context //nolint:containedctx // the life of the processes
	full, check *process
	content     []byte
}

// Objects opens the readers, which live as long as the context and until Close.
func (r *Repo) Objects(ctx context.Context) *Objects { return &Objects{r: r, ctx: ctx} }

// Close ends the processes.
func (o *Objects) Close() error { return errors.Join(o.full.close(), o.check.close()) }

// Info is an object's type and size; Type is "" where it is missing.
type Info struct {
	ID   string
	Type string
	Size int64
}

// Infos gives each object's type and size, in order. A name may also be
// COMMIT:PATH, whose id the answer holds.
func (o *Objects) Infos(names []string, each func(i int, info Info) error) error {
	if len(names) == 0 {
		return nil
	}
	if o.check == nil {
		var err error
		if o.check, err = o.r.start(o.ctx, "cat-file", "--batch-check"); err != nil {
			return err
		}
	}
	return o.each(o.check, names, func(i int, info Info) error { return each(i, info) })
}

// Read hands each object's content to a function, in order; it is valid until
// the function returns. A missing object is an *ObjectError.
func (o *Objects) Read(ids []string, each func(i int, info Info, content []byte) error) error {
	if len(ids) == 0 {
		return nil
	}
	if o.full == nil {
		var err error
		if o.full, err = o.r.start(o.ctx, "cat-file", "--batch"); err != nil {
			return err
		}
	}
	return o.each(o.full, ids, func(i int, info Info) error {
		if info.Type == "" {
			return &ObjectError{ID: ids[i], Missing: true}
		}
		// Grown as it comes, so that a size that lies takes no memory.
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

// Damaged reports whether an object that git does not find has a file all the same: then
// it is not that the clone never got it.
func (r *Repo) Damaged(id string) bool {
	if !IsID(id) {
		return false
	}
	_, err := os.Lstat(filepath.Join(r.CommonDir, "objects", id[:2], id[2:]))
	return err == nil
}

// each asks for all names and reads the heads of the answers. Where it stops
// early the process is of no use any more.
func (o *Objects) each(p *process, names []string, fn func(i int, info Info) error) (err error) {
	if p.ended != nil {
		return p.ended
	}
	for _, name := range names {
		if strings.ContainsAny(name, "\n\x00") {
			return fmt.Errorf("object %q: no name of one", name)
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

// broken ends a process that did not answer and tells of the object.
func (o *Objects) broken(p *process, id string, err error) error {
	ctx := o.ctx.Err()
	err = p.fail(err)
	if ctx != nil {
		return ctx
	}
	return &ObjectError{ID: id, Detail: err.Error(), Missing: strings.Contains(err.Error(), "promisor remote")}
}
