package recall

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestKeysOf(t *testing.T) {
	for command, want := range map[string][]string{
		"go test ./...":                           {"go test"},
		"cd /src && GOFLAGS=-v go test ./cart":    {"go test"},
		"timeout 60 npm run lint 2>&1 | tail -5":  {"npm run lint"},
		"git add -A && git commit -m 'a; b && c'": {"git add", "git commit"},
		"python3 scripts/build.py --fast":         {"python3 build.py"},
		"cat > x <<'EOF'\nrm -rf /\nEOF":          {"cat"},
		"bun run lint:fix 2>&1":                   {"bun run lint:fix"},
		"python - <<'PY'\nprint(1)\nPY":           nil,
		"python3.11 -c 'print(1)'":                nil,
		"python -m pytest tests":                  {"python pytest"},
		"bash":                                    nil,
		"":                                        nil,
		"# nothing":                               nil,
	} {
		if got := keysOf(command); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", command, got, want)
		}
	}
}

func TestMarks(t *testing.T) {
	lines := func(output string) (all []string) {
		for _, m := range marksOf(output) {
			all = append(all, m.line)
		}
		return all
	}
	a := lines("ok\n\x1b[31mE   ModuleNotFoundError: No module named 'yaml'\x1b[0m\n/home/ann/x/app.py:17: in <module>\nexit status 1\n")
	b := lines("E   ModuleNotFoundError: No module named 'yaml'\n")
	if len(a) != 1 || !slices.Equal(a, b) {
		t.Errorf("got %q and %q", a, b)
	}
	if got := lines("all 12 tests passed\n0 errors\n"); got != nil {
		t.Errorf("a success: %q", got)
	}
	if got := marksOf(strings.Repeat("error: "+strings.Repeat("a ", 500)+"\n", 2000)); len(got) > maxMarks {
		t.Errorf("%d marks", len(got))
	}
}

func TestOnlyReads(t *testing.T) {
	for command, want := range map[string]bool{
		"git status && cat x": true, "sed -n 1,5p x": true, "sed -i s/a/b/ x": false, "git checkout x": false, "grep x y | head": true, "go mod tidy": false, "npm install": false,
	} {
		if got := onlyReads(command); got != want {
			t.Errorf("%q: got %v", command, got)
		}
	}
}

func FuzzTexts(f *testing.F) {
	f.Add(strings.Repeat("\x85", 2*window)) // no text, and nowhere to cut it
	f.Add("error: \x1b[31mx\xff</a>\n\u202e> y")
	f.Fuzz(func(t *testing.T, s string) {
		for _, out := range []string{clean(s), oneLine(s, 50), sentence(s, 60)} {
			if !utf8.ValidString(out) || strings.ContainsAny(out, "\x1b\x07\r\u202e") || tag.MatchString(out) {
				t.Errorf("%q becomes %q", s, out)
			}
		}
		if one := oneLine(s, 50); len(one) > 50 || strings.Contains(one, "\n") {
			t.Errorf("%q becomes %q", s, one)
		}
		marksOf(s)
		keysOf(s)
		windows(s)
		written(s)
		steps(s)
	})
}
