package recording

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestMemoryWorkspace checks that linked working trees share the workspace of their repository's memory, and keep a
// workspace of their own for commands.
func TestMemoryWorkspace(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	git := func(in string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always"}, args...)...)
		cmd.Dir = at(in)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	for _, name := range []string{"lib", "shop/src", "plain"} {
		if err := os.MkdirAll(at(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	git("lib", "init", "-q", "-b", "main")
	git("lib", "commit", "-q", "--allow-empty", "-m", "one")
	git("shop", "init", "-q", "-b", "main")
	git("shop", "submodule", "add", "-q", "../lib", "vendor/lib")
	git("shop", "commit", "-q", "-m", "one")
	git("shop", "worktree", "add", "-q", "-b", "side", "../shop-wt")
	git("shop", "worktree", "add", "-q", "-b", "inside", "trees/inside")
	git("shop-wt", "submodule", "--quiet", "update", "--init")
	git("shop/vendor/lib", "worktree", "add", "-q", "-b", "side", at("lib-wt"))
	git("", "clone", "-q", "--bare", "lib", "bare.git")
	git("bare.git", "worktree", "add", "-q", "-b", "side", "../bare-wt")
	git("", "clone", "-q", "--bare", "lib", "hidden/.bare")
	if err := os.WriteFile(at("hidden/.git"), []byte("gitdir: ./.bare\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git("hidden", "worktree", "add", "-q", "-b", "side", "side")
	for _, c := range []struct{ in, own, memory string }{
		{"plain", "", ""},
		{"shop/src", "shop", "shop"},
		{"shop-wt", "shop-wt", "shop"},
		{"shop/trees/inside", "shop/trees/inside", "shop"},
		{"shop/vendor/lib", "shop/vendor/lib", "shop/vendor/lib"},
		{"shop-wt/vendor/lib", "shop-wt/vendor/lib", "shop-wt/vendor/lib"},
		{"lib-wt", "lib-wt", "shop/vendor/lib"},
		{"bare-wt", "bare-wt", "bare.git"},
		{"hidden/side", "hidden/side", "hidden"},
	} {
		want := func(name string) string {
			if name == "" {
				return ""
			}
			return at(name)
		}
		if got := Workspace(at(c.in)); got != want(c.own) {
			t.Errorf("%s: workspace %q, want %q", c.in, got, want(c.own))
		}
		if got := MemoryWorkspace(at(c.in)); got != want(c.memory) {
			t.Errorf("%s: workspace of memory %q, want %q", c.in, got, want(c.memory))
		}
	}
}
