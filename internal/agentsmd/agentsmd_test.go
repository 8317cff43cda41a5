package agentsmd

import (
	"strings"
	"testing"
)

// TestPut checks that the text stands once between the markers, that the rest is kept, and that
// putting it again changes nothing.
func TestPut(t *testing.T) {
	for name, before := range map[string]string{
		"no file": "", "a file": "# Agents\n\nBe kind.\n", "no newline at the end": "# Agents", "dos": "# Agents\r\n\r\nBe kind.\r\n",
		"in the middle": "# A\n\n" + Begin + "\nold\n" + End + "\n\n# B\n",
	} {
		once, err := Put([]byte(before), "new\n> quoted "+End)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s := string(once)
		if strings.Count(s, Begin) != 1 || strings.Count(s, End) != 1 || !strings.Contains(s, "new") || strings.Contains(s, "old") {
			t.Errorf("%s: got\n%s", name, s)
		}
		for _, kept := range []string{"# A", "# B", "Be kind."} {
			if strings.Contains(before, kept) && !strings.Contains(s, kept) {
				t.Errorf("%s: %q is gone:\n%s", name, kept, s)
			}
		}
		if before != "" && !strings.HasPrefix(s, before[:3]) {
			t.Errorf("%s: the beginning is gone:\n%s", name, s)
		}
		twice, err := Put(once, "new\n> quoted "+End)
		if err != nil || string(twice) != s {
			t.Errorf("%s: a second time: %v\n%s", name, err, twice)
		}
		if other, err := Put(once, "newer"); err != nil || strings.Contains(string(other), "quoted") {
			t.Errorf("%s: another text: %v\n%s", name, err, other)
		}
	}
}

func TestBrokenMarkers(t *testing.T) {
	for _, bad := range []string{Begin, End, End + "\n" + Begin, Begin + Begin + End, Begin + End + Begin + End} {
		if out, err := Put([]byte(bad), "x"); err == nil || out != nil {
			t.Errorf("%q: got %q", bad, out)
		}
	}
}
