package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGitClonesInACopy checks that git clones a repository that was there before, whose files it links.
func TestGitClonesInACopy(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	o := options(t)
	o.Copy = "git clones"
	made := exec.Command("sh", "-c", "git init -q from && cd from && echo x > x && git add x && git -c user.name=a -c user.email=b commit -qm x")
	made.Dir = o.Dir
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := open(t, o)
	res, err := s.Run(t.Context(), Command{Args: []string{"git", "clone", "-q", "from", "to"}, Dir: o.Dir, Env: os.Environ()})
	if err != nil || res.Exit != 0 {
		t.Fatalf("%v: exit %d: %s", err, res.Exit, res.Output)
	}
	if notes := strings.Join(s.Notes(), "; "); !strings.Contains(notes, "works on a copy of "+o.Dir) || !strings.Contains(notes, "git clones") {
		t.Errorf("notes: %q", notes)
	}
}

// TestTooLargeForACopy checks that a directory above the limit is shown as it is where that can be.
func TestTooLargeForACopy(t *testing.T) {
	o := options(t)
	if r, err := Probe(t.Context(), o.Helper); err != nil || !r.Overlay {
		t.Skip("no overlayfs for users")
	}
	o.Copy, o.Limits.Copy = "git clones", 10
	if err := os.WriteFile(filepath.Join(o.Dir, "large"), make([]byte, 11), 0o644); err != nil {
		t.Fatal(err)
	}
	s := open(t, o)
	if notes := strings.Join(s.Notes(), "; "); s.state.Copy || !strings.Contains(notes, "no copy of "+o.Dir+" is made, although git clones") {
		t.Errorf("copy %v, notes: %q", s.state.Copy, notes)
	}
}
