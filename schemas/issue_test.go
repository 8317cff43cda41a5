package schemas_test

import (
	"strings"
	"testing"

	"github.com/recountdb/recount/schemas"
)

func TestIssuesNamed(t *testing.T) {
	for _, c := range []struct{ message, repository, want string }{
		{"cart: add a limit (#12)", "acme/shop", "acme/shop#12"},
		{"Fixes #12, #13 and acme/web#7.\n\nCloses: #12", "acme/shop", "acme/shop#12 acme/shop#13 acme/web#7"},
		{"See https://github.com/acme/web/issues/9#issuecomment-1 and (https://gitlab.com/acme/api/-/merge_requests/4).", "", "acme/web#9 acme/api#4"},
		{"GH-3: issue 44, Issue 45.", "acme/shop", "acme/shop#3 acme/shop#44 acme/shop#45"},
		{"fixes #12", "", ""},
		{"colour #fff #012 #12345678, a/b/c#1, -x/y#1, item 3, https://github.com/acme/web/tree/9", "acme/shop", ""},
		{"größer #12 日本語#13", "acme/shop", "acme/shop#12"},
	} {
		if got := strings.Join(schemas.IssuesNamed(c.message, c.repository), " "); got != c.want {
			t.Errorf("%q in %q: got %q, want %q", c.message, c.repository, got, c.want)
		}
	}
	if n := len(schemas.IssuesNamed(strings.Repeat("#1 #2 #3 ", 100)+"#4", "a/b")); n != 4 {
		t.Errorf("%d issues, each is one however often it is named", n)
	}
}
