package access_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/access"
)

// tokensFile writes a tokens file of entries.
func tokensFile(t *testing.T, entries ...access.Entry) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens.yaml")
	rewrite(t, path, entries...)
	return path
}

func rewrite(t *testing.T, path string, entries ...access.Entry) {
	t.Helper()
	text := "tokens:\n"
	for _, e := range entries {
		s, err := access.Format(e)
		if err != nil {
			t.Fatal(err)
		}
		text += s
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, path string) *access.Gate {
	t.Helper()
	f, err := access.OpenFile(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return access.NewGate("s3cret", f)
}

func TestAdmit(t *testing.T) {
	claude, old := access.NewToken(), access.NewToken()
	g := open(t, tokensFile(t,
		access.Entry{SHA256: access.Hash(claude), Tenant: "acme", Workspaces: []string{"/src/app"}, Sessions: []string{"*"}, Agent: "claude", Expires: time.Now().Add(time.Hour)},
		access.Entry{SHA256: strings.ToUpper(access.Hash(old)), Agent: "old", Expires: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
	))
	for name, c := range map[string]struct {
		header []string
		want   schemas.Principal
		status int
		why    string
	}{
		"the operator":          {[]string{"Bearer s3cret"}, schemas.Principal{Operator: true}, 0, ""},
		"a token of the file":   {[]string{"Bearer " + claude}, schemas.Principal{Tenant: "acme", Workspaces: []string{"/src/app"}, Sessions: []string{"*"}, Agent: "claude"}, 0, ""},
		"none":                  {nil, schemas.Principal{}, 401, "want Authorization"},
		"another scheme":        {[]string{"Basic " + claude}, schemas.Principal{}, 401, "want Authorization"},
		"two":                   {[]string{"Bearer s3cret", "Bearer s3cret"}, schemas.Principal{}, 401, "want Authorization"},
		"empty":                 {[]string{"Bearer "}, schemas.Principal{}, 401, "unknown"},
		"unknown":               {[]string{"Bearer " + access.NewToken()}, schemas.Principal{}, 401, "unknown"},
		"a hash in its place":   {[]string{"Bearer " + access.Hash(claude)}, schemas.Principal{}, 401, "unknown"},
		"expired":               {[]string{"Bearer " + old}, schemas.Principal{}, 401, "expired at 2026-01-02T03:04:05Z"},
		"nearly an expired one": {[]string{"Bearer " + old + "x"}, schemas.Principal{}, 401, "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			got, no := g.Admit(c.header...)
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Error(diff)
			}
			if (no == nil) != (c.status == 0) || no != nil && (no.Status != c.status || !strings.Contains(no.Why, c.why)) {
				t.Errorf("refused by %+v, want %d with %q", no, c.status, c.why)
			}
		})
	}
	if p, no := access.NewGate("", nil).Admit(); !p.Operator || no != nil {
		t.Errorf("where no token is asked for: %+v %v", p, no)
	}
}

func TestEnter(t *testing.T) {
	token := access.NewToken()
	g := open(t, tokensFile(t, access.Entry{SHA256: access.Hash(token), Agent: "claude"}))
	for _, c := range []struct {
		pattern, header string
		status          int
	}{
		{"GET /healthz", "", 0},
		{"GET /docs", "", 401},
		{"GET /docs", "Bearer " + token, 0},
		{"POST /v1/query", "Bearer " + token, 0},
		{"POST /v1/find", "Bearer " + token, 403},
		{"POST /v1/code/callers", "Bearer " + token, 403},
		{"POST /v1/code/callers", "Bearer s3cret", 0},
		{"POST /v1/code", "Bearer " + token, 403},
		{"POST /v1/nobody-listed-it", "Bearer " + token, 403},
		{access.Spans, "Bearer " + token, 403},
		{access.Spans, "Bearer s3cret", 0},
	} {
		_, no := g.Enter(c.pattern, c.header)
		if (no == nil) != (c.status == 0) || no != nil && no.Status != c.status {
			t.Errorf("%s with %.10q: %+v, want %d", c.pattern, c.header, no, c.status)
		}
	}
}

// TestFileIsReadAgain: a token ends and another begins while the gate is open; a file that
// cannot be read changes nothing.
func TestFileIsReadAgain(t *testing.T) {
	one, two := access.NewToken(), access.NewToken()
	path := tokensFile(t, access.Entry{SHA256: access.Hash(one), Agent: "one"})
	synctest.Test(t, func(t *testing.T) {
		g := open(t, path)
		expect := func(when string, want ...string) {
			t.Helper()
			var got []string
			for _, token := range []string{one, two} {
				if p, no := g.Admit("Bearer " + token); no == nil {
					got = append(got, p.Agent)
				}
			}
			if diff := cmp.Diff(got, want); diff != "" {
				t.Errorf("%s: %s", when, diff)
			}
		}
		expect("at first", "one")
		rewrite(t, path, access.Entry{SHA256: access.Hash(one), Agent: "one"}, access.Entry{SHA256: access.Hash(two), Agent: "two"})
		expect("within the second", "one")
		time.Sleep(time.Second)
		expect("after it", "one", "two")
		if err := os.WriteFile(path, []byte("tokens: [{sha256: x}]"), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		expect("a file with a mistake", "one", "two")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		expect("no file", "one", "two")
		rewrite(t, path, access.Entry{SHA256: access.Hash(two), Agent: "two"})
		time.Sleep(time.Second)
		expect("mended", "two")
	})
}

func TestParseRefuses(t *testing.T) {
	hash := access.Hash("x")
	for name, c := range map[string]struct{ text, want string }{
		"a field nobody knows":  {"tokens:\n  - sha256: " + hash + "\n    workspace: a\n", "workspace"},
		"no hash":               {"tokens:\n  - tenant: a\n", "tokens[0]: sha256"},
		"a token for a hash":    {"tokens:\n  - sha256: rct_abc\n", "64 hex digits"},
		"the same twice":        {fmt.Sprintf("tokens:\n  - sha256: %s\n  - sha256: %s\n", hash, strings.ToUpper(hash)), "tokens[1]: the token of tokens[0]"},
		"a workspace of no one": {"tokens:\n  - sha256: " + hash + "\n    workspaces: ['']\n", "workspaces"},
		"a long name":           {"tokens:\n  - sha256: " + hash + "\n    agent: " + strings.Repeat("a", 257) + "\n", "agent: 257 bytes"},
		"a date that is none":   {"tokens:\n  - sha256: " + hash + "\n    expires: soon\n", "soon"},
		"two documents":         {"tokens: []\n---\ntokens: []\n", "more than one document"},
		"no YAML":               {"tokens: [", "yaml"},
	} {
		if _, err := access.Parse([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if entries, err := access.Parse(nil); err != nil || len(entries) != 0 {
		t.Errorf("an empty file: %v %v", entries, err)
	}
}
