package run

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/effects"
)

// in returns steps of one session of a shell, which change what their lines are known to.
func in(t *testing.T, shell string, lines ...string) []replay.Step {
	t.Helper()
	if _, err := exec.LookPath(shell); err != nil {
		t.Skip(shell + " is not installed")
	}
	s := commands(lines...)
	for i := range s {
		e := effects.Of(effects.Command{Text: lines[i], Shell: shell, Cwd: "/w", Home: "/home/a"})
		s[i].Shell, s[i].Session, s[i].Sets = shell, "one", slices.Concat(e.Sets, e.Unsets)
	}
	return s
}

// printed runs steps, and returns what each printed.
func printed(t *testing.T, steps []replay.Step) (out []string) {
	t.Helper()
	w := newWorld(t)
	r := w.run(w.plan(steps))
	for i, s := range r.Steps {
		if s.Status != Done {
			t.Errorf("%q: %s %s", steps[i].Command, s.Status, s.Output)
		}
		out = append(out, strings.TrimSuffix(strings.ReplaceAll(s.Output, w.dir, "DIR"), "\n"))
	}
	return out
}

// TestFishSession has variables, lists and functions of a session of fish.
func TestFishSession(t *testing.T) {
	four := int32(4)
	steps := in(t, "fish",
		"set -gx MODE prod; set n 3; set files a.txt 'b c' -n; set -l line 1; function hi; echo \"hi $argv[1] $MODE\"; end; alias ll 'ls -1'; umask 027",
		"echo $n (count $files) \"$files[2]\" [$line]; hi bob; sh -c 'echo $MODE'; umask; env | grep -c __recount",
		"set -e MODE; set n 4; touch f; exit 4",
		"for i in (seq $n); echo $i; end; ll f; hi amy",
		"set -q MODE; echo $status; functions -e hi",
		"functions -q hi; echo $status",
	)
	steps[2].Exit = &four
	steps[1].Command += "; true"
	want := []string{"", "3 3 b c [1]\nhi bob prod\nprod\n0027\n0", "", "1\n2\n3\n4\nf\nhi amy ", "1", "1"}
	if got := printed(t, steps); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestZshSession has options of a session of zsh, and a block that zsh reads only as a line.
func TestZshSession(t *testing.T) {
	got := printed(t, in(t, "zsh",
		"setopt shwordsplit; x='a b c'; echo $options[globdots]; h() { echo h $1 }",
		"printf '<%s>' $x; h 1; setopt ksharrays",
		"arr=(p q r)",
		"echo ${arr[1]}; setopt globdots rcquotes",
		"touch .hid; echo * 'it''s'",
		"unsetopt ksharrays shwordsplit; pushd /usr; pushd /",
		"echo ${arr[1]}; printf '<%s>' $x; dirs -l",
		"if [[ -f .hid ]] { echo yes }",
	))
	want := []string{"off", "<a><b><c>h 1", "", "q", ".hid it's", got[5], "p\n<a b c>DIR /usr DIR", "yes"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestDirectoriesOfASession has a stack of directories that several lines go through.
func TestDirectoriesOfASession(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			steps := in(t, shell, "mkdir a 'b c'", "pushd a; pushd '../b c'", "touch f; popd; pwd", "popd; pwd", "dirs")
			w := newWorld(t)
			p := w.plan(steps)
			p.Steps[2].Cwd, p.Steps[3].Cwd = w.dir+"/b c", w.dir+"/a"
			if err := p.Identify(); err != nil {
				t.Fatal(err)
			}
			r := w.run(p)
			if got := statuses(r); got != "done done done done done" {
				t.Fatalf("%s %+v", got, r)
			}
			if a, top := r.Steps[2].Output, r.Steps[3].Output; !strings.HasSuffix(a, w.dir+"/a\n") || !strings.HasSuffix(top, w.dir+"\n") || strings.Contains(r.Steps[4].Output, "b c") {
				t.Errorf("%q %q %q", a, top, r.Steps[4].Output)
			}
		})
	}
}

// TestSessionsKnowWhereTheyCameFrom goes back to the directory of an earlier line, of which the plan tells.
func TestSessionsKnowWhereTheyCameFrom(t *testing.T) {
	for shell, line := range map[string]string{"bash": "cd ~-; pwd", "zsh": "cd - > /dev/null; pwd", "fish": "cd -; pwd"} {
		t.Run(shell, func(t *testing.T) {
			steps := in(t, shell, line)
			steps[0].Env = map[string]string{"OLDPWD": "/usr/bin"}
			if got := printed(t, steps); got[0] != "/usr/bin" {
				t.Errorf("%q", got)
			}
		})
	}
}
