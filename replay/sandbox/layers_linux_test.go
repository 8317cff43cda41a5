package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shim is what pyenv's does before it runs a program: it takes a lock beside the shims, makes them anew
// and gives the lock back; without a lock it ends with 1.
const shim = `#!/bin/sh
shims=$(dirname "$0")
set -C
echo > "$shims/.lock" || exit 1
set +C
cp "$0" "$shims/new" && mv "$shims/new" "$shims/another" && rm "$shims/.lock" && echo "ran $1"
`

// TestToolsOfAnotherHomeTakeWrites: a tool that lies in another user's home and keeps its state beside
// it runs, and what it wrote there is in no real directory.
func TestToolsOfAnotherHomeTakeWrites(t *testing.T) {
	o := options(t)
	other := filepath.Join(filepath.Dir(o.Dir), "other")
	shims := filepath.Join(other, ".pyenv/shims")
	write(t, filepath.Join(shims, "python"), shim)
	write(t, filepath.Join(other, ".ssh/key"), "secret")
	if err := os.Chmod(filepath.Join(shims, "python"), 0o755); err != nil {
		t.Fatal(err)
	}
	o.elsewhere = []string{filepath.Join(other, ".pyenv")}
	before := namesBelow(t, other)
	s := open(t, o)
	for _, text := range []string{shims + "/python once", shims + "/another twice"} {
		if r := s.sh(t, text); r.Exit != 0 || !strings.HasPrefix(r.Output, "ran ") {
			t.Errorf("%s: %+v", text, r)
		}
	}
	if r := s.sh(t, "cat "+other+"/.ssh/key; ls -A "+other); strings.Contains(r.Output, "secret") || !strings.Contains(r.Output, "\n.pyenv\n") {
		t.Errorf("the other home: %+v", r)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// A later sandbox with the same state has it still, though its first directory is another one.
	write(t, filepath.Join(other, "a/tool"), "")
	o.elsewhere = []string{filepath.Join(other, "a"), filepath.Join(other, ".pyenv")}
	again := open(t, o)
	if r := again.sh(t, "test -x "+shims+"/another && ls -A "+other+"/a"); r.Output != "tool\n" {
		t.Errorf("again: %+v", r)
	}
	if err := again.Discard(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(other, "a")); err != nil {
		t.Fatal(err)
	}
	if after := namesBelow(t, other); after != before {
		t.Errorf("the other home was\n%s\nand is\n%s", before, after)
	}
}

// TestToolsThatAreNotTheUsersStayReadOnly: where the user may not write, no layer is made.
func TestToolsThatAreNotTheUsersStayReadOnly(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere")
	}
	o := options(t)
	o.elsewhere = []string{filepath.Join(filepath.Dir(o.Dir), "other")}
	write(t, filepath.Join(o.elsewhere[0], "tool"), "")
	if err := os.Chmod(o.elsewhere[0], 0o555); err != nil {
		t.Fatal(err)
	}
	s := open(t, o)
	if r := s.sh(t, "test -e "+o.elsewhere[0]+"/tool && touch "+o.elsewhere[0]+"/new"); r.Exit == 0 {
		t.Errorf("%+v", r)
	}
}

func namesBelow(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		all = append(all, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "\n")
}
