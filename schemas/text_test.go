package schemas_test

import (
	"strings"
	"testing"

	"github.com/recountdb/recount/schemas"
)

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain":           "plain",
		" ada \n":         "ada",
		"a\nb\tc":         "a⏎b c",
		"a\r\nb":          `a\r⏎b`,
		"a\vb\fc\u0085d":  `a\vb\fc\u0085d`,
		"a\u2028b\u2029c": `a\u2028b\u2029c`,
		"\x1b[2J":         `\x1b[2J`,
		"\u202eabc\u2066": `\u202eabc\u2066`,
		"é 世界 👩‍🔬":        "é 世界 👩‍🔬",
	} {
		if got := schemas.OneLine(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestWhatShowsNothingIsEscaped has tags, a space without width and a change of direction, and a joiner that stays.
func TestWhatShowsNothingIsEscaped(t *testing.T) {
	if got, want := schemas.PlainText("a\U000e0041\u200b\u202eb\u200dc\x1b[31m"), `a\U000e0041\u200b\u202eb`+"\u200dc"+`\x1b[31m`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestQuoted(t *testing.T) {
	for _, br := range []string{"\n", "\r", "\r\n", "\v", "\f", "\u0085", "\u2028", "\u2029"} {
		got := schemas.Quoted("a"+br+"[2] b"+br, "> ")
		if got != "> a\n> [2] b\n> " || strings.Count(got, "\n") != 2 {
			t.Errorf("%q: %q", br, got)
		}
	}
}
