package code

import (
	"fmt"
	"testing"

	"github.com/recountdb/recount/projections/prolly"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestLinesOfManyNodes covers a path with more nodes than an entry holds.
func TestLinesOfManyNodes(t *testing.T) {
	var nodes []prolly.Entry
	lines := map[schemas.NodeKey]uint32{}
	for i := range linesPart + 3 {
		k := schemas.NewNodeKey("a.go", "", fmt.Sprintf("f%06d", i), recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, "")
		nodes = append(nodes, prolly.Entry{Key: []byte(k)})
		if i >= linesPart-1 {
			lines[k] = uint32(1<<32 - 1 - i%2*7)
		}
	}
	n := 0
	for _, e := range lineEntries("a.go", nodes, lines) {
		path, from, got, err := CutLines(e)
		if err != nil || path != "a.go" || from != n {
			t.Fatalf("got the lines of %q from %d on, %v, want from %d on", path, from, err, n)
		}
		for _, line := range got {
			if want := lines[schemas.NodeKey(nodes[n].Key)]; line != want {
				t.Fatalf("node %d: got line %d, want %d", n, line, want)
			}
			n++
		}
	}
	if n != len(nodes) {
		t.Errorf("got lines of %d nodes, want %d", n, len(nodes))
	}
	if all := lineEntries("a.go", nodes, nil); all != nil {
		t.Errorf("got %d entries of nodes without a line", len(all))
	}
}

func TestCutLinesOfDamage(t *testing.T) {
	for name, e := range map[string]prolly.Entry{
		"no path":      {Key: []byte("abcd"), Value: []byte{2}},
		"no part":      {Key: []byte("a\x00"), Value: []byte{2}},
		"no lines":     {Key: linesKey("a", 0)},
		"cut short":    {Key: linesKey("a", 0), Value: []byte{2, 0x80}},
		"too many":     {Key: linesKey("a", 0), Value: make([]byte, linesPart+1)},
		"overflow":     {Key: linesKey("a", 0), Value: []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")},
		"part too far": {Key: []byte("a\x00abcde"), Value: []byte{2}},
	} {
		if _, _, lines, err := CutLines(e); err == nil {
			t.Errorf("%s: got %v", name, lines)
		}
	}
}
