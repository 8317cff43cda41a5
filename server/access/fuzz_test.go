package access_test

import (
	"strings"
	"testing"

	"github.com/recountdb/recount/server/access"
)

// FuzzParse checks that any tokens file is parsed or refused with a line, and that a parsed file
// grants no more than a valid entry may.
func FuzzParse(f *testing.F) {
	hash := access.Hash("x")
	for _, s := range []string{
		"", "{}", "tokens:", "tokens: []", "- 1", "tokens: {a: b}", "tokens:\n  - {}\n", "? [a]\n: b\n", "tokens: &a [*a]",
		"tokens:\n  - sha256: " + hash + "\n    workspaces: ['*']\n    grants: [commands, code, runtime]\n    expires: 2027-01-01\n",
		"tokens:\n  - &e {sha256: " + hash + "}\n  - *e\n", "tokens:\n  - <<: {sha256: " + hash + "}\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		read, err := access.Parse(b)
		if err != nil && len(read.Entries) > 0 {
			t.Errorf("%d entries of a file that is refused: %v", len(read.Entries), err)
		}
		for _, e := range read.Entries {
			if len(e.SHA256) != 64 || e.Tenant != "" && len(e.Grants) > 0 {
				t.Errorf("in force: %+v", e)
			}
		}
		for _, m := range read.Mistakes {
			if strings.TrimSpace(m.Error()) == "" {
				t.Error("a mistake that says nothing")
			}
		}
	})
}
