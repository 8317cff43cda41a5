package terminalsearch

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/query/commands/ask"
)

// place is where commands must have run.
type place int

const (
	everywhere place = iota
	inDirectory
	inWorkspace
	inSession
	onHost
)

// spans are the times that a key chooses from.
var spans = []struct {
	name string
	last time.Duration
}{{"any time", 0}, {"last hour", time.Hour}, {"last day", 24 * time.Hour}, {"last week", 7 * 24 * time.Hour}, {"last month", 30 * 24 * time.Hour}}

// exits are the outcomes that a key chooses from.
var exits = []string{"", "fail", "ok"}

// filters are what keys set, over the filters that the search began with.
type filters struct {
	place  place
	exit   int // in exits
	span   int // in spans
	since  time.Time
	author string
	people bool // only commands without an author, which no agent ran
	// authors are those that a key chooses from.
	authors []string
}

func newFilters(o Options) filters { return filters{exit: max(slices.Index(exits, o.Filters.Exit), 0)} }

// request returns the filters of a search.
func (f *filters) request(o Options) ask.Filters {
	r := o.Filters
	switch f.place {
	case inDirectory:
		r.Cwd = o.Here.Cwd
	case inWorkspace:
		r.Workspace = o.Here.Workspace
	case inSession:
		r.Session = o.Here.Session
	case onHost:
		r.Host = o.Here.Host
	}
	if slices.Contains(exits, o.Filters.Exit) {
		r.Exit = exits[f.exit]
	}
	if f.span > 0 {
		r.Since = f.since
	}
	r.Author = cmp.Or(f.author, r.Author)
	return r
}

// nextPlace chooses the next place that is known here.
func (f *filters) nextPlace(h Here) {
	known := map[place]bool{everywhere: true, inDirectory: h.Cwd != "", inWorkspace: h.Workspace != "" && h.Workspace != h.Cwd, inSession: h.Session != "", onHost: h.Host != ""}
	for {
		if f.place = (f.place + 1) % (onHost + 1); known[f.place] {
			return
		}
	}
}

// nextAuthor chooses the next of everybody, people, and each author.
func (f *filters) nextAuthor() {
	if f.author == "" && !f.people {
		f.people = true
		return
	}
	i := slices.Index(f.authors, f.author) + 1
	f.author, f.people = "", false
	if i < len(f.authors) {
		f.author = f.authors[i]
	}
}

// nextSpan chooses the next time, counted back from now.
func (f *filters) nextSpan(now time.Time) {
	f.span = (f.span + 1) % len(spans)
	f.since = now.Add(-spans[f.span].last).UTC()
}

// words describes the filters.
func (f *filters) words(o Options) string {
	w := []string{map[place]string{everywhere: "everywhere", inDirectory: "this directory", inWorkspace: "this workspace", inSession: "this session", onHost: "this host"}[f.place]}
	if f.exit > 0 {
		w = append(w, map[string]string{"fail": "failed", "ok": "worked"}[exits[f.exit]])
	}
	if f.span > 0 {
		w = append(w, spans[f.span].name)
	}
	if f.people {
		w = append(w, "by people")
	}
	if f.author != "" {
		w = append(w, "by "+clean(f.author))
	}
	for _, g := range []struct{ name, value string }{
		{"in ", o.Filters.Cwd},
		{"session ", o.Filters.Session},
		{"workspace ", o.Filters.Workspace},
		{"host ", o.Filters.Host},
		{"user ", o.Filters.User},
		{"shell ", o.Filters.Shell},
		{"category ", o.Filters.Category},
		{"program ", o.Filters.Program},
		{"resource ", o.Filters.Resource},
	} {
		if g.value != "" {
			w = append(w, g.name+clean(g.value))
		}
	}
	return strings.Join(w, " · ")
}
