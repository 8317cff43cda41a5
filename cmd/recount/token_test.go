package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/server/access"
)

func TestParseExpiry(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 5, time.UTC)
	for s, want := range map[string]string{
		"never": "0001-01-01T00:00:00Z", "12h": "2026-11-22T00:00:00Z", "90d": "2027-02-19T12:00:00Z",
		"2027-06-30": "2027-06-30T00:00:00Z", "2026-11-21T12:00:01Z": "2026-11-21T12:00:01Z",
	} {
		if got, err := parseExpiry(now, s); err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s: %s %v, want %s", s, got.Format(time.RFC3339), err, want)
		}
	}
	for _, s := range []string{"", "soon", "2026-11-21", "0d", "-1d"} {
		if got, err := parseExpiry(now, s); err == nil {
			t.Errorf("%q: %s, want an error", s, got)
		}
	}
}

func TestAddToken(t *testing.T) {
	entry := func(token string) string {
		s, err := access.Format(access.Entry{SHA256: access.Hash(token), Agent: token})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	path := filepath.Join(t.TempDir(), "tokens.yaml")
	for name, c := range map[string]struct {
		before string
		want   int // 0: refused, and the file stays
	}{
		"no file":              {"", 1},
		"an empty list":        {"# ours\ntokens: []\n", 1},
		"a comment":            {"# ours\n", 1},
		"no newline at end":    {strings.TrimRight("tokens:\n"+entry("a"), "\n"), 2},
		"several":              {"tokens:\n" + entry("a") + entry("b"), 3},
		"the same":             {"tokens:\n" + entry("new"), 0},
		"indented otherwise":   {"tokens:\n- sha256: " + access.Hash("a") + "\n", 0},
		"a list in one line":   {"tokens: [{sha256: " + access.Hash("a") + "}]\n", 0},
		"not a file of tokens": {"data_dir: x\n", 0},
	} {
		_ = os.Remove(path)
		if c.before != "" {
			if err := os.WriteFile(path, []byte(c.before), 0o640); err != nil {
				t.Fatal(err)
			}
		}
		err := addToken(path, entry("new"))
		b, _ := os.ReadFile(path)
		if c.want == 0 {
			if err == nil || string(b) != c.before {
				t.Errorf("%s: %v, and the file is\n%s", name, err, b)
			}
			continue
		}
		entries, perr := access.ParseAll(b)
		if err != nil || perr != nil || len(entries) != c.want || entries[c.want-1].Agent != "new" || strings.Contains(c.before, "# ours") && !strings.Contains(string(b), "# ours") {
			t.Errorf("%s: %v %v, and the file is\n%s", name, err, perr, b)
		}
	}
}
