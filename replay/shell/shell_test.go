package shell_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/replay/shell"
)

func TestRead(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"one", "make -C src all", "make@/w"},
		{"cd moves what follows", "cd src && make; ls", "cd@/w make@/w/src ls@/w/src"},
		{"cd in a subshell does not", "(cd src && make); ls", "cd@/w make@/w/src ls@/w"},
		{"cd to what is not known", "cd $D && make", "cd@/w make@?"},
		{"cd back, from where it may not have gone", "test -d src && cd src; cd -; ls", "test@/w cd@/w cd@/w/src ls@?"},
		{"popd", "popd; ls", "popd@/w ls@?"},
		{"sudo with a user", "sudo -u bob make", "sudo@/w make@/w(sudo)"},
		{"env sets a variable", "env A=1 make", "env@/w make@/w(env)"},
		{"a script in a word", "bash -c 'cd a && touch b'", "bash@/w cd@/w(bash) touch@/w/a(bash)"},
		{"xargs", "ls | xargs -n 1 rm -f", "ls@/w xargs@/w rm@/w(xargs)"},
		{"find", "find . -name x -exec rm {} \\; -print", "find@/w rm@/w(find)"},
		{"ssh", "ssh -p 22 host 'rm -rf x; ls'", "ssh@/w rm@?(ssh)! ls@?(ssh)!"},
		{"docker run", "docker run --rm -v /a:/b img make all", "docker@/w make@?(docker run)!"},
		{"python -m", "python3 -m pytest -q", "python3@/w pytest@/w(python3)"},
		{"a substitution", "echo $(git rev-parse HEAD)", "git@/w echo@/w"},
		{"a word of unknown value", "$CC -c a.c", "?@/w"},
		{"an option named like a flag of sudo", "sudo find / -type f -exec chmod 1 {} \\;", "sudo@/w find@/w(sudo) chmod@/w(sudo find)"},
		{"a document", "cat > a <<EOF\n$X\nEOF\nls", "cat@/w ls@/w"},
		{"export", "export A=1 B", "export@/w"},
		{"a test by its bracket", "[ -f a ] && ls", "[@/w ls@/w"},
		{"a pattern as a program", "[ab] x; ./[ab] x", "?@/w ?@/w"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := shell.Read(c.in, "bash", "/w")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, k := range l.Calls {
				s := or(k.Name) + "@" + or(k.Dir)
				if len(k.Via) > 0 {
					s += "(" + strings.Join(k.Via, " ") + ")"
				}
				if k.Abroad {
					s += "!"
				}
				got = append(got, s)
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("%q:\n got %s\nwant %s", c.in, s, c.want)
			}
		})
	}
}

func or(s string) string {
	if s == "" {
		return "?"
	}
	return s
}

func TestVariables(t *testing.T) {
	l, err := shell.Read(`A=1; export B="$C/x" D=$(pwd); for i in $E; do echo $i $A; done; f() { echo "$F"; }; read G <&0`, "bash", "/w")
	if err != nil {
		t.Fatal(err)
	}
	var set []string
	for _, v := range l.Assigned {
		set = append(set, fmt.Sprintf("%s=%s known=%t exported=%t", v.Name, v.Value.Value, !v.Unknown, v.Exported))
	}
	want := "A=1 known=true exported=false|B=$C/x known=false exported=true|D=$(pwd) known=false exported=true|G= known=false exported=false"
	if got := strings.Join(set, "|"); got != want {
		t.Errorf("assigned %s\nwant %s", got, want)
	}
	if got := strings.Join(l.Uses, " "); got != "C E F" {
		t.Errorf("uses %q, want C E F", got)
	}
	if got := strings.Join(l.Functions, " "); got != "f" {
		t.Errorf("functions %q, want f", got)
	}
}

// TestUses has variables that a line names without a dollar sign, or changes in part.
func TestUses(t *testing.T) {
	for in, want := range map[string]string{
		"echo $((A * b)) > p": "A b", "((k += m))": "k m", "let k+=m": "k m", "for ((i = 0; i < N; i++)); do :; done": "N i", "if ((z > 3)); then ls; fi": "z",
		"((k = m))": "m", "a[3]=5": "a", "a+=(1 $c)": "a c", "n+=3": "n", "n=3": "",
	} {
		l, err := shell.Read(in, "bash", "/w")
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(l.Uses)
		if got := strings.Join(l.Uses, " "); got != want {
			t.Errorf("%s: uses %q, want %q", in, got, want)
		}
	}
}

func TestPieces(t *testing.T) {
	const in = `cp /a/"b c"/$X'd'\ e f`
	l, err := shell.Read(in, "bash", "/w")
	if err != nil {
		t.Fatal(err)
	}
	pieces, value := shell.Pieces(in, l.Calls[0].Args[0].Node)
	if value != "/a/b c/$Xd e" {
		t.Errorf("value %q", value)
	}
	for _, p := range pieces {
		if got := value[p.At : p.At+len(p.Value)]; got != p.Value {
			t.Errorf("piece %q is at %d, where the value has %q", p.Value, p.At, got)
		}
		if p.Quote != shell.Bare && in[p.From:p.To] != p.Value {
			t.Errorf("piece %q has the source %q", p.Value, in[p.From:p.To])
		}
	}
	if len(pieces) != 5 {
		t.Errorf("%d pieces, want 5: %v", len(pieces), pieces)
	}
}
