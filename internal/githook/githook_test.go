package githook_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/internal/git/gittest"
	"github.com/recountdb/recount/internal/githook"
)

func done(t *testing.T, results []githook.Result, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var s []string
	for _, r := range results {
		s = append(s, r.Hook+":"+r.Done)
	}
	return strings.Join(s, " ")
}

func each(what string) string {
	return "post-commit:" + what + " post-merge:" + what + " post-rewrite:" + what + " post-checkout:" + what
}

func TestInstallAndUninstall(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "hooks")
	install := func(line, want string) {
		t.Helper()
		r, err := githook.Install(dir, line)
		if got := done(t, r, err); got != want {
			t.Errorf("install: %s\nwant     %s", got, want)
		}
	}
	uninstall := func(want string) {
		t.Helper()
		r, err := githook.Uninstall(dir)
		if got := done(t, r, err); got != want {
			t.Errorf("uninstall: %s\nwant       %s", got, want)
		}
	}
	uninstall(each("not there"))
	install(githook.Line("/bin/old"), each("installed"))
	install(githook.Line("/bin/new"), each("installed"))
	install(githook.Line("/bin/new"), each("there already"))
	uninstall(each("removed"))
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestAForeignHookStays(t *testing.T) {
	dir := t.TempDir()
	foreign, target := filepath.Join(dir, "post-commit"), filepath.Join(t.TempDir(), "target")
	theirs := "#!/bin/sh\necho theirs\n"
	for file, content := range map[string]string{foreign: theirs, target: "t"} {
		if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(target, filepath.Join(dir, "post-merge")); err != nil {
		t.Fatal(err)
	}
	line := githook.Line("/bin/recount", "import", "git", "--hook")
	r, err := githook.Install(dir, line)
	if got := done(t, r, err); got != "post-commit:foreign post-merge:foreign post-rewrite:installed post-checkout:installed" || r[0].Add != line {
		t.Errorf("install: %s, add %q", got, r[0].Add)
	}
	// A hook of Recount with additions belongs to the user, too.
	rewrite := filepath.Join(dir, "post-rewrite")
	b, err := os.ReadFile(rewrite)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(rewrite, append(b, "echo mine\n"...), 0o755); err != nil {
		t.Fatal(err)
	}
	r, err = githook.Uninstall(dir)
	if got := done(t, r, err); got != "post-commit:foreign post-merge:foreign post-rewrite:foreign post-checkout:removed" {
		t.Errorf("uninstall: %s", got)
	}
	for file, want := range map[string]string{foreign: theirs, target: "t"} {
		if b, _ := os.ReadFile(file); string(b) != want {
			t.Errorf("%s: %q", file, b)
		}
	}
	link := filepath.Join(t.TempDir(), "hooks")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if _, err := githook.Install(link, line); err == nil {
		t.Error("hooks were put behind a link")
	}
}

// TestGitRunsTheHook checks that git runs the hook with the intended arguments, whatever is in
// PATH.
func TestGitRunsTheHook(t *testing.T) {
	g := gittest.Init(t)
	said := filepath.Join(t.TempDir(), "said")
	bin := filepath.Join(t.TempDir(), "it's a $(bin)")
	// It is renamed when complete, so that the test reads all of it.
	if err := os.WriteFile(bin, []byte("#!/bin/sh\nprintf '%s\\n' \"$PWD\" \"$@\" > '"+said+".new'; mv '"+said+".new' '"+said+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := githook.Install(filepath.Join(g.Dir, ".git", "hooks"), githook.Line(bin, "import", "$x y")); err != nil {
		t.Fatal(err)
	}
	g.Commit("one", "a", "1")
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		b, err := os.ReadFile(said)
		if err == nil {
			if diff := cmp.Diff(strings.Fields(string(b)), []string{g.Dir, "import", "$x", "y", "."}); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal("the hook was not run")
		case <-tick.C:
		}
	}
}
