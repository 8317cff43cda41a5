package main

import (
	"strings"
	"testing"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
)

func TestCut(t *testing.T) {
	for _, c := range []struct {
		in         string
		n          int
		end, start string
	}{
		{"make test", 9, "make test", "make test"},
		{"make test", 6, "make…", "… test"},
		{"日本語です", 5, "日本…", "…です"},
		{"日本語です", 6, "日本…", "…です"},
		{"e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301", "e\u0301e\u0301e\u0301"},
		{"", 3, "", ""},
	} {
		if got := cut(c.in, c.n); got != c.end || columns(got) > c.n {
			t.Errorf("cut(%q, %d): got %q, want %q", c.in, c.n, got, c.end)
		}
		if got := cutStart(c.in, c.n); got != c.start || columns(got) > c.n {
			t.Errorf("cutStart(%q, %d): got %q, want %q", c.in, c.n, got, c.start)
		}
	}
	if got := oneLine(" for x in a\n\tdo\x1b[2J\r\n"); got != `for x in a⏎ do\x1b[2J` {
		t.Errorf("oneLine: got %q", got)
	}
}

// TestOneLineKeepsDirection checks that characters that change the direction of writing are
// escaped, because they would disguise a command.
func TestOneLineKeepsDirection(t *testing.T) {
	if got, want := oneLine("rm a \u202etxt.b\u2066 א"), `rm a \u202etxt.b\u2066 א`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDiagramTitles(t *testing.T) {
	d := stitchDiagram(commands.StitchResponse{Nodes: []commands.Node{{Intent: commands.Intent{Session: "s\x1b[2J\nend"}}}})
	for name, got := range map[string]string{"dot": d.dot(), "mermaid": d.mermaid()} {
		if strings.ContainsAny(got, "\x1b\u202e") {
			t.Errorf("%s: a control character: %q", name, got)
		}
	}
}

func TestCutApart(t *testing.T) {
	for _, c := range []struct {
		why, a, b string
		n         int
		wantA     string
		wantB     string
	}{
		{"room for all", "exit 1", "ok", 10, "exit 1", "ok"},
		{"the start differs", "/usr/lib/a/long/path", "/opt/lib/a/long/path", 12, "/usr/lib/a/…", "/opt/lib/a/…"},
		{"the end differs", "/workspace/ponylang__one", "/workspace/ponylang__two", 12, "…ng__one", "…ng__two"},
		{"one begins with the other", "/workspace/project", "/workspace/project/docs", 12, "…ject", "…ject/docs"},
		{"what differs is long", "/workspace/project/one/two/three", "/workspace/project", 12, "…ject/one/t…", "…ject"},
		{"wide ones", "日本語日本語日本語a", "日本語日本語日本語b", 12, "…本語a", "…本語b"},
	} {
		a, b := cutApart(c.a, c.b, c.n)
		if a != c.wantA || b != c.wantB {
			t.Errorf("%s: got %q, %q, want %q, %q", c.why, a, b, c.wantA, c.wantB)
		}
		if columns(a) > c.n || columns(b) > c.n {
			t.Errorf("%s: wider than %d: %q, %q", c.why, c.n, a, b)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"one two three", 7, "one two|three"},
		{"one two three", 6, "one|two|three"},
		{"a averylongword b", 6, "a|avery…|b"},
		{"日本 語です", 4, "日本|語…"},
		{"", 4, ""},
	} {
		if got := strings.Join(wrap(c.in, c.n), "|"); got != c.want {
			t.Errorf("wrap(%q, %d): got %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

// TestAbbreviate checks that ids are as short as possible while distinct, and never shorter than
// git's.
func TestAbbreviate(t *testing.T) {
	id := func(s string) schemas.EventID {
		x, err := schemas.ParseEventID(s)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	ids := map[schemas.EventID]string{
		id("01234567-89ab-8def-8123-456789abcdef"): "0123456",
		id("11111111-1111-8111-8111-111111111111"): "11111111-1111-8111-8111-111111111111",
		id("11111111-1111-8111-8111-111111111112"): "11111111-1111-8111-8111-111111111112",
		id("22222222-0111-8111-8111-111111111111"): "22222222-0",
		id("22222222-1111-8111-8111-111111111111"): "22222222-1",
		id("33333330-1111-8111-8111-111111111111"): "33333330",
		id("33333331-1111-8111-8111-111111111111"): "33333331",
		id("44444440-1111-7111-8111-111111111111"): "44444440-1111",
	}
	var all []schemas.EventID
	for i := range ids {
		all = append(all, i, i)
	}
	got := abbreviate(all)
	for i, want := range ids {
		if got[i] != want {
			t.Errorf("%s: got %s, want %s", i, got[i], want)
		}
	}
}
