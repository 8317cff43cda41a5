package commands

import (
	"path"
	"slices"
	"strings"
	"time"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"

	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/schemas"
)

// matcher is one filter of a request.
type matcher struct {
	query.AppliedFilter
	match func(*segment.View) (bool, error)
}

// compile turns the filters of a normal request into matchers, in a fixed order. exit
// returns a row's exit code, from its own event or its outcome.
func compile(f Filters, asOf query.AsOf, exit func(*segment.View) (*int32, error)) []matcher {
	var ms []matcher
	add := func(field, op, value string, match func(*segment.View) bool) {
		ms = append(ms, matcher{query.AppliedFilter{Field: field, Op: op, Value: value}, func(v *segment.View) (bool, error) { return match(v), nil }})
	}
	if !f.Since.IsZero() {
		since := schemas.UnixNano(f.Since)
		add("time", "ge", f.Since.UTC().Format(time.RFC3339Nano), func(v *segment.View) bool { return v.UnixNano() >= since })
	}
	if !f.Until.IsZero() {
		until := schemas.UnixNano(f.Until)
		add("time", "lt", f.Until.UTC().Format(time.RFC3339Nano), func(v *segment.View) bool { return v.UnixNano() < until })
	}
	if !asOf.Time.IsZero() {
		as := schemas.UnixNano(asOf.Time)
		add("as_of", "le", asOf.Time.UTC().Format(time.RFC3339Nano), func(v *segment.View) bool { return v.UnixNano() <= as })
	}
	if f.Cwd != "" {
		dir := path.Clean(f.Cwd)
		add("cwd", "under", dir, func(v *segment.View) bool { return under(dir, v.Cwd()) })
	}
	for _, eq := range []struct {
		field, want string
		of          func(*segment.View) string
	}{
		{"session", f.Session, (*segment.View).Session},
		{"workspace", f.Workspace, (*segment.View).Workspace},
		{"host", f.Host, (*segment.View).Host},
		{"user", f.User, (*segment.View).User},
		{"author", f.Author, (*segment.View).Author},
		{"shell", f.Shell, (*segment.View).Shell},
		{"template", f.Template, (*segment.View).Template},
	} {
		if eq.want != "" {
			add(eq.field, "eq", eq.want, func(v *segment.View) bool { return eq.of(v) == eq.want })
		}
	}
	if c, err := ask.ParseCategory(f.Category); err == nil && c != 0 {
		add("category", "eq", f.Category, func(v *segment.View) bool { return v.Category() == c })
	}
	if f.Program != "" {
		add("program", "contains", f.Program, func(v *segment.View) bool {
			for p := range v.Programs() {
				if p == f.Program {
					return true
				}
			}
			return false
		})
	}
	if f.Resource != "" {
		want := segment.Filter{}
		want.ResourceKind, want.Resource = ask.ParseResource(f.Resource)
		add("resource", "uses", f.Resource, func(v *segment.View) bool {
			for r := range v.Resources() {
				if want.Names(r) {
					return true
				}
			}
			return false
		})
	}
	if e, err := ask.ParseExit(f.Exit); err == nil && e.Set {
		// The last filter, because it may have to read another projection.
		ms = append(ms, matcher{query.AppliedFilter{Field: "exit", Op: "eq", Value: f.Exit}, func(v *segment.View) (bool, error) {
			code, err := exit(v)
			return err == nil && e.Match(code), err
		}})
	}
	return ms
}

// under reports whether p is dir or is below it.
func under(dir, p string) bool {
	rest, ok := strings.CutPrefix(p, dir)
	return ok && (rest == "" || rest[0] == '/' || strings.HasSuffix(dir, "/"))
}

// pushed returns the filters that a scan of the segments can apply by itself: all except
// exit codes of rows without one, which an outcome may know. The scan skips whole segments
// that are outside the times or lack a required text.
func pushed(f Filters, asOf query.AsOf, visible schemas.Watermark) segment.Filter {
	p := segment.Filter{
		From: f.Since, To: f.Until, Below: visible,
		Workspace: f.Workspace, Session: f.Session, Shell: f.Shell, User: f.User, Host: f.Host,
		Author: f.Author, Template: f.Template, Program: f.Program,
	}
	if f.Cwd != "" {
		p.Cwd = path.Clean(f.Cwd)
	}
	if c, err := ask.ParseCategory(f.Category); err == nil && c != 0 {
		p.Categories = []recountv1.Category{c}
	}
	p.ResourceKind, p.Resource = ask.ParseResource(f.Resource)
	if e, err := ask.ParseExit(f.Exit); err == nil && e.Set {
		p.Exit = func(code int32, known bool) bool { return !known || e.Match(&code) }
	}
	if !asOf.Time.IsZero() {
		if after := asOf.Time.Add(1); p.To.IsZero() || after.Before(p.To) {
			p.To = after
		}
	}
	return p
}

// matchAll reports whether a row satisfies all filters. blame, if not nil, counts by filter
// index the rows that only that filter excludes: without it they would be hits.
func matchAll(ms []matcher, v *segment.View, blame []int) (bool, error) {
	failed, culprit := 0, 0
	for i, m := range ms {
		ok, err := m.match(v)
		if err != nil {
			return false, err
		}
		if ok {
			continue
		}
		if blame == nil {
			return false, nil
		}
		failed, culprit = failed+1, i
		if failed > 1 {
			return false, nil
		}
	}
	if failed == 1 {
		blame[culprit]++
	}
	return failed == 0, nil
}

// worst returns the filter that alone excludes the most rows, or -1.
func worst(blame []int) int {
	if len(blame) == 0 || slices.Max(blame) == 0 {
		return -1
	}
	return slices.Index(blame, slices.Max(blame))
}
