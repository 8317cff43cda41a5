package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// TestNamesOfOneFile checks that names which ln joins, before or while commands run, are one file for the commands and
// where their changes are applied.
func TestNamesOfOneFile(t *testing.T) {
	o := options(t)
	o.Copy = "a test asks for it"
	for name, text := range map[string]string{"a": "1\n", "c": "1\n"} {
		if err := os.WriteFile(filepath.Join(o.Dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	same := func(x, y string) bool {
		a, err := os.Stat(filepath.Join(o.Dir, x))
		b, err2 := os.Stat(filepath.Join(o.Dir, y))
		return err == nil && err2 == nil && os.SameFile(a, b)
	}
	if err := os.Link(filepath.Join(o.Dir, "a"), filepath.Join(o.Dir, "b")); err != nil {
		t.Skip(err)
	}
	s := open(t, o)
	if res := s.sh(t, "ln c d; echo 2 >> b; cp a seen; ln a e; echo 3 > f; ln f g; sed -i s/3/4/ g"); res.Exit != 0 {
		t.Fatalf("exit %d: %s", res.Exit, res.Output)
	}
	changes, err := s.Apply()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := describe(changes), "changed a, changed b, added d, added e, added f, added g, added seen"; got != want {
		t.Errorf("changes: %s, want %s", got, want)
	}
	if b, _ := os.ReadFile(filepath.Join(o.Dir, "seen")); string(b) != "1\n2\n" {
		t.Errorf("seen: %q", b)
	}
	for pair, want := range map[[2]string]bool{{"a", "b"}: true, {"a", "e"}: true, {"c", "d"}: true, {"f", "g"}: false, {"a", "seen"}: false} {
		if got := same(pair[0], pair[1]); got != want {
			t.Errorf("%s and %s are one file: %v", pair[0], pair[1], got)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
