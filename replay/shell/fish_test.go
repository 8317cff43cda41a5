package shell

import (
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// TestFishAsBash reads lines of fish and writes them as bash has them.
func TestFishAsBash(t *testing.T) {
	for _, test := range []struct{ fish, bash string }{
		{"echo a; and rm -r pkg; or echo no", "echo a && rm -r pkg || echo no"},
		{"if test -f end; echo yes > yes; else if true; echo b; else; echo no; end > out", "if test -f end; then echo yes >yes; elif true; then echo b; else echo no; fi >out"},
		{"for i in 1 2 3; echo $i > f$i; end", "for i in 1 2 3; do echo $i >f$i; done"},
		{"while test ! -e stop; and true\n  touch stop\nend", "while test ! -e stop && true; do touch stop; done"},
		{"switch (cat m7); case 7; echo seven > sw; case '*'; echo other > sw; end", "case $(cat m7) in 7) echo seven >sw ;; *) echo other >sw ;; esac"},
		{"begin; echo 1; echo 2; end > grp", "{\n\techo 1\n\techo 2\n} >grp"},
		{"function hi -a who; echo \"hi $argv[1]\" > hi.txt; end", `function hi { echo "hi ${1}" >hi.txt; }`},
		{"not test -e f; and echo missing > m", "! { test -e f; } && echo missing >m"},
		{"set n 3", "n=3"},
		{"set -gx MODE prod", "export MODE=prod"},
		{"set files a.txt 'b c'", "files=(a.txt 'b c')"},
		{"set -l loc (pwd)", "local loc=$(pwd)"},
		{"set -a arr d; set arr[2] x", "arr+=d\narr+=x"},
		{"set -e MODE; set -q MODE; set", "unset MODE\n: $MODE\n:"},
		{"set --global --export A 1", "export A=1"},
		{"set $name 1", "export $name 1"},
		{"functions -e hi", "unset hi"},
		{"alias ll 'ls -1'", "alias ll='ls -1'"},
		{"A=1 B= env | cat 2>| wc &| cat & echo b", "A=1 B= env | cat | wc |& cat &\necho b"},
		{"time command ls &> log", "time command ls &>log"},
		{"cp $f (basename $f .txt).bak; echo \"$(pwd)/$x[2]\" $xs[-1]", "cp $f $(basename $f .txt).bak\necho \"$(pwd)/${x[2]}\" ${xs[-1]}"},
		{"curl http://h/x?a=1&b=2 # no comment&", "curl http://h/x?a=1\\&b=2"},
		{"echo `a` \"`\" a#b", "echo \\`a\\` \"\\`\" a#b"},
		{"echo a \\\n  b", "echo a b"},
		{"echo $status", "echo $?"},
	} {
		f, err := parseFish(test.fish)
		if err != nil {
			t.Errorf("%q: %v", test.fish, err)
			continue
		}
		var b strings.Builder
		if err := syntax.NewPrinter().Print(&b, f); err != nil || strings.TrimSuffix(b.String(), "\n") != test.bash {
			t.Errorf("%q: %v\n got %q\nwant %q", test.fish, err, strings.TrimSuffix(b.String(), "\n"), test.bash)
		}
	}
	for _, bad := range []string{"for i in 1; echo", "end", "echo (ls", "echo )", "if true; else; else; end", "echo 'a", "echo >", "case 1", "| a", "set -l x (", strings.Repeat("begin;", 100) + strings.Repeat("end;", 100)} {
		if f, err := parseFish(bad); err == nil {
			t.Errorf("%q is read: %v", bad, f)
		}
	}
}

// FuzzFish reads anything as fish's.
func FuzzFish(f *testing.F) {
	for _, text := range []string{"if a; b; else; c; end > f", "for i in (seq 3); set x[1] $i; end", "switch $x; case a 'b*'; c; end", "function f -a b; echo $argv[1..2]; end; not f \"$x[1]\"; and g &", "set -gx A b c; alias a 'b c'"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Read(text, "fish", "/w")
		if err != nil {
			return
		}
		if err := syntax.NewPrinter().Print(&strings.Builder{}, l.File); err != nil {
			t.Log(err)
		}
		syntax.Walk(l.File, func(n syntax.Node) bool {
			if w, ok := n.(*syntax.Word); ok && int(w.End().Offset()) > len(text) {
				t.Errorf("a word of %q ends at %d", text, w.End().Offset())
			}
			return true
		})
	})
}
