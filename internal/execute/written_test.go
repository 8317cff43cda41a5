package execute

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func TestWritten(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(in(name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("old", "old")
	write("kept", "1")
	if err := os.Mkdir(in("dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	o := outputsOf("echo x > new; echo y >> kept; rm old; mkdir dir; touch never", dir)
	write("new", "x\n")
	write("kept", "1y\n")
	if err := os.Remove(in("old")); err != nil {
		t.Fatal(err)
	}
	sum := func(s string) []byte { h := sha256.Sum256([]byte(s)); return h[:] }
	want := []*recountv1.WrittenFile{
		{Path: in("kept"), Sha256: sum("1y\n"), Size: 3},
		{Path: in("new"), Sha256: sum("x\n"), Size: 2},
		{Path: in("old"), Removed: true},
	}
	if diff := cmp.Diff(want, o.written(), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	if got := outputsOf("cat kept | grep x > *.log", dir).written(); len(got) != 0 {
		t.Errorf("a glob and what is read: %v", got)
	}
}

func TestWrittenIsBounded(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big")
	f, err := os.Create(big)
	if err == nil {
		err = f.Truncate(maxHashed + 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	got := outputs{big: false}.written()
	if len(got) != 1 || got[0].Size != maxHashed+1 || got[0].Sha256 != nil {
		t.Errorf("got %v, want its size alone", got)
	}
}
