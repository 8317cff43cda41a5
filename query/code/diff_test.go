package code_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
)

// newChangedShop is the shop with one more commit, which contains every kind of change.
func newChangedShop(t *testing.T) *memory {
	m := newShop(t)
	m.commit("github.com/acme/site", "Bob", `site
-- site.toy --
package github.com/acme/site
function serve -> github.com/acme/shop/pkg/kgo#Client.Close
`)
	m.commit(shop, "Bob", `a bit of everything
-- pkg/kgo/client.toy --
package github.com/acme/shop/pkg/kgo

struct Client
method Client.Produce -> Client.flush trace#Span
method Client.flush -> Writer.Write = twice
interface Writer
method Writer.Write
function helper -> Client.flush
-- pkg/kgo/conn.toy --
-- pkg/kgo/wire.toy --
package github.com/acme/shop/pkg/kgo
struct conn -> implements:Writer
method conn.Write -> implements:Writer.Write github.com/acme/net#Dial
`)
	return m
}

func TestGraphDiff(t *testing.T) {
	m := newChangedShop(t)
	r, err := code.Diff(t.Context(), m.s, code.GraphDiffRequest{Scope: code.Scope{Repo: "shop"}, Diff: "HEAD~1..HEAD", Impact: true, FailOn: "removed>0, impact >= 100, untested=1,added<2"})
	if err != nil {
		t.Fatal(err)
	}
	symbols := lines(r.Symbols, func(s code.SymbolChange) string {
		line := s.Change + " " + s.Name + " " + s.Place()
		if s.Before != nil {
			line += " was " + s.Before.Place()
		}
		return line
	})
	if diff := cmp.Diff([]string{
		"removed kgo.Client.Close pkg/kgo/client.toy:5",
		"body kgo.Client.Produce pkg/kgo/client.toy:4 was pkg/kgo/client.toy:3",
		"body kgo.Client.flush pkg/kgo/client.toy:5 was pkg/kgo/client.toy:4",
		"moved kgo.conn.Write pkg/kgo/wire.toy:3 was pkg/kgo/conn.toy:3",
		"moved kgo.conn pkg/kgo/wire.toy:2 was pkg/kgo/conn.toy:2",
		"added kgo.helper pkg/kgo/client.toy:8",
	}, symbols); diff != "" {
		t.Errorf("symbols (-want +got):\n%s", diff)
	}
	edges := lines(r.Edges, func(e code.EdgeChange) string {
		return fmt.Sprintf("%s %s %s %s at %s %.2f", e.Change, e.From, e.Edge, e.To, e.Site, e.Confidence)
	})
	if diff := cmp.Diff([]string{
		"removed cmd.run calls kgo.Client.Close at cmd/main.toy:3 0.50",
		"removed kgo.Client.Close calls kgo.Client.flush at pkg/kgo/client.toy:5 0.98",
		"removed kgo.Client.Produce calls log.Print at pkg/kgo/client.toy:3 0.98",
		"added kgo.helper calls kgo.Client.flush at pkg/kgo/client.toy:8 0.98",
		"added kgo.Client.Produce calls trace.Span at pkg/kgo/client.toy:4 0.98",
	}, edges); diff != "" {
		t.Errorf("edges (-want +got):\n%s", diff)
	}
	deps := lines(r.Dependencies, func(d code.DependencyChange) string { return d.Change + " " + d.Package + " " + d.Site })
	if diff := cmp.Diff([]string{"added trace pkg/kgo/client.toy:4", "removed log pkg/kgo/client.toy:3"}, deps); diff != "" {
		t.Errorf("dependencies (-want +got):\n%s", diff)
	}
	if len(r.Elsewhere) != 1 || r.Elsewhere[0].Of != "kgo.Client.Close" || r.Elsewhere[0].Symbol.Repo != "github.com/acme/site" || r.Elsewhere[0].Site != "site.toy:2" {
		t.Errorf("elsewhere: %+v", r.Elsewhere)
	}
	if diff := cmp.Diff([]code.OwnedChange{{Owner: "@acme/kafka", Count: 3, Files: []string{"pkg/kgo/client.toy", "pkg/kgo/conn.toy", "pkg/kgo/wire.toy"}}}, r.Owners); diff != "" {
		t.Errorf("owners (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{
		"added": 1, "removed": 1, "signature": 0, "body": 2, "moved": 2, "edges_added": 2, "edges_removed": 3, "files": 3, "owners": 1, "renamed": 0,
		"dependencies_added": 1, "dependencies_removed": 1, "used_elsewhere": 1,
		"impact": 4, "impact_before": 5, "impact_growth": -1, "tests": 1, "untested": 1,
	}, r.Counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if r.Impact.Untested[0].Name != "kgo.helper" || r.Impact.Symbols[0].Name != "kgo.Client.Close" || r.Impact.Symbols[0].Before != 5 || r.Impact.Symbols[0].After != 0 {
		t.Errorf("impact: %+v", r.Impact)
	}
	if diff := cmp.Diff([]string{"removed>0: 1", "untested=1: 1", "added<2: 1"}, lines(r.Failed, code.Threshold.String)); diff != "" {
		t.Errorf("failed (-want +got):\n%s", diff)
	}
}

// TestGraphDiffBackwards checks that the difference in the other direction is the inverse.
func TestGraphDiffBackwards(t *testing.T) {
	m := newChangedShop(t)
	r, err := code.Diff(t.Context(), m.s, code.GraphDiffRequest{Scope: code.Scope{Repo: "shop"}, Diff: "HEAD..HEAD~1", Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Counts["added"] != 1 || r.Counts["removed"] != 1 || r.Counts["moved"] != 2 || r.Counts["edges_added"] != 3 || r.Counts["edges_removed"] != 2 {
		t.Errorf("counts: %v", r.Counts)
	}
	if r.Impact != nil || len(r.Symbols) != 1 || len(r.Edges) != 1 || r.Truncated != 5+4+1 {
		t.Errorf("cut to 1: %d symbols, %d edges, %d left out", len(r.Symbols), len(r.Edges), r.Truncated)
	}
	same, err := code.Diff(t.Context(), m.s, code.GraphDiffRequest{Scope: code.Scope{Repo: "shop"}, Diff: "HEAD..HEAD"})
	if err != nil || same.Hint == "" || same.Status != query.StatusOK || len(same.Symbols)+len(same.Edges) != 0 {
		t.Errorf("nothing differs: %+v %v", same, err)
	}
	for _, bad := range []code.GraphDiffRequest{
		{Diff: "HEAD"}, {Diff: "HEAD..HEAD", FailOn: "removed"}, {Diff: "HEAD..HEAD", FailOn: "lines>3"}, {Diff: "HEAD..HEAD", FailOn: "removed>many"}, {Diff: "HEAD..HEAD", FailOn: "removed>0,"},
	} {
		var re *query.RequestError
		if _, err := code.Diff(t.Context(), m.s, bad); !errors.As(err, &re) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// TestGraphDiffRenamed checks that symbols with another name and a similar text are one symbol, that
// their edges are the same edges, and that nothing is renamed which only resembles something or
// could be two.
func TestGraphDiffRenamed(t *testing.T) {
	m := newShop(t)
	m.commit("github.com/acme/site", "Bob", `site
-- site.toy --
package github.com/acme/site
function serve -> github.com/acme/shop/job#load
`)
	m.commit(shop, "Bob", `before
-- job/a.toy --
package github.com/acme/shop/job
function load -> a#One b#Two c#Three d#Four e#Five
function store -> a#One b#Two c#Three d#Four e#Five f#Six g#Seven h#Eight i#Nine
function twin1 -> k#One l#Two m#Three n#Four
function twin2 -> k#One l#Two m#Three n#Four
function short -> z#Z
function other -> p#One q#Two r#Three s#Four t#Five u#Six v#Seven
function user -> load
`)
	m.commit(shop, "Bob", `after
-- job/a.toy --
package github.com/acme/shop/job
function fetch -> a#One b#Two c#Three d#Four e#Five
function twin3 -> k#One l#Two m#Three n#Four
function twin4 -> k#One l#Two m#Three n#Four
function brief -> z#Z
function apart -> aa#One bb#Two cc#Three dd#Four ee#Five ff#Six gg#Seven
function user -> fetch
-- job/b.toy --
package github.com/acme/shop/job
function keep -> a#One b#Two c#Three d#Four e#Five f#Six g#Seven h#Eight j#Ten
`)
	r, err := code.Diff(t.Context(), m.s, code.GraphDiffRequest{Scope: code.Scope{Repo: "shop"}, Diff: "HEAD~1..HEAD", FailOn: "renamed>1"})
	if err != nil {
		t.Fatal(err)
	}
	symbols := lines(r.Symbols, func(s code.SymbolChange) string {
		line := s.Change + " " + s.Name
		if s.Change == "renamed" {
			line += fmt.Sprintf(" was %s %s, %.2f", s.Before.Name, s.Before.Place(), s.Similarity)
		}
		return line
	})
	if diff := cmp.Diff([]string{
		"removed job.other", "removed job.short", "removed job.twin1", "removed job.twin2",
		"body job.user",
		"renamed job.fetch was job.load job/a.toy:2, 1.00", "renamed job.keep was job.store job/a.toy:3, 0.90",
		"added job.apart", "added job.brief", "added job.twin3", "added job.twin4",
	}, symbols); diff != "" {
		t.Errorf("symbols (-want +got):\n%s", diff)
	}
	if len(r.Elsewhere) != 1 || r.Elsewhere[0].Change != "renamed" || r.Elsewhere[0].Of != "job.load" {
		t.Errorf("elsewhere: %+v", r.Elsewhere)
	}
	if len(r.Failed) != 1 || r.Counts["renamed"] != 2 {
		t.Errorf("failed: %v, counts %v", r.Failed, r.Counts)
	}
	for _, e := range r.Edges {
		if e.From == "job.user" || e.From == "job.fetch" || e.From == "job.load" {
			t.Errorf("the edge %s %s → %s is the same edge", e.Change, e.From, e.To)
		}
	}
	m.s.Contents = nil // the log is not at hand
	if r, err = code.Diff(t.Context(), m.s, code.GraphDiffRequest{Scope: code.Scope{Repo: "shop"}, Diff: "HEAD~1..HEAD"}); err != nil || r.Counts["renamed"] != 0 || r.Counts["removed"] != 6 {
		t.Errorf("without contents: %v, %v", r.Counts, err)
	}
}
