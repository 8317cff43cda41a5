package evidence

import (
	"strings"
	"testing"
)

func TestFold(t *testing.T) {
	for _, text := range []string{
		"", " ", "a", "a b", " a", "a ", "a  b", "a\tb", "\n\na b\r\n", "a b\v", "né 世", "a\u00a0b", "a\u2003\u2003b", "\xe4\xb8 a", "a\x00b", "\u00a0",
	} {
		if got, want := fold(text), strings.Join(strings.Fields(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
