package commands

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSignature(t *testing.T) {
	for name, tc := range map[string]struct{ a, b, want string }{
		"go build":        {"# app\n./main.go:12:5: undefined: parse", "# app\n./cmd/x.go:7:31: undefined: readAll", "<path>: undefined: <arg>"},
		"go test":         {"--- FAIL: TestA (0.01s)\n    a_test.go:5: got 3\nFAIL\nFAIL\tapp\t0.012s\nFAIL", "--- FAIL: TestA (1.2s)\n    a_test.go:5: got 4\nFAIL\nFAIL\tapp\t1.512s\nFAIL", "--- FAIL: TestA (<num>)"},
		"make passes on":  {"cc: error: foo.c: No such file or directory\nmake: *** [Makefile:3: foo] Error 1", "cc: error: src/bar.c: No such file or directory\nmake[2]: *** [Makefile:9: bar] Error 1", "cc: error: <path>: No such file or directory"},
		"python":          {"Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\nNameError: name 'x' is not defined", "Traceback (most recent call last):\n  File \"/srv/b.py\", line 14, in main\nNameError: name 'total' is not defined", "NameError: name <str> is not defined"},
		"a shell's":       {"bash: ./run.sh: Permission denied", "bash: /opt/app/start: Permission denied", "bash: <path>: Permission denied"},
		"colours":         {"\x1b[31merror\x1b[0m: expected `;` at 3", "error: expected `}` at 14", "error: expected <str> at <num>"},
		"network":         {"curl: (7) Failed to connect to 10.0.0.1 port 443 after 3 ms", "curl: (7) Failed to connect to 192.168.1.20 port 8080 after 21 ms", "curl: (<num>) Failed to connect to <host> port <num> after <num> ms"},
		"url, hash":       {"fatal: unable to access 'https://a.example/x.git/': no defaced deadbeef0123", "fatal: unable to access 'ssh://git@b.example/y': no defaced 4d9c01eb55aa", "fatal: unable to access <str>: no defaced <hash>"},
		"no complaint":    {"step one\nstep 2 of 3\n\n", "step one\nstep 1 of 7", "step <num> of <num>"},
		"only the echo":   {"make: *** [Makefile:3: test] Error 1", "make: *** [Makefile:30: lint] Error 2", "make: *** [Makefile:<num>: test] Error <num>"},
		"nothing":         {"", "", ""},
		"nothing to read": {"\n \r\n", "\x1b[0m\n", ""},
	} {
		if got := signature(tc.a); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
		if got := signature(tc.b); got != tc.want && name != "only the echo" {
			t.Errorf("%s, the other: got %q, want %q", name, got, tc.want)
		}
	}
}

// What differs in more than values differs.
func TestSignaturesDiffer(t *testing.T) {
	seen := map[string]string{}
	for _, tail := range []string{
		"error: permission denied", "error: no such file", "error: timeout", "main.go:3: undefined: x", "main.go:3: missing return", "--- FAIL: TestA (0.1s)", "--- FAIL: TestB (0.1s)",
	} {
		s := signature(tail)
		if other, ok := seen[s]; ok {
			t.Errorf("%q and %q have the same signature, %q", tail, other, s)
		}
		seen[s] = tail
	}
}

func FuzzSignature(f *testing.F) {
	f.Add("error: x\n")
	f.Add("\x1b[31m'/a/b'\x1b[0m \xff\xfe error")
	f.Add(strings.Repeat("é", 1000) + " failed")
	f.Add("failed " + strings.Repeat("é", 3000) + "x")
	f.Fuzz(func(t *testing.T, tail string) {
		s := signature(tail)
		if len(s) > maxSignature || strings.ContainsAny(s, "\n\r") || utf8.ValidString(tail) && !utf8.ValidString(s) {
			t.Errorf("signature of %q: %q", tail, s)
		}
		if again := signature(tail); again != s {
			t.Errorf("signature of %q: %q, then %q", tail, s, again)
		}
	})
}
