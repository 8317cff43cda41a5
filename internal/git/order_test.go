package git

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOrder(t *testing.T) {
	for _, c := range []struct{ name, walk, want string }{
		{"nothing", "", ""},
		{"a line of commits stays", "a|b a|c b", "a b c"},
		{"a short side stands behind where it began", "a|b a|c b|d c|x a|m d x", "a x b c d m"},
		{"a long side stands before its merge", "a|x a|y x|z y|b a|m b z", "a b x y z m"},
		{"of equals the first parent's comes first", "a|x a|b a|m b x", "a b x m"},
		{"sides of sides", "a|b a|c b|x a|y x|p x|q p|r q|s r|z y s|m c z", "a b c x y p q r s z m"},
		{"a merge of three", "a|x a|y a|z y|b a|c b|d c|m d x z", "a x y z b c d m"},
		{"what is not on the walk counts for nothing", "b a|x q|m b x", "b x m"},
		{"two tips", "a|b a|c a|d c", "a b c d"},
		{"two histories", "a|b a|p|q p|m b q", "a b p q m"},
	} {
		var lines []string
		if c.walk != "" {
			lines = strings.Split(c.walk, "|")
		}
		var got []string
		for _, line := range order(lines) {
			got = append(got, firstField(line))
		}
		if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
