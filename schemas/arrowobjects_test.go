package schemas_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/recountdb/recount/schemas"
)

// TestObjectArrow checks that every field of a row becomes a column of the same name and can be
// read back, with batches that end by rows and by bytes.
func TestObjectArrow(t *testing.T) {
	exit, at := int32(2), time.Date(2026, 11, 20, 9, 0, 0, 7, time.UTC)
	full := schemas.ObjectRow{
		Position: "recount.agents/0/1", ID: "i", EventID: "e", EventType: "et", Type: "memory", Memory: "factual", Tenant: "t", Workspace: "w", Agent: "a", Session: "s",
		Visibility: "workspace", Time: at, ValidFrom: at.Add(1), ValidUntil: at.Add(2), Importance: 0.5, Removed: true, Title: "ti", Text: "te\nxt", Subject: "su",
		Predicate: "pr", Value: "va", Tool: "to", Command: "co", ExitCode: &exit, Failed: true, ContentHash: "8000000000000000",
		Edges: []schemas.ObjectLink{{Kind: "caused_by", To: "x", Confidence: 1, Rule: "stated"}, {Kind: "blocks", To: "y", Confidence: 0.25, Rule: "told"}},
	}
	bare := schemas.ObjectRow{Position: "recount.agents/0/2", Time: at}
	var b bytes.Buffer
	w := schemas.NewObjectArrow(&b)
	rows := []*schemas.ObjectRow{&full, &bare}
	for range 8190 {
		rows = append(rows, &bare)
	}
	rows = append(rows, &schemas.ObjectRow{Time: at, Text: strings.Repeat("x", 8<<20)}, &full)
	for _, row := range rows {
		if err := w.Add(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	r, err := ipc.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	var sizes []int64
	n := 0
	for r.Next() {
		batch := r.RecordBatch()
		sizes = append(sizes, batch.NumRows())
		for i := 0; i < int(batch.NumRows()); i, n = i+1, n+1 {
			if n > 1 && n < 8192 {
				continue
			}
			got := map[string]any{}
			for k := range batch.NumCols() {
				if c := batch.Column(int(k)); c.IsValid(i) {
					got[batch.ColumnName(int(k))] = c.GetOneForMarshal(i)
				}
			}
			// What the JSON omits is empty or null in Arrow.
			var want map[string]any
			text, err := json.Marshal(rows[n])
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			text, err = json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			var back map[string]any
			if err := json.Unmarshal(text, &back); err != nil {
				t.Fatal(err)
			}
			if len(got) > 0 && n == 0 && len(back) != len(want) {
				t.Errorf("a full row has %d columns, and %d fields of JSON", len(back), len(want))
			}
			for name, v := range want {
				if g := back[name]; !same(g, v) {
					t.Errorf("row %d: %s is %v, want %v", n, name, g, v)
				}
			}
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	if len(sizes) != 3 || sizes[0] != 8192 || sizes[1] != 1 || sizes[2] != 1 {
		t.Errorf("batches of %v rows", sizes)
	}
}

// same compares a value from Arrow's JSON with one from ours; times may be formatted differently.
func same(got, want any) bool {
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(want)
	if bytes.Equal(a, b) {
		return true
	}
	x, _ := got.(string)
	y, _ := want.(string)
	s, err := time.Parse("2006-01-02 15:04:05.999999999Z", x)
	u, err2 := time.Parse(time.RFC3339Nano, y)
	return err == nil && err2 == nil && s.Equal(u)
}
