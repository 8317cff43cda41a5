package segment

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/internal/golden"
	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const (
	specPath    = "../../schemas/tbf.md"
	vectorStart = "<!-- vector -->\n"
	vectorEnd   = "<!-- /vector -->"
)

// TestVector writes the file that schemas/tbf.md describes under "Test vector" and compares it with
// what is printed there. If it changes, the format or what is stored has changed, and Version and
// the page must change with it.
func TestVector(t *testing.T) {
	sh := projtest.Shard{TP: schemas.TopicPartition{Topic: "recount.commands"}, Next: 1000}
	var last []byte
	for i := 1; i <= 1000; i++ {
		var id [16]byte
		binary.BigEndian.PutUint64(id[:8], uint64(i))
		binary.BigEndian.PutUint64(id[8:], uint64(i)*11400714819323198485)
		in := &recountv1.Intent{
			TimeUnixNano: 1_790_000_000_000_000_000 + int64(i)*1_000_000_000, Command: fmt.Sprint("echo ", i), Template: "echo <n>",
			Workspace: "/src", Session: fmt.Sprint("s", i/100), Shell: "bash", Category: 7, Confidence: 1, Complexity: 1, DurationNano: -1,
			ContentHash: uint64(i), Programs: []string{"echo"}, ParentId: last, Embedder: "vector/1",
			Tokens:    []*recountv1.Token{{Kind: 1, Text: "echo"}, {Kind: 4, Offset: 5, Text: fmt.Sprint(i)}},
			Embedding: make([]float32, schemas.EmbeddingDim),
		}
		if code := int32(i % 3); i%5 != 4 {
			in.ExitCode = &code
		}
		in.Embedding[i%384] = 0.6
		in.Embedding[(i+1+i/384)%384] = 0.8
		last = id[:]
		sh.Records = append(sh.Records, &recountv1.Record{
			Origin:  schemas.Position{Topic: sh.TP.Topic, Offset: int64(i - 1)}.Proto(),
			EventId: id[:], TimeUnixNano: in.TimeUnixNano, Body: &recountv1.Record_Intent{Intent: in},
		})
	}
	b := sealedFile(t, sh)
	f, err := fileOf(b, sh.TP)
	if err != nil {
		t.Fatal(err)
	}

	var doc strings.Builder
	fmt.Fprintf(&doc, "The header:\n\n%s\nThe trailer:\n\n%s\n", indented(b[:schemas.TBFHeaderSize]), indented(b[len(b)-schemas.TBFTrailerSize:]))
	fmt.Fprintf(&doc, "The file has %d bytes; the directory is at %d. Its regions:\n\n", len(b), f.h.Directory)
	doc.WriteString("| region | kind | column | at | size | CRC32C |\n|---|---|---|---|---|---|\n")
	for _, e := range f.entries {
		fmt.Fprintf(&doc, "| %s | %d | %d | %d | %d | `%08x` |\n", e.Name(), e.Kind, e.Column, e.Offset, e.Length, e.CRC)
	}

	spec, err := os.ReadFile(specPath)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(spec), vectorStart)
	printed, after, ok2 := strings.Cut(rest, vectorEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the vector", specPath)
	}
	if golden.Rewriting() {
		if err := os.WriteFile(specPath, []byte(before+vectorStart+doc.String()+vectorEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(printed, doc.String()); diff != "" {
		t.Errorf("the file differs from %s (-printed +made); if that is meant, run with -rewrite:\n%s", specPath, diff)
	}
	// The page's table of regions is written by hand: compare it with the columns.
	for _, e := range f.entries {
		if row := fmt.Sprintf("| %d | %s |", e.Column, e.Column); !strings.Contains(before, row) {
			t.Errorf("%s lacks a row that begins %q", specPath, row)
		}
	}
}

// indented returns bytes as a block of code, 16 a line.
func indented(b []byte) string {
	var s strings.Builder
	for i := 0; i < len(b); i += 16 {
		fmt.Fprintf(&s, "    %4d  %s  %s\n", i, hex.EncodeToString(b[i:i+8]), hex.EncodeToString(b[i+8:i+16]))
	}
	return s.String()
}
