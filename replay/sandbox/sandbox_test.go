package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func helper(t testing.TB) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{self}
}

// options describes a sandbox over a new directory.
func options(t testing.TB) Options {
	t.Helper()
	base := t.TempDir()
	o := Options{Dir: filepath.Join(base, "dir"), State: filepath.Join(base, "state"), Home: filepath.Join(base, "home"), Helper: helper(t)}
	for _, d := range []string{o.Dir, o.Home} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// open opens a sandbox, and skips the test where the kernel has none.
func open(t testing.TB, o Options) *Sandbox {
	t.Helper()
	s, err := Open(t.Context(), o)
	if refused := (*RefusedError)(nil); errors.As(err, &refused) {
		t.Skip(refused)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.Close()
		_ = removeAll(o.State) // overlayfs leaves a directory without rights
	})
	return s
}

func (s *Sandbox) command(text string) Command {
	return Command{Args: []string{"sh", "-c", text}, Dir: s.opt.Dir, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.opt.Home}, Timeout: 2 * time.Minute, Grace: 100 * time.Millisecond}
}

// sh runs a command in the sandbox's directory.
func (s *Sandbox) sh(t testing.TB, text string) Result {
	t.Helper()
	r, err := s.Run(t.Context(), s.command(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return r
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestRunTellsHowACommandEnded(t *testing.T) {
	s := open(t, options(t))
	for text, want := range map[string]Result{
		"echo out; echo err >&2; exit 3": {Exit: 3, Output: "out\nerr\n"},
		"kill -9 $$":                     {Exit: 137, Signal: "killed"},
		"cat":                            {},
		"cat <<EOF\nhere $((1+1))\nEOF":  {Output: "here 2\n"},
		"printf '%s' \"$HOME\"":          {Output: s.opt.Home},
		"pwd":                            {Output: s.opt.Dir + "\n"},
	} {
		got := s.sh(t, text)
		got.Took = 0
		if got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func TestRunSaysWhyItCouldNotStart(t *testing.T) {
	for _, isolation := range []Isolation{IsolationSandbox, IsolationNone} {
		o := options(t)
		o.Isolation = isolation
		s := open(t, o)
		c := s.command("")
		c.Args = []string{"no-such-program-here"}
		if _, err := s.Run(t.Context(), c); !errors.Is(err, ErrNoProgram) || !strings.Contains(err.Error(), "no-such-program-here") {
			t.Errorf("%s: %v", isolation, err)
		}
		c = s.command("true")
		c.Dir += "/absent"
		if _, err := s.Run(t.Context(), c); !errors.Is(err, ErrNoDir) || !strings.Contains(err.Error(), "absent") {
			t.Errorf("%s: %v", isolation, err)
		}
		if r := s.sh(t, "echo fine"); r.Output != "fine\n" {
			t.Errorf("%s: after the errors: %+v", isolation, r)
		}
	}
}

func TestTimeoutEndsTheWholeTree(t *testing.T) {
	s := open(t, options(t))
	// Two levels, one in a session of its own, and all ignore TERM.
	c := s.command(`trap "" TERM; (setsid sh -c 'trap "" TERM; echo $$ > pids; sleep 1000') & sh -c 'sleep 1000 & wait'; wait`)
	c.Timeout = 300 * time.Millisecond
	r, err := s.Run(t.Context(), c)
	if err != nil || !r.TimedOut || r.Signal != "killed" {
		t.Fatalf("%+v, %v", r, err)
	}
	if out := s.sh(t, "ps -eo args | grep -c '[s]leep 1000'").Output; strings.TrimSpace(out) != "0" {
		t.Errorf("%s processes are left", out)
	}
}

func TestCancelEndsACommand(t *testing.T) {
	for _, isolation := range []Isolation{IsolationSandbox, IsolationNone} {
		o := options(t)
		o.Isolation = isolation
		s := open(t, o)
		ctx, cancel := context.WithCancel(t.Context())
		c := s.command("trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.01; done")
		c.Grace = 2 * time.Minute // it ends on TERM, however slow the machine is
		c.Output = func(p []byte) {
			if strings.Contains(string(p), "ready") {
				cancel()
			}
		}
		r, err := s.Run(ctx, c)
		if !errors.Is(err, context.Canceled) || r.Exit != 5 || !strings.Contains(r.Output, "bye") {
			t.Errorf("%s: %+v, %v", isolation, r, err)
		}
	}
}

func TestServiceOutlivesItsStep(t *testing.T) {
	s := open(t, options(t))
	if r := s.sh(t, "while :; do echo beat >> beats; sleep 0.01; done & echo started"); r.Output != "started\n" || r.Took > time.Minute {
		t.Fatalf("%+v", r)
	}
	if r := s.sh(t, "until test -s beats; do sleep 0.01; done; n=$(wc -l < beats); while [ $(wc -l < beats) -le $n ]; do sleep 0.01; done; echo goes on"); r.Output != "goes on\n" {
		t.Fatalf("%+v", r)
	}
}

func TestOutputIsBounded(t *testing.T) {
	o := options(t)
	o.Limits.Output = 1000
	s := open(t, o)
	r := s.sh(t, "echo first; yes | head -c 50000000; echo last")
	if len(r.Output) > 1100 || r.Dropped < 49_000_000 || !strings.HasPrefix(r.Output, "first\n") || !strings.HasSuffix(r.Output, "last\n") {
		t.Errorf("%d bytes, %d dropped: %.50q…", len(r.Output), r.Dropped, r.Output)
	}
}

func TestTwoAtOnceInOneDirectory(t *testing.T) {
	o := options(t)
	s := open(t, o)
	o.State += "2"
	var busy *BusyError
	if _, err := Open(t.Context(), o); !errors.As(err, &busy) {
		t.Fatalf("a second one opened: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := open(t, o).Discard(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(o.State); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the state is left: %v", err)
	}
}

func TestRefusesDirectoriesWithSecrets(t *testing.T) {
	for _, change := range []func(*Options){
		func(o *Options) { o.Dir = o.Home },
		func(o *Options) { o.Dir = filepath.Dir(o.Home) },
		func(o *Options) { o.Dir = "/" },
		func(o *Options) { o.Dir = "/proc" },
		func(o *Options) { o.Dir = "relative" },
		func(o *Options) { o.State = o.Dir + "/state" },
		func(o *Options) { o.Isolation = "some" },
	} {
		o := options(t)
		change(&o)
		if s, err := Open(t.Context(), o); err == nil {
			t.Errorf("opened with %+v", o)
			_ = s.Close()
		}
	}
}

func TestToolsOfOtherHomes(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		want string
	}{
		"none":          {map[string]string{"PATH": "/usr/bin:/bin"}, ""},
		"the own home":  {map[string]string{"PATH": "/home/ann/bin:/usr/bin"}, ""},
		"a prefix":      {map[string]string{"PATH": "/home/linuxbrew/.linuxbrew/bin:/usr/bin"}, "/home/linuxbrew"},
		"of root":       {map[string]string{"PATH": "/usr/bin", "RUSTUP_HOME": "/root/.rustup"}, "/root"},
		"a home itself": {map[string]string{"PATH": "/home/bob:/root"}, ""},
	} {
		var got []string
		for _, p := range filepath.SplitList(toolPath(func(name string) string { return c.env[name] })) {
			if home := homeOf(p); home != "" && home != "/home/ann" {
				got = append(got, home)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %q", name, got, c.want)
		}
	}
	// What is secret in another home is not shown, though a directory in it is named.
	home := t.TempDir()
	for _, d := range []string{".cargo/bin", ".rustup/toolchains", ".ssh/bin", "private", "tools/bin"} {
		if err := os.MkdirAll(filepath.Join(home, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	path := strings.Join([]string{home + "/.cargo/bin", home + "/.ssh/bin", home + "/tools/bin"}, ":")
	got := visibleIn(home, path, "/work")
	slices.Sort(got)
	if strings.Join(got, " ") != ".cargo/bin .rustup tools/bin" {
		t.Errorf("visible: %v", got)
	}
}

func TestGitConfigIsSelected(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not there")
	}
	home, to := t.TempDir(), t.TempDir()
	config := "[user]\n\tname = Ann O\n[protocol \"file\"]\n\tallow = always\n[credential]\n\thelper = store\n[init]\n\tdefaultBranch = trunk\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, ".gitconfig"))
	if err := writeGitConfig(t.Context(), home, to); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("git", "config", "--file", filepath.Join(to, ".gitconfig"), "--list").Output()
	if want := "user.name=Ann O\nprotocol.file.allow=always\ninit.defaultbranch=trunk\n"; err != nil || string(out) != want {
		t.Errorf("%q, %v, want %q", out, err, want)
	}
}
