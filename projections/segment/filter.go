package segment

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Filter selects rows. A zero field does not restrict.
type Filter struct {
	// From and To bound the time at which the command started: From ≤ time < To.
	From, To time.Time
	// Below is a watermark: only rows of its partitions at offsets below it match. With it a query
	// reads a past state.
	Below schemas.Watermark

	Workspace, Session, Shell, User, Host, Author, Template string
	// Cwd is a directory: rows in it and below it match.
	Cwd string
	// Program is a program that the command runs.
	Program string
	// Categories are alternatives: a row of any of them matches.
	Categories []recountv1.Category
	// Exit, if not nil, reports whether an exit code is wanted. known is false if the row has none.
	Exit func(code int32, known bool) bool
	// Resource is a resource that the command reads or writes: its canonical name, or the end of
	// that after a slash, such as the base name of a path. ResourceKind, if not zero, is its kind.
	Resource     string
	ResourceKind recountv1.ResourceKind
}

// tableFilter is a filter prepared for one table: its texts are looked up in the table's
// dictionaries once, so that matching a row compares numbers.
type tableFilter struct {
	c          *columns
	from, to   int64 // bounds of the time
	below      int64 // bound of the offset
	texts      []textFilter
	inCwd      []bool // by the directory's index; nil: any
	program    int32  // its index; -1: any
	categories []recountv1.Category
	exit       func(code int32, known bool) bool
	resources  []bool // by the name's index; nil: any
	kind       recountv1.ResourceKind
}

type textFilter struct {
	idx  []int32
	want int32
}

// on prepares the filter for a table; false if it selects none of its rows.
func (f *Filter) on(c *columns, tp schemas.TopicPartition) (tableFilter, bool) {
	t := tableFilter{
		c: c, from: math.MinInt64, to: math.MaxInt64, below: math.MaxInt64,
		program: -1, categories: f.Categories, exit: f.Exit, kind: f.ResourceKind,
	}
	if !f.From.IsZero() {
		t.from = schemas.UnixNano(f.From)
	}
	if !f.To.IsZero() {
		t.to = schemas.UnixNano(f.To)
	}
	if f.Below != nil {
		t.below = f.Below[tp]
	}
	if c.n == 0 || c.maxTime < t.from || c.minTime >= t.to || c.offset[0] >= t.below {
		return t, false
	}
	for dict, want := range f.texts() {
		if want == "" {
			continue
		}
		i := c.dict[dict].val.find(want)
		if i < 0 {
			return t, false
		}
		t.texts = append(t.texts, textFilter{c.dict[dict].idx, i})
	}
	if f.Cwd != "" {
		dirs := &c.dict[dictCwd].val
		t.inCwd = make([]bool, dirs.len())
		for i := range t.inCwd {
			t.inCwd[i] = below(f.Cwd, dirs.at(i))
		}
	}
	if f.Program != "" {
		if t.program = c.dict[dictProgram].val.find(f.Program); t.program < 0 {
			return t, false
		}
	}
	if f.Resource != "" {
		names := &c.dict[dictResource].val
		t.resources = make([]bool, names.len())
		some := false
		for i := range t.resources {
			t.resources[i] = named(f.Resource, names.at(i))
			some = some || t.resources[i]
		}
		return t, some
	}
	return t, true
}

// Names reports whether a resource is the one that the filter asks for.
func (f *Filter) Names(r Resource) bool {
	return (f.ResourceKind == 0 || f.ResourceKind == r.Kind) && named(f.Resource, r.Name)
}

// named reports whether a resource's name is the wanted one or ends in it after a slash.
func named(want, name string) bool {
	rest, ok := strings.CutSuffix(name, want)
	return ok && (rest == "" || rest[len(rest)-1] == '/')
}

func (t *tableFilter) match(row int) bool {
	c := t.c
	if c.time[row] < t.from || c.time[row] >= t.to || c.offset[row] >= t.below {
		return false
	}
	for _, f := range t.texts {
		if f.idx[row] != f.want {
			return false
		}
	}
	if t.inCwd != nil && !t.inCwd[c.dict[dictCwd].idx[row]] {
		return false
	}
	if len(t.categories) > 0 && !slices.Contains(t.categories, recountv1.Category(c.category[row])) {
		return false
	}
	if t.exit != nil && !t.exit(c.exitCode[row], c.hasExit.at(row)) {
		return false
	}
	if t.resources != nil && !t.hasResource(row) {
		return false
	}
	if t.program >= 0 {
		lo, hi := c.span(listPrograms, row)
		return slices.Contains(c.dict[dictProgram].idx[lo:hi], t.program)
	}
	return true
}

func (t *tableFilter) hasResource(row int) bool {
	lo, hi := t.c.span(listResources, row)
	for i := lo; i < hi; i++ {
		if t.resources[t.c.dict[dictResource].idx[i]] && (t.kind == 0 || t.kind == recountv1.ResourceKind(t.c.resourceKind[i])) {
			return true
		}
	}
	return false
}

// find returns the index of a string, -1 if the column lacks it.
func (c *utf8Column) find(s string) int32 {
	for i := range c.len() {
		if int(c.off[i+1]-c.off[i]) == len(s) && c.at(i) == s {
			return int32(i)
		}
	}
	return -1
}

// isZero reports whether the filter selects every row.
func (f *Filter) isZero() bool {
	return f.From.IsZero() && f.To.IsZero() && f.Below == nil && f.texts() == [nRowDict]string{} &&
		f.Cwd == "" && f.Program == "" && len(f.Categories) == 0 && f.Exit == nil && f.Resource == ""
}

// texts returns the wanted texts in the order of the dict constants.
func (f *Filter) texts() [nRowDict]string {
	return [nRowDict]string{
		dictWorkspace: f.Workspace, dictSession: f.Session, dictShell: f.Shell, dictUser: f.User,
		dictHost: f.Host, dictAuthor: f.Author, dictTemplate: f.Template,
	}
}

// below reports whether path is dir or lies in it.
func below(dir, path string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == '/' || strings.HasSuffix(dir, "/"))
}

// excludesTimes reports whether the filter selects no row with a time from lo to hi.
func (f *Filter) excludesTimes(lo, hi int64) bool {
	return !f.From.IsZero() && hi < schemas.UnixNano(f.From) || !f.To.IsZero() && lo >= schemas.UnixNano(f.To)
}
