package render

import (
	"strings"
	"testing"
)

func TestColumns(t *testing.T) {
	for text, want := range map[string]int{
		"make": 4, "": 0, "日本語": 6, "ｱ": 1, "Ａ": 2, "e\u0301": 1, "한국": 4, "\u1112\u1161\u11ab": 2,
		"👍": 2, "👍🏽": 2, "👩‍👩‍👧‍👦": 2, "🇩🇪": 2, "🇩🇪🇫🇷": 4, "❤️": 2, "✓": 1, "✗": 1, "│ ├─": 4, "นี้": 1, "a\u200bb": 2,
	} {
		if got := Columns(text); got != want {
			t.Errorf("%q takes %d columns, want %d", text, got, want)
		}
	}
}

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
		{"👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 5, "👩‍👩‍👧‍👦👩‍👩‍👧‍👦…", "…👩‍👩‍👧‍👦👩‍👩‍👧‍👦"},
		{"🇩🇪🇫🇷🇮🇹", 4, "🇩🇪…", "…🇮🇹"},
	} {
		if got := Cut(c.in, c.n); got != c.end || Columns(got) > c.n {
			t.Errorf("cut(%q, %d): got %q, want %q", c.in, c.n, got, c.end)
		}
		if got := CutStart(c.in, c.n); got != c.start || Columns(got) > c.n {
			t.Errorf("cutStart(%q, %d): got %q, want %q", c.in, c.n, got, c.start)
		}
	}
	if got := OneLine(" for x in a\n\tdo\x1b[2J\r\n"); got != `for x in a⏎ do\x1b[2J` {
		t.Errorf("oneLine: got %q", got)
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
		{"joined ones", "👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", "👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👦", 12, "…👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", "…👩‍👩‍👧👩‍👩‍👧👩‍👩‍👦"},
		{"an accent differs", "/workspace/projecte\u0301", "/workspace/projecte\u0300", 12, "…jecte\u0301", "…jecte\u0300"},
		{"wide ones", "日本語日本語日本語a", "日本語日本語日本語b", 12, "…本語a", "…本語b"},
	} {
		a, b := CutApart(c.a, c.b, c.n)
		if a != c.wantA || b != c.wantB {
			t.Errorf("%s: got %q, %q, want %q, %q", c.why, a, b, c.wantA, c.wantB)
		}
		if Columns(a) > c.n || Columns(b) > c.n {
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
		if got := strings.Join(Wrap(c.in, c.n), "|"); got != c.want {
			t.Errorf("wrap(%q, %d): got %q, want %q", c.in, c.n, got, c.want)
		}
	}
}
