package segment

import (
	"context"
	"crypto/sha256"
	"strings"
	"time"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Row is a copy of a stored intent.
type Row struct {
	Position  schemas.Position
	ID        schemas.EventID
	Time      time.Time // when the command started
	EventTime time.Time // the event's time

	Command      string
	StatedIntent string
	OutputTail   string
	Workspace    string
	Cwd          string
	Session      string
	Shell        string
	User         string
	Host         string
	Author       string
	Template     string
	GitHead      string
	Embedder     string

	Category    recountv1.Category
	Confidence  float32
	Complexity  uint32
	ExitCode    *int32         // nil: unknown
	Duration    *time.Duration // nil: unknown
	ContextHash uint64
	ContentHash uint64
	Parent      schemas.EventID // zero: none was named

	Programs  []string
	Concepts  []string
	Resources []Resource
	Tokens    []Token
}

// Row copies the row, except for the embedding: see [View.Embedding].
func (v *View) Row() Row {
	r := Row{
		Position: v.Position(), ID: v.ID(), Time: v.Time(), EventTime: time.Unix(0, v.c.eventTime[v.row]).UTC(),
		Command: strings.Clone(v.Command()), StatedIntent: strings.Clone(v.StatedIntent()), OutputTail: strings.Clone(v.OutputTail()),
		Workspace: strings.Clone(v.Workspace()), Cwd: strings.Clone(v.Cwd()), Session: strings.Clone(v.Session()),
		Shell: strings.Clone(v.Shell()), User: strings.Clone(v.User()), Host: strings.Clone(v.Host()),
		Author: strings.Clone(v.Author()), Template: strings.Clone(v.Template()), GitHead: strings.Clone(v.GitHead()),
		Embedder: strings.Clone(v.Embedder()),
		Category: v.Category(), Confidence: v.Confidence(), Complexity: v.Complexity(),
		ContextHash: v.ContextHash(), ContentHash: v.ContentHash(), Parent: v.Parent(),
	}
	if code, ok := v.ExitCode(); ok {
		r.ExitCode = &code
	}
	if d, ok := v.Duration(); ok {
		r.Duration = &d
	}
	for s := range v.Programs() {
		r.Programs = append(r.Programs, strings.Clone(s))
	}
	for s := range v.Concepts() {
		r.Concepts = append(r.Concepts, strings.Clone(s))
	}
	for res := range v.Resources() {
		res.Name = strings.Clone(res.Name)
		r.Resources = append(r.Resources, res)
	}
	for t := range v.Tokens() {
		t.Text = strings.Clone(t.Text)
		r.Tokens = append(r.Tokens, t)
	}
	return r
}

// Lookup returns the intent of an event. If several partitions have it, the first one in order is
// used.
func (p *Projection) Lookup(ctx context.Context, id schemas.EventID) (row Row, found bool, err error) {
	err = p.ViewID(ctx, id, func(v *View) error {
		row, found = v.Row(), true
		return nil
	})
	return row, found, err
}

// At returns the intent at a position.
func (p *Projection) At(ctx context.Context, pos schemas.Position) (row Row, found bool, err error) {
	err = p.ViewAt(ctx, []schemas.Position{pos}, func(_ int, v *View) error {
		row, found = v.Row(), true
		return nil
	})
	return row, found, err
}

// Match reports whether the filter selects a row.
func (f *Filter) Match(v *View) bool {
	t, some := f.on(v.c, v.tp)
	return some && t.match(v.row)
}

// Count returns how many rows the filter selects.
func (p *Projection) Count(ctx context.Context, filter Filter) (int, error) {
	n := 0
	err := p.Scan(ctx, filter, OldestFirst, func(*View) bool { n++; return true })
	return n, err
}

// damage checks every byte: the checksum of each region, the consistency of the columns with each
// other, and the hash over the whole file, which also covers the padding.
func (f *file) damage() []*CorruptError {
	var all []*CorruptError
	for _, e := range f.entries {
		if c := f.checksum(e); c != nil {
			all = append(all, c)
		}
	}
	if len(all) > 0 {
		return all // further errors would follow from this one
	}
	if column, err := check(&f.cols, &f.idx, f.h); err != nil {
		return append(all, f.inconsistent(column, err))
	}
	body := f.data[:len(f.data)-schemas.TBFTrailerSize]
	if got := schemas.Hash(sha256.Sum256(body)); got != f.trailer.SHA256 {
		all = append(all, corrupt(f.path, "padding", 0, uint64(len(body)), "every region holds, yet the file's hash is %s, want %s", got, f.trailer.SHA256))
	}
	return all
}

// Verify checks every byte of every sealed segment and returns all damage found.
func (p *Projection) Verify(ctx context.Context) ([]*CorruptError, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	var damage []*CorruptError
	for _, s := range p.snapshot() {
		for _, f := range s.files[:s.sealed] {
			if err := ctx.Err(); err != nil {
				return damage, err
			}
			damage = append(damage, f.damage()...)
		}
	}
	return damage, nil
}
