package access_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/server/access"
)

// TestRemove removes an entry with its comment and nothing else.
func TestRemove(t *testing.T) {
	entry := func(agent string) string {
		return "  - sha256: " + access.Hash(agent) + "\n    agent: " + agent + "\n"
	}
	a, b, c := entry("a"), entry("b"), entry("c")
	for name, x := range map[string]struct {
		text, of, want string // want "": refused
	}{
		"the first":               {"tokens:\n" + a + b, "a", "tokens:\n" + b},
		"between":                 {"tokens:\n" + a + b + c, "b", "tokens:\n" + a + c},
		"the last":                {"tokens:\n" + a + b, "b", "tokens:\n" + a},
		"the only one":            {"tokens:\n" + a, "a", "tokens:\n"},
		"without a newline":       {"tokens:\n" + a + strings.TrimSuffix(b, "\n"), "b", "tokens:\n" + a},
		"comments":                {"# all\ntokens:\n  # of a\n" + a + "\n  # of b\n" + b, "a", "# all\ntokens:\n  # of b\n" + b},
		"a comment of the next":   {"tokens:\n" + a + "  # of b,\n  # who asks\n" + b, "a", "tokens:\n  # of b,\n  # who asks\n" + b},
		"beside a mistake":        {"tokens:\n" + a + "  - sha256: x\n" + b, "b", "tokens:\n" + a + "  - sha256: x\n"},
		"a dash of its own":       {"tokens:\n  -\n    sha256: " + access.Hash("a") + "\n    agent: a\n" + b, "a", ""},
		"a list in one line":      {"tokens: [{sha256: " + access.Hash("a") + ", agent: a}, {sha256: " + access.Hash("b") + "}]\n", "a", ""},
		"what another refers to":  {"tokens:\n" + strings.Replace(a, "agent: a", "agent: &x a", 1) + strings.Replace(b, "agent: b", "agent: *x", 1), "a", ""},
		"not a list of one level": {"tokens:\n- sha256: " + access.Hash("a") + "\n  agent: a\n" + "- sha256: " + access.Hash("b") + "\n", "a", "tokens:\n- sha256: " + access.Hash("b") + "\n"},
	} {
		before, err := access.Parse([]byte(x.text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, e := range before.Entries {
			if e.Agent != x.of || e.SHA256 != access.Hash(x.of) {
				continue
			}
			got, err := access.Remove([]byte(x.text), e.Line)
			if (err == nil) != (x.want != "") {
				t.Errorf("%s: %v", name, err)
			} else if diff := cmp.Diff(string(got), x.want); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
	if _, err := access.Remove([]byte("tokens:\n"+a), 7); err == nil || !strings.Contains(err.Error(), "line 7") {
		t.Errorf("where no entry is: %v", err)
	}
}
