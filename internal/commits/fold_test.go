package commits_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/internal/commits"
	"github.com/recountdb/recount/internal/git"
	"github.com/recountdb/recount/internal/git/gittest"
	"github.com/recountdb/recount/processors/source"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// fakeLog is a log that applies each id once and checks its input.
type fakeLog struct {
	t      testing.TB
	events []schemas.Event
	ids    map[schemas.EventID]bool
	// failAfter, if not 0, refuses the batch with that number and all later ones; stored means that
	// the refused batch is on the log nevertheless.
	failAfter int
	stored    bool
	batches   int
}

var errRefused = errors.New("refused")

func newLog(t testing.TB) *fakeLog { return &fakeLog{t: t, ids: map[schemas.EventID]bool{}} }

func (l *fakeLog) append(_ context.Context, events []schemas.Event) (commits.Appended, error) {
	l.batches++
	refused := l.failAfter > 0 && l.batches >= l.failAfter
	if refused && !(l.stored && l.batches == l.failAfter) {
		return commits.Appended{}, errRefused
	}
	var a commits.Appended
	for _, e := range events {
		if l.ids[e.ID] {
			a.Present++
			continue
		}
		l.ids[e.ID] = true
		l.events = append(l.events, e)
	}
	if refused {
		return commits.Appended{}, errRefused
	}
	a.Last = &schemas.Position{Topic: "recount.commits", Offset: int64(len(l.events) - 1)}
	return a, nil
}

// file is the entry of a path in a commit's tree.
type file struct {
	blob, skipped string
	mode          uint32
}

// folded is the result of applying the events in order, as a projection would.
type folded struct {
	contents map[string]bool // blob and how it is read
	commits  map[string]*recountv1.CommitRecorded
	trees    map[string]map[string]file // of commits with content
	refs     map[string]string
	order    []string
	// count counts events by type
	count map[string]int
}

// fold applies the log, and fails the test if an event refers to a later one.
func (l *fakeLog) fold() folded {
	l.t.Helper()
	f := folded{
		contents: map[string]bool{}, commits: map[string]*recountv1.CommitRecorded{}, trees: map[string]map[string]file{},
		refs: map[string]string{}, count: map[string]int{},
	}
	for _, e := range l.events {
		if string(e.Key) == "" || e.Source != commits.Source || e.Time.Location() != time.UTC {
			l.t.Errorf("%s: key %q, source %q, time %s", e, e.Key, e.Source, e.Time)
		}
		m, err := e.DecodePayload()
		if err != nil {
			l.t.Fatalf("%s: %v", e, err)
		}
		f.count[e.Type]++
		switch m := m.(type) {
		case *recountv1.SourceRevised:
			// The processor compares the bytes with the blob's id.
			if err := source.Revised(e, m, &recountv1.Record{}); err != nil {
				l.t.Errorf("%s: %v", m.GetPath(), err)
			}
			key := m.GetBlob() + " " + reading(m.GetPath())
			if f.contents[key] {
				l.t.Errorf("%s: content %s twice", m.GetPath(), m.GetBlob())
			}
			f.contents[key] = true
		case *recountv1.CommitRecorded:
			f.commit(l.t, m)
		case *recountv1.RefMoved:
			f.refs[m.GetRef()] = m.GetNewCommit()
			if c := m.GetNewCommit(); c != "" && f.commits[c] == nil {
				l.t.Errorf("%s moved to %s, which is not recorded", m.GetRef(), c)
			}
		}
	}
	return f
}

func (f *folded) commit(t testing.TB, m *recountv1.CommitRecorded) {
	t.Helper()
	id := m.GetCommit()
	if f.trees[id] != nil && m.GetScope() == recountv1.Scope_SCOPE_METADATA {
		return // it stays recorded with its content
	}
	if m.GetPart() > 0 {
		before := f.commits[id]
		before.Changes = append(before.Changes, m.GetChanges()...)
	} else {
		f.commits[id] = proto.CloneOf(m)
		f.order = append(f.order, id)
	}
	if m.GetPart()+1 < m.GetParts() {
		return
	}
	m = f.commits[id]
	tree := map[string]file{}
	switch m.GetScope() {
	case recountv1.Scope_SCOPE_METADATA:
		return
	case recountv1.Scope_SCOPE_CHANGES:
		parent := f.trees[m.GetParents()[0]]
		if parent == nil {
			t.Errorf("commit %s: changes from %s, which has no content", id, m.GetParents()[0])
		}
		tree = maps.Clone(parent)
	case recountv1.Scope_SCOPE_FULL:
	default:
		t.Errorf("commit %s: scope %s", id, m.GetScope())
	}
	for _, c := range m.GetChanges() {
		p := c.GetPath()
		if c.GetStatus() == recountv1.ChangeStatus_CHANGE_STATUS_RENAMED {
			delete(tree, c.GetOldPath())
		}
		if c.GetStatus() == recountv1.ChangeStatus_CHANGE_STATUS_DELETED {
			delete(tree, p)
			continue
		}
		if c.GetSkipped() == "" && !f.contents[c.GetBlob()+" "+reading(p)] {
			t.Errorf("commit %s: the content of %s has not come before it", id, p)
		}
		tree[p] = file{c.GetBlob(), c.GetSkipped(), c.GetMode()}
	}
	f.trees[id] = tree
}

// check compares each commit that has content with git's own listing of it.
func (f *folded) check(t testing.TB, g *gittest.Repo) {
	t.Helper()
	r, err := git.Open(t.Context(), g.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for id, tree := range f.trees {
		if f.commits[id].GetWorkingTree() {
			continue
		}
		want := map[string]string{}
		err := r.Tree(t.Context(), id, func(c git.Change) error {
			p, _ := git.UTF8Path(c.Path)
			want[p] = fmt.Sprintf("%o %s", c.Mode, c.Blob)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for p, file := range tree {
			got[p] = fmt.Sprintf("%o %s", file.mode, file.blob)
		}
		if !maps.Equal(got, want) {
			t.Errorf("commit %s: files %v, want %v", id, got, want)
		}
	}
}

// scopes lists the scopes of commits, by the first lines of their messages.
func (f *folded) scopes() string {
	var s []string
	for _, id := range f.order {
		m := f.commits[id]
		first, _, _ := strings.Cut(m.GetMessage(), "\n")
		s = append(s, first+":"+strings.ToLower(strings.TrimPrefix(m.GetScope().String(), "SCOPE_")))
	}
	return strings.Join(s, " ")
}

func language(p string) string {
	if path.Ext(p) == ".go" {
		return "go"
	}
	return ""
}

// reading returns how the importer reads a path, for the languages above.
func reading(p string) string {
	if l := language(p); l != "" {
		return l
	}
	if ext := path.Ext(p); ext != "" {
		return strings.ToLower(ext)
	}
	return path.Base(p)
}

// world holds a repository, a log and a directory of states.
type world struct {
	t    *testing.T
	g    *gittest.Repo
	log  *fakeLog
	dir  string
	opts commits.Options
}

func newWorld(t *testing.T, args ...string) *world {
	return &world{t: t, g: gittest.Init(t, args...), log: newLog(t), dir: t.TempDir(), opts: commits.Options{
		Repository: "example.org/acme/shop", History: -1, Language: language,
		Limits: commits.Limits{Content: 4 << 20, Event: 4<<20 - 64<<10},
		Now:    func() time.Time { return time.Unix(gittest.Start+1e6, 0) },
	}}
}

// try imports, with changed options for this call.
func (w *world) try(change ...func(*commits.Options)) (commits.Report, error) {
	w.t.Helper()
	o := w.opts
	o.Append = w.log.append
	for _, c := range change {
		c(&o)
	}
	r, err := git.Open(w.t.Context(), w.g.Dir)
	if err != nil {
		w.t.Fatal(err)
	}
	s, err := commits.OpenState(w.t.Context(), w.dir, "log", o.Repository)
	if err != nil {
		w.t.Fatal(err)
	}
	defer s.Close()
	return commits.Import(w.t.Context(), r, s, o)
}

func (w *world) run(change ...func(*commits.Options)) commits.Report {
	w.t.Helper()
	r, err := w.try(change...)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func history(n int) func(*commits.Options) { return func(o *commits.Options) { o.History = n } }
func all(o *commits.Options)               { o.All = true }
func working(o *commits.Options)           { o.WorkingTree = true }

// want compares scopes and checks every tree.
func (w *world) want(scopes string) folded {
	w.t.Helper()
	f := w.log.fold()
	f.check(w.t, w.g)
	if got := f.scopes(); got != scopes {
		w.t.Errorf("recorded %s\nwant     %s", got, scopes)
	}
	return f
}

func (f *folded) skipped(commit string) map[string]string {
	out := map[string]string{}
	for _, p := range slices.Sorted(maps.Keys(f.trees[commit])) {
		if s := f.trees[commit][p].skipped; s != "" {
			out[p] = s
		}
	}
	return out
}
