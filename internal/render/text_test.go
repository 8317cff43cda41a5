package render

import (
	"testing"
)

func TestPlainText(t *testing.T) {
	if got := PlainText("a\x1b[31mb\r\x00\n\tc\u202eü\u200f"); got != "a\\x1b[31mb\\r\\x00\n\tc\\u202eü\u200f" {
		t.Errorf("got %q", got)
	}
}

// TestRawBytes checks that bytes that are not UTF-8 do not reach a terminal, which may read them as
// controls: neither in a text nor in a path of the user's.
func TestRawBytes(t *testing.T) {
	if got, want := PlainText("caf\xe9\x9b31m.py"), "caf\ufffd\ufffd31m.py"; got != want {
		t.Errorf("a text: %q, want %q", got, want)
	}
	if got, want := (&Terminal{HomeDir: "/home/ada"}).Home("/home/ada/caf\xe9\x1b[31m"), `~/caf`+"\ufffd"+`\x1b[31m`; got != want {
		t.Errorf("a path: %q, want %q", got, want)
	}
}

// TestOneLineKeepsDirection checks that characters that change the direction of writing are
// escaped, because they would disguise a command.
func TestOneLineKeepsDirection(t *testing.T) {
	if got, want := OneLine("rm a \u202etxt.b\u2066 א"), `rm a \u202etxt.b\u2066 א`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
