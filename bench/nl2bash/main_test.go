package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestBM25RanksTheRarerWordHigher(t *testing.T) {
	var b bm25
	b.init()
	for i, text := range []string{"find a", "find b", "find rare c", "sort d"} {
		b.add(int32(i), terms(text))
	}
	if got, want := b.search(terms("find rare")), []int32{2, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestFuse(t *testing.T) {
	// 7 stands second twice, which is worth more than first once.
	if got, want := fuse([]int32{1, 7}, []int32{2, 7}), []int32{7, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	var lines strings.Builder
	for i := range 40 {
		name := strings.Repeat("x", i+1)
		lines.WriteString("copy the file " + name + "\tcp " + name + " /tmp\ndelete the file " + name + "\trm " + name + "\n")
	}
	file := filepath.Join(dir, "pairs.tsv")
	if err := os.WriteFile(file, []byte(lines.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run(&out, file, 0); err != nil {
		t.Fatal(err)
	}
	// The file's name leaves two commands, and a concept chooses between them.
	if !strings.Contains(out.String(), "80 commands") || strings.Count(out.String(), "fused             1.000    1.000") != 2 {
		t.Errorf("got\n%s", out.String())
	}
	if err := run(&out, file+".none", 0); err == nil {
		t.Error("a file that is not there is accepted")
	}
}
