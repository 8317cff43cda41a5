package render

import (
	"testing"
)

func TestPlainText(t *testing.T) {
	if got := PlainText("a\x1b[31mb\r\x00\n\tc\u202eü\u200f"); got != "a\\x1b[31mb\\r\\x00\n\tc\\u202eü\u200f" {
		t.Errorf("got %q", got)
	}
}

// TestOneLineKeepsDirection checks that characters that change the direction of writing are
// escaped, because they would disguise a command.
func TestOneLineKeepsDirection(t *testing.T) {
	if got, want := OneLine("rm a \u202etxt.b\u2066 א"), `rm a \u202etxt.b\u2066 א`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
