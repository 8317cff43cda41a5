package code_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
)

func exported(t *testing.T, m *memory, r code.ExportRequest) string {
	t.Helper()
	var b strings.Builder
	if err := code.Export(t.Context(), m.s, r, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestExportDOT(t *testing.T) {
	got := exported(t, newShop(t), code.ExportRequest{Format: "dot", Symbol: "Client.flush", Edges: []string{"calls"}})
	got = got[strings.Index(got, "\n")+1:]
	got = got[strings.Index(got, "\n")+1:] // the commit
	want := `  node [shape=box, style=filled, fillcolor=white, colorscheme=set312];
  "pkg/kgo/client.toy:Client.Close 4" [label="kgo.Client.Close", tooltip="method pkg/kgo/client.toy:5"];
  "pkg/kgo/client.toy:Client.Produce 4" [label="kgo.Client.Produce", tooltip="method pkg/kgo/client.toy:3"];
  "pkg/kgo/client.toy:Client.flush 4" [label="kgo.Client.flush", tooltip="method pkg/kgo/client.toy:4"];
  "pkg/kgo/client.toy:Writer.Write 4" [label="kgo.Writer.Write", tooltip="method pkg/kgo/client.toy:7"];
  "pkg/kgo/client.toy:Client.Close 4" -> "pkg/kgo/client.toy:Client.flush 4" [label="calls", tooltip="pkg/kgo/client.toy:5"];
  "pkg/kgo/client.toy:Client.Produce 4" -> "pkg/kgo/client.toy:Client.flush 4" [label="calls", tooltip="pkg/kgo/client.toy:3"];
  "pkg/kgo/client.toy:Client.flush 4" -> "pkg/kgo/client.toy:Writer.Write 4" [label="calls", tooltip="pkg/kgo/client.toy:4"];
}
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestExportJSONWithCommunities(t *testing.T) {
	m := newMemory(t)
	// There are two rings of calls, and one call between them.
	m.commit(shop, "Ada", `rings
-- a/a.toy --
package a
function a1 -> a2 a3 a4
function a2 -> a3 a4 a1
function a3 -> a4 a1
function a4 -> a1 b1
-- b/b.toy --
package b
function b1 -> b2 b3
function b2 -> b3 b1
function b3 -> b1
-- b/b_test.toy --
package b
test TestB -> b1
`)
	r := code.ExportRequest{Communities: true, Edges: []string{"calls"}}
	text := exported(t, m, r)
	var got struct {
		Revision    code.Revision
		Communities []code.Community
		Nodes       []struct {
			ID, Name  string
			Community int
		}
		Edges   []struct{ From, To, Edge, Site string }
		RestsOn query.Basis `json:"rests_on"`
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if diff := cmp.Diff([]code.Community{{ID: 1, Size: 4, Label: "a"}, {ID: 2, Size: 3, Label: "b"}}, got.Communities); diff != "" {
		t.Errorf("communities (-want +got):\n%s", diff)
	}
	for _, n := range got.Nodes {
		if want := 1 + strings.Index("ab", n.Name[:1]); n.Community != want {
			t.Errorf("%s is in community %d, want %d", n.Name, n.Community, want)
		}
	}
	if len(got.Nodes) != 7 || len(got.Edges) != 15 || got.Edges[0].Site != "a/a.toy:2" || got.Revision.Commit == "" || got.RestsOn.Watermark == nil || len(got.RestsOn.Proof) == 0 {
		t.Errorf("%d nodes, %d edges, %+v", len(got.Nodes), len(got.Edges), got.RestsOn)
	}
	for range 10 {
		again := exported(t, m, r)
		if cut := strings.Index(text, `,"rests_on"`); again[:cut] != text[:cut] {
			t.Fatal("the same graph gave other bytes")
		}
	}
}

func TestExportGraphML(t *testing.T) {
	text := exported(t, newShop(t), code.ExportRequest{Format: "graphml", Tests: true})
	nodes, edges := 0, 0
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			switch e.Name.Local {
			case "node":
				nodes++
			case "edge":
				edges++
			}
		}
	}
	if nodes != 19 || edges != 24 {
		t.Errorf("%d nodes, %d edges", nodes, edges)
	}
	for _, bad := range []code.ExportRequest{{Format: "gif"}, {Depth: 2}, {Edges: []string{"hates"}}, {MinConfidence: 3}} {
		var re *query.RequestError
		if err := code.Export(t.Context(), code.Sources{}, bad, io.Discard); !errors.As(err, &re) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
