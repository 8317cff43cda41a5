package tokenfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recountdb/recount/server/access"
)

func TestAdd(t *testing.T) {
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
		err := Add(path, entry("new"))
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
