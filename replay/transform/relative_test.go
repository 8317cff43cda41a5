package transform

import (
	"testing"

	"github.com/recountdb/recount/replay/shell"
)

// TestRelativePaths maps relative paths that lead into what is mapped, from a directory that is not, or elsewhere.
func TestRelativePaths(t *testing.T) {
	names := map[string][]string{Path: {"/home/ann/app", "/home/ann/app/src", "/home/ann/app/x", "/home/ann/other"}}
	for _, c := range []struct {
		maps       []string
		line, want string
	}{
		{[]string{"/home/ann/app=/home/ann/copy"}, "mkdir -p app && cd app && git init", "mkdir -p /home/ann/copy && cd /home/ann/copy && git init"},
		{[]string{"/home/ann/app=/home/ann/copy"}, "cp 'app/x' other; echo app; git checkout app", "cp '/home/ann/copy/x' other; echo app; git checkout app"},
		{[]string{"/home/ann/app=/home/ann/copy"}, "cd app; touch x > src/log", "cd /home/ann/copy; touch x > src/log"},
		{[]string{"/home/ann/app=/srv/app", "/home/ann=/home/bob"}, "mkdir -p app/src other", "mkdir -p /srv/app/src other"},
		{[]string{"/home/ann=/home/bob"}, "mkdir -p app/src && cd app", "mkdir -p app/src && cd app"},
	} {
		m, err := Parse(c.maps, "/home/ann")
		if err != nil {
			t.Fatal(err)
		}
		l, err := shell.Read(c.line, "bash", "/home/ann")
		if err != nil {
			t.Fatal(err)
		}
		out := m.Command(Input{Text: c.line, Shell: "bash", Cwd: "/home/ann", User: "ann", Home: "/home/ann", Line: l, Names: names})
		if out.Text != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.line, out.Text, c.want)
		}
	}
}
