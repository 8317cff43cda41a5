package access_test

import (
	"errors"
	"fmt"
	"log/slog"
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

// tokensFile writes a tokens file with entries.
func tokensFile(t *testing.T, entries ...access.Entry) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens.yaml")
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
	return path
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
		"in small letters":      {[]string{"bearer s3cret"}, schemas.Principal{Operator: true}, 0, ""},
		"a token of the file":   {[]string{"Bearer " + claude}, schemas.Principal{Tenant: "acme", Workspaces: []string{"/src/app"}, Sessions: []string{"*"}, Agent: "claude"}, 0, ""},
		"none":                  {nil, schemas.Principal{}, 401, "want Authorization: Bearer TOKEN, which recount's verbs take from RECOUNT_TOKEN"},
		"another scheme":        {[]string{"Basic " + claude}, schemas.Principal{}, 401, "want Authorization"},
		"two":                   {[]string{"Bearer s3cret", "Bearer s3cret"}, schemas.Principal{}, 401, "want Authorization"},
		"empty":                 {[]string{"Bearer "}, schemas.Principal{}, 401, "unknown"},
		"unknown":               {[]string{"Bearer " + access.NewToken()}, schemas.Principal{}, 401, "unknown"},
		"a hash in its place":   {[]string{"Bearer " + access.Hash(claude)}, schemas.Principal{}, 401, "unknown"},
		"expired":               {[]string{"Bearer " + old}, schemas.Principal{}, 401, "expired at 2026-01-02T03:04:05Z"},
		"nearly an expired one": {[]string{"Bearer " + old + "x"}, schemas.Principal{}, 401, "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			got, no := g.Authenticate(c.header...)
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Error(diff)
			}
			if (no == nil) != (c.status == 0) || no != nil && (no.Status != c.status || !strings.Contains(no.Why, c.why)) {
				t.Errorf("refused by %+v, want %d with %q", no, c.status, c.why)
			}
		})
	}
	if p, no := access.NewGate("", nil).Authenticate(); !p.Operator || no != nil {
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
		{"GET /docs", "", 0},
		{"GET /openapi.json", "", 0},
		{"GET /session", "", 401},
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
		_, no := g.Authorize(c.pattern, c.header)
		if (no == nil) != (c.status == 0) || no != nil && no.Status != c.status {
			t.Errorf("%s with %.10q: %+v, want %d", c.pattern, c.header, no, c.status)
		}
	}
}

// TestGrants checks that each grant allows its own operations and no others. A grant of commands in
// some workspaces affects questions for evidence, which know a command's workspace, and lists.
func TestGrants(t *testing.T) {
	all := []string{"*"}
	for name, c := range map[string]struct {
		entry access.Entry
		may   string
	}{
		"none":                    {access.Entry{Workspaces: all}, "query events GET /v1/objects GET /docs"},
		"commands of a workspace": {access.Entry{Workspaces: []string{"/a"}, Grants: []string{"commands"}}, "find query events GET /v1/objects GET /docs GET /v1/intents/{id}"},
		"commands":                {access.Entry{Workspaces: all, Grants: []string{"commands"}}, "find why query events GET /v1/objects GET /docs GET /v1/intents GET /v1/intents/{id}"},
		"code":                    {access.Entry{Workspaces: []string{"/a"}, Grants: []string{"code"}}, "code/callers query events GET /v1/objects GET /docs"},
		"all":                     {access.Entry{Workspaces: all, Grants: []string{"commands", "code", "runtime"}}, "find why code/callers runtime/traffic query events GET /v1/objects GET /docs GET /v1/intents GET /v1/intents/{id}"},
		"erase":                   {access.Entry{Tenant: "acme", Workspaces: all, Agent: "a", Grants: []string{"erase"}}, "query events GET /v1/objects GET /docs forget"},
		"ingest":                  {access.Entry{Grants: []string{"ingest"}}, "events GET /docs traces"},
	} {
		token := access.NewToken()
		c.entry.SHA256 = access.Hash(token)
		g := open(t, tokensFile(t, c.entry))
		var may []string
		for _, pattern := range []string{"POST /v1/find", "POST /v1/why", "POST /v1/code/callers", "POST /v1/runtime/traffic", "POST /v1/query", "POST /v1/events", "GET /v1/objects", "GET /docs", "GET /metrics", "GET /v1/intents", "GET /v1/intents/{id}", "GET /v1/status", "POST /v1/forget", access.Spans} {
			if _, no := g.Authorize(pattern, "Bearer "+token); no == nil {
				may = append(may, strings.TrimPrefix(pattern, "POST /v1/"))
			}
		}
		if got := strings.Join(may, " "); got != c.may {
			t.Errorf("%s: may %q, want %q", name, got, c.may)
		}
	}
}

// TestFileIsReadAgain checks that tokens are added and removed while the gate is in use, and that
// an entry with a mistake is never in force.
func TestFileIsReadAgain(t *testing.T) {
	one, two := access.NewToken(), access.NewToken()
	first := "  - sha256: " + access.Hash(one) + "\n    agent: one\n"
	second := "  - sha256: " + access.Hash(two) + "\n    agent: two\n"
	path := filepath.Join(t.TempDir(), "tokens.yaml")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("tokens:\n" + first)
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		f, err := access.OpenFile(path, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		g := access.NewGate("s3cret", f)
		if _, no := g.Authenticate("Bearer " + two); no == nil || no.Status != 401 {
			t.Errorf("before it is in the file: %+v", no)
		}
		write("tokens:\n" + first + second)
		if _, no := g.Authenticate("Bearer " + two); no == nil {
			t.Error("read again within the second")
		}
		ok := func(agent string) string { return "as " + agent }
		for _, c := range []struct {
			when, text string
			// The principal or the refusal that each token gets.
			one, two, state string
		}{
			{"both", "tokens:\n" + first + second, ok("one"), ok("two"), ""},
			{"a misspelt limit", "tokens:\n" + first + second + "    workspace: [/a]\n", ok("one"), "401 the token's entry has a mistake at tokens.yaml:6", `line 6: tokens[1]: field "workspace"`},
			{"a value of another kind", "tokens:\n" + first + "    expires: soon\n" + second, "401 the token's entry has a mistake at tokens.yaml:4", ok("two"), `line 4: tokens[0]: expires: parsing time "soon"`},
			{"a hash cut short", "tokens:\n  - sha256: " + access.Hash(one)[:63] + "\n" + second, "401 the token is unknown", ok("two"), "line 2: tokens[0]: sha256"},
			{"one token twice", "tokens:\n" + first + second + first + "    workspaces: ['*']\n", "401 the token's entry has a mistake at tokens.yaml:", ok("two"), "tokens[0]: the token of tokens[2]"},
			{"an entry that is none", "tokens:\n  - x\n" + second, "401 the token is unknown", ok("two"), "line 2: tokens[0]: want sha256"},
			{"no YAML", "tokens:\n" + first + second + "\t[\n", "503 no token of the tokens file is in force while it has a mistake at tokens.yaml:", "503 no token", "found a tab"},
			{"another field beside tokens", "tokens:\n" + first + "token:\n" + second, "503 no token of the tokens file is in force while it has a mistake at tokens.yaml:4", "503 no token", `line 4: field "token"`},
			{"two documents", "tokens:\n" + first + "---\ntokens:\n" + second, "503 no token of the tokens file is in force while it has a mistake at tokens.yaml", "503 no token", "more than one document"},
			{"mended", "tokens:\n" + second, "401 the token is unknown", ok("two"), ""},
			{"no file", "", "503 no token of the tokens file is in force while tokens.yaml cannot be read", "503 no token", "no such file"},
			{"there again", "tokens:\n" + first, ok("one"), "401 the token is unknown", ""},
			{"an empty list", "tokens: []\n", "401 the token is unknown", "401 the token is unknown", ""},
		} {
			log.Reset()
			if write(c.text); c.text == "" {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Second)
			for token, want := range map[string]string{one: c.one, two: c.two} {
				p, no := g.Authenticate("Bearer " + token)
				got := ok(p.Agent)
				if no != nil {
					got = fmt.Sprintf("%d %s", no.Status, no.Why)
				}
				if !strings.HasPrefix(got, want) {
					t.Errorf("%s: %s, want %s", c.when, got, want)
				}
			}
			if p, no := g.Authenticate("Bearer s3cret"); !p.Operator || no != nil {
				t.Errorf("%s: the operator is refused: %+v", c.when, no)
			}
			told := strings.Join(f.State().Mistakes, "\n")
			if !strings.Contains(told, c.state) || (told == "") != (c.state == "") {
				t.Errorf("%s: its state is %q, want %q", c.when, told, c.state)
			}
			if strings.Contains(log.String(), "level=ERROR") != (c.state != "") {
				t.Errorf("%s: the log says %s", c.when, log.String())
			}
		}
	})
}

// TestFileOfNobody checks that an unreadable file is retried even if it does not change.
func TestFileOfNobody(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	token := access.NewToken()
	path := tokensFile(t, access.Entry{SHA256: access.Hash(token), Agent: "one"})
	synctest.Test(t, func(t *testing.T) {
		g := open(t, path)
		changed := time.Now().Add(-time.Hour)
		for _, mode := range []os.FileMode{0, 0o600} {
			if err := errors.Join(os.Chmod(path, mode), os.Chtimes(path, changed, changed)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			if _, no := g.Authenticate("Bearer " + token); (no == nil) != (mode != 0) {
				t.Errorf("mode %o: %+v", mode, no)
			}
		}
	})
}

func TestParseRefuses(t *testing.T) {
	hash := access.Hash("x")
	for name, c := range map[string]struct{ text, want string }{
		"a field nobody knows":  {"tokens:\n  - sha256: " + hash + "\n    workspace: a\n", `line 3: tokens[0]: field "workspace"`},
		"a field twice":         {"tokens:\n  - sha256: " + hash + "\n    sha256: " + hash + "\n", `line 3: tokens[0]: sha256 is given twice`},
		"no hash":               {"tokens:\n  - tenant: a\n", "line 2: tokens[0]: sha256"},
		"a token for a hash":    {"tokens:\n  - sha256: rct_abc\n", "64 hex digits"},
		"the same twice":        {fmt.Sprintf("tokens:\n  - sha256: %s\n  - sha256: %s\n", hash, strings.ToUpper(hash)), "line 3: tokens[1]: the token of tokens[0]"},
		"a workspace of no one": {"tokens:\n  - sha256: " + hash + "\n    workspaces: ['']\n", "workspaces"},
		"a long name":           {"tokens:\n  - sha256: " + hash + "\n    agent: " + strings.Repeat("a", 257) + "\n", "agent: 257 bytes"},
		"a date that is none":   {"tokens:\n  - sha256: " + hash + "\n    expires: soon\n", "soon"},
		"a grant of nothing":    {"tokens:\n  - sha256: " + hash + "\n    grants: [spans]\n", `grants: "spans": want some of commands, code, runtime`},
		"a tenant's grant":      {"tokens:\n  - sha256: " + hash + "\n    tenant: acme\n    grants: [code]\n", "belong to the default tenant"},
		"commands of nowhere":   {"tokens:\n  - sha256: " + hash + "\n    grants: [commands]\n", "want workspaces"},
		"runtime by itself":     {"tokens:\n  - sha256: " + hash + "\n    workspaces: ['*']\n    grants: [runtime, code]\n", "want the grants code and commands"},
		"ingest and an agent":   {"tokens:\n  - sha256: " + hash + "\n    agent: a\n    grants: [ingest]\n", "can have no other grant, tenant, workspace, session or agent"},
		"erase of nobody's":     {"tokens:\n  - sha256: " + hash + "\n    workspaces: ['*']\n    grants: [erase]\n", "grants: erase: want agent and workspaces"},
		"ingest and code":       {"tokens:\n  - sha256: " + hash + "\n    grants: [ingest, code]\n", "can have no other grant"},
		"two documents":         {"tokens: []\n---\ntokens: []\n", "more than one document"},
		"tokens twice":          {"tokens: []\ntokens: []\n", "line 2: tokens is given twice"},
		"nothing":               {"{}", "line 1: want tokens: and a list"},
		"no list":               {"tokens: none\n", "line 1: tokens: want a list"},
		"a list alone":          {"- sha256: " + hash, "line 1: want tokens: and a list"},
		"no YAML":               {"tokens: [", "line 1: did not find"},
	} {
		if _, err := access.ParseAll([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for name, text := range map[string]string{"an empty file": "", "a comment": "# ours\n", "an empty list": "tokens:\n", "nothing": "~\n"} {
		if got, err := access.Parse([]byte(text)); err != nil || len(got.Entries)+len(got.Mistakes) > 0 {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
}
