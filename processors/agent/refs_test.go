package agent

import (
	"strings"
	"testing"
)

func TestReferences(t *testing.T) {
	const (
		sha   = "9fceb02d0ae598e95dc970b74767f19372d61af8"
		trace = "5b8efff798038103d269b633813fc60c"
	)
	for _, c := range []struct{ text, want string }{
		// commits
		{"It broke in commit 9fceb02.", "commit:9fceb02"},
		{"commit: `9FCEB02`", "commit:9fceb02"},
		{"reverted (9fceb02)", "commit:9fceb02"},
		{"see " + sha, "commit:" + sha},
		{"the hash is 9fceb02", ""},
		{"commit 1234567 rows at once", ""},
		{"we commit the facade", ""},
		{"commit the change, then run a1b2c3d4", ""},
		{"md5 " + trace, ""},
		{strings.Repeat("0", 40), ""},
		// traces
		{"trace " + trace + " failed", "trace:" + trace},
		{"trace_id=" + strings.ToUpper(trace), "trace:" + trace},
		{"traceparent 00-" + trace + "-eee19b7ec3c1b174-01", "trace:" + trace},
		{"trace " + strings.Repeat("0", 32), ""},
		// issues
		{"fixes acme/shop#12, I think", "issue:acme/shop#12"},
		{"fixes #12", "issue:acme/web#12"},
		{"pull request #7", "issue:acme/web#7"},
		{"issue 7, Issues 12: PR 8 and pull request 9.", "issue:acme/web#7 issue:acme/web#12 issue:acme/web#8 issue:acme/web#9"},
		{"in 12 issues, a request 5, issue 0012, bug 3 of 4", ""},
		{"my #1 priority", ""},
		{"fixes #012 and #12a and #", ""},
		{"colour #123456 #fff", ""},
		// files and paths
		{"Open src/libponyc/ast/parser.c:695 now", "file:src/libponyc/ast/parser.c"},
		{"in ./a/../src/cart.go,", "file:src/cart.go"},
		{"/home/ann/x.unknown", "file:/home/ann/x.unknown"},
		{"missing_colon.py was edited", "file:missing_colon.py"},
		{"修改src/cart.go文件。", "file:src/cart.go"},
		{"🛒src/cart.go🛒", "file:src/cart.go"},
		{"diff --git a/src/a.c b/src/a.c\n--- a/src/a.c\n+++ b/src/a.c", "file:src/a.c"},
		{`{"path":"src/cart.go"}`, "file:src/cart.go"},
		{"e.g. this, i.e. that, and/or 1.5/2.0 km/h. v1.2.3", ""},
		{"Node.js and Vue.js run on example.com and github.com/acme/shop.git", ""},
		{"response.json() and os.path and self.c", ""},
		{"*.go and $HOME/x.go and what?.py", ""},
		{"2.5.1 3.14 10.0.0.1 127.0.0.1:9092", ""},
		{"U.S. a.m. Dr. No.", ""},
		// URLs
		{"at https://shop.example/a?b=c).", "url:https://shop.example/a?b=c"},
		{"(https://en.wikipedia.org/wiki/A_(b))", "url:https://en.wikipedia.org/wiki/A_(b)"},
		{"https://github.com/acme/shop/pull/12/files", "issue:acme/shop#12 url:https://github.com/acme/shop/pull/12/files"},
		{"https://gitlab.com/acme/shop/-/commit/9fceb02", "commit:9fceb02 url:https://gitlab.com/acme/shop/-/commit/9fceb02"},
		{"https:// http:///x https://…", ""},
		// symbols
		{"`shop.Cart.Add` calls `parse()` of `a::b`", "symbol:shop.Cart.Add symbol:parse symbol:a::b"},
		{"`cart.go` has it", "file:cart.go"},
		{"`not code` `1.5` `x` `a..b` `.a` `word`", ""},
		{"an `open backtick and `shop.Cart", ""},
	} {
		var got []string
		r := reader{repository: "acme/web", found: func(ref reference) bool {
			for _, have := range got {
				if have == ref.entity {
					return true
				}
			}
			if ref.rule == "" || ref.confidence <= 0 || ref.confidence >= 1 {
				t.Errorf("%q: %+v", c.text, ref)
			}
			got = append(got, ref.entity)
			return true
		}}
		r.text(c.text)
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%q: got %q, want %q", c.text, s, c.want)
		}
	}
}

func TestIssueNumbersNeedARepository(t *testing.T) {
	for _, c := range []struct{ workspace, attribute, want string }{
		{"/src/shop", "", ""},
		{"acme/shop", "", "issue:acme/shop#12"},
		{"github.com/acme/shop", "", "issue:acme/shop#12"},
		{"git.example.org/acme/shop", "", "issue:acme/shop#12"},
		{"/home/ann/src/github.com/acme/shop/cmd", "", "issue:acme/shop#12"},
		{"/src/shop", "gitlab.com/acme/shop.git", "issue:acme/shop#12"},
		{"acme/shop", "acme/web", "issue:acme/web#12"},
	} {
		_, edges := made(t, "user_message", `{"workspace":"`+c.workspace+`","attributes":{"repository":"`+c.attribute+`"},"text":"See issue #12."}`)
		got := ""
		if len(edges) > 0 {
			got = edges[0].Entity
		}
		if got != c.want {
			t.Errorf("%+v: got %q", c, got)
		}
	}
}

// TestReferencesAreBounded checks that the first 64 things mentioned have edges, however often each
// is mentioned.
func TestReferencesAreBounded(t *testing.T) {
	var s strings.Builder
	for i := range 500 {
		s.WriteString("src/f")
		s.WriteByte(byte('a' + i%26))
		s.WriteByte(byte('a' + i/26))
		s.WriteString(".go src/faa.go ")
	}
	_, edges := made(t, "user_message", `{"text":"`+s.String()+`"}`)
	if len(edges) != maxTextEdges || edges[0].Entity != "file:src/faa.go" {
		t.Errorf("%d edges, first %v", len(edges), edges[0])
	}
}
