package effects

import (
	"strings"
	"testing"
)

// TestFish has lines of fish: what they change in their shell, and in files.
func TestFish(t *testing.T) {
	for _, test := range []struct{ text, sets, things string }{
		{"set -gx MODE prod", "MODE", ""},
		{"set n 3; set files a.txt b.txt; echo $n > f$n", "n files", "writes path /w/f3"},
		{"set -l d out; mkdir $d", "d", "writes directory /w/out"},
		{"set -e MODE; set -q MODE; set -S x", "-MODE", ""},
		{"set -a PATH bin; set $name 1", "PATH *", ""},
		{"for i in 1 2; echo $i > f$i; end", "", "writes path /w/f1; writes path /w/f2"},
		{"function hi; echo hi > $argv[1]; end; hi to", "hi()", "writes path /w/to"},
		{"while read -l line; echo $line >> out; end < in", "line", "reads path /w/in; updates path /w/out"},
		{"tar cf p.tar pkg; and rm -r pkg", "", "reads path /w/pkg/**; removes path /w/pkg/**; writes path /w/p.tar"},
		{"string replace -a a X < in > out; math 3 + 4 > m", "", "reads path /w/in; writes path /w/m; writes path /w/out"},
		{"alias ll 'ls -1'; functions -e hi", "alias ll -hi", ""},
		{"cp in (basename $f .txt).bak[1]", "", "reads path /w/.txt; reads path /w/in"},
		{"eval 'set x 1; true'; fish -c 'echo a > b; and echo c > d'", "x", "writes path /w/b; writes path /w/d"},
	} {
		e := Of(Command{Text: test.text, Shell: "fish", Cwd: "/w", Home: "/home/a"})
		sets := e.Sets
		for _, name := range e.Unsets {
			sets = append(sets, "-"+name)
		}
		if got := strings.Join(sets, " "); e.Err != nil || got != test.sets || things(e) != test.things {
			t.Errorf("%q: %v sets %q, %q", test.text, e.Err, got, things(e))
		}
	}
}

// TestDirectories has lines that leave directories for a later popd, or take those of an earlier line.
func TestDirectories(t *testing.T) {
	for text, want := range map[string]string{
		"pushd a": "sets", "pushd a; make; popd": "", "popd": "uses sets", "pushd a; pushd b; popd": "sets", "dirs | wc -w > n": "uses", "pushd": "uses sets",
		"(pushd a; make)": "", "pushd a; popd; popd": "uses sets", "echo popd": "",
	} {
		e, got := of(text), []string{}
		for _, name := range e.Uses {
			if name == directories {
				got = append(got, "uses")
			}
		}
		for _, name := range e.Sets {
			if name == directories {
				got = append(got, "sets")
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if e := of("pushd a"); !e.Navigates {
		t.Error("pushd does more than go to a directory")
	}
}
