package webtests

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// evil is what a name, a message or a line may hold: markup, a script's address, an escape, characters
// that reorder text, and quotes.
const evil = "<img src=x onerror=alert(1)><script>alert(2)</script> \u202egnp.exe \x1b[31mred \u2066\"'><svg onload=alert(3)> javascript:alert(4)"

// hostileSite has such strings in everything that the page shows, and lines of a megabyte.
func hostileSite(t *testing.T) *site {
	t.Helper()
	s := startSite(t)
	line := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b) + "\n"
	}
	long := strings.Repeat("x", 1<<20)
	var commands, agents strings.Builder
	for i, text := range []string{"make " + evil, "echo " + long[:900_000], "make " + evil, "sh -c 'a\nb'"} {
		commands.WriteString(line(map[string]any{
			"command": text, "cwd": "/src/" + evil, "session": "s " + evil, "author": evil, "host": "h" + evil, "user": evil, "workspace": "/src/" + evil,
			"stated_intent": evil, "exit_code": 1 + i%2, "output_tail": evil + "\n" + evil, "started_at": fmt.Sprintf("2026-11-20T12:0%d:00Z", i),
		}))
	}
	for i, text := range []string{evil, long[:900_000], "Carts are in " + evil} {
		agents.WriteString(line(map[string]any{"specversion": "1.0", "id": fmt.Sprintf("m-%d", i), "source": "a", "type": "memory_stated", "time": "2026-11-20T10:00:00Z", "data": map[string]any{
			"workspace": "/w" + evil, "agent": "a" + evil, "session": "s" + evil, "text": text,
			"memory": map[string]any{"subject": "x" + evil, "predicate": "is", "value": fmt.Sprint(i) + evil},
		}}))
	}
	s.append(t, "commands", commands.String())
	s.append(t, "agents", agents.String())

	attribute := func(key, value string) map[string]any {
		return map[string]any{"key": key, "value": map[string]any{"stringValue": value}}
	}
	span := func(id, parent, name string) map[string]any {
		return map[string]any{
			"traceId": badTrace, "spanId": id, "parentSpanId": parent, "name": name, "kind": 2, "startTimeUnixNano": "1795176000000000000", "endTimeUnixNano": "1795176001000000000",
			"status": map[string]any{"code": 2, "message": evil}, "attributes": []any{attribute("messaging.destination.name", "t"+evil)},
		}
	}
	traces, err := json.Marshal(map[string]any{"resourceSpans": []any{
		map[string]any{"resource": map[string]any{"attributes": []any{attribute("service.name", "web"+evil), attribute("service.version", evil)}}, "scopeSpans": []any{map[string]any{"spans": []any{span("aaaaaaaaaaaaaaaa", "", "GET "+evil)}}}},
		map[string]any{"resource": map[string]any{"attributes": []any{attribute("service.name", "carts"+evil)}}, "scopeSpans": []any{map[string]any{"spans": []any{span("bbbbbbbbbbbbbbbb", "aaaaaaaaaaaaaaaa", evil)}}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "traces.json")
	if err := os.WriteFile(file, traces, 0o600); err != nil {
		t.Fatal(err)
	}
	s.run(t, "import", "otlp", "--wait", file)

	dir := repository(t)
	name := "<img src=x onerror=alert(1)> \u202egnp.go"
	if err := os.WriteFile(filepath.Join(dir, name), []byte("package carts\n\n// evil does "+strings.ReplaceAll(evil, "\x1b", "")+"\nfunc evil() { load(\"\") }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"add", "-A"}, {"commit", "-qm", evil}} {
		c := exec.Command("git", append([]string{"-C", dir}, args...)...)
		c.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=" + strings.NewReplacer("<", "(", ">", ")").Replace(evil), "GIT_AUTHOR_EMAIL=e@example.org", "GIT_COMMITTER_NAME=ada", "GIT_COMMITTER_EMAIL=ada@example.org"}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	s.run(t, "import", "git", "--history", "3", "--wait", dir)
	return s
}

// TestHostileInEachView checks that no view makes elements of what the log holds, lets it reorder text or
// draw with escapes, is drowned by a line of a megabyte, or becomes wider than the window.
func TestHostileInEachView(t *testing.T) {
	t.Parallel()
	s := hostileSite(t)
	p := s.page(t, 1280, 900)
	p.open("/", has("Failed last"))
	id := eval[string](p, `fetch("/v1/find", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({limit: 4, repeats: true})}).then((r) => r.json()).then((d) => d.hits[1].id)`)
	object := eval[string](p, `fetch("/v1/query", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({text: "Carts", limit: 3, mode: "objects"})}).then((r) => r.json()).then((d) => d.objects[0].id)`)
	session := eval[string](p, `fetch("/v1/sessions?kind=agents").then((r) => r.json()).then((d) => "session=" + encodeURIComponent(d.sessions[0].session) + "&agent=" + encodeURIComponent(d.sessions[0].author) + "&workspace=" + encodeURIComponent(d.sessions[0].workspace))`)
	for _, path := range []string{
		"/", "/ask", "/ask?q=img+onerror", "/ask?q=evil", "/narrative", "/narrative?id=" + id, "/command/" + id, "/why/" + id, "/why/" + badTrace,
		"/code", "/code/symbol?name=evil", "/code/symbol?name=load", "/code/impact?name=load", "/code/impact?name=load&show=table", "/code/diff?base=HEAD~1", "/code/stale", "/code/routes",
		"/runtime", "/runtime?show=table", "/runtime/traces", "/runtime/trace/" + badTrace, "/runtime/trace/" + badTrace + "?span=bbbbbbbbbbbbbbbb", "/runtime/trace/" + badTrace + "?show=table", "/runtime/dead",
		"/agents", "/agents/" + object, "/agents/sessions", "/agents/sessions?" + session, "/agents/search?q=Carts", "/log", "/log/recount.commands/0", "/log/recount.agents/0", "/log/recount.agents/1", "/log/recount.commits/0", "/insights",
	} {
		p.open(path, `document.querySelector("main h1") && !document.querySelector("main .loading")`)
		p.wait(`document.querySelector("main .proof, main tbody tr, main .rows li, main .commands li, main .empty, main .suspects, main .waterfall, main .facts")`)
		if n := eval[int](p, `document.querySelectorAll("main img, main script, main b, main svg[onload], main [onerror]").length`); n != 0 {
			t.Errorf("%s: %d elements out of the log", path, n)
		}
		if eval[bool](p, `/[\u202a-\u202e\u2066-\u2069\u001b]/.test(document.body.innerText + document.title + [...document.querySelectorAll("[title], [aria-label]")].map((e) => e.title + e.getAttribute("aria-label")).join())`) {
			t.Errorf("%s: a character that reorders text, or an escape, is on the page", path)
		}
		if n := eval[int](p, `document.body.innerText.length`); n > 60_000 {
			t.Errorf("%s: the page has %d characters: a long line is not cut", path, n)
		}
		if n := eval[int](p, `document.documentElement.scrollWidth`); n > 1280 {
			t.Errorf("%s: the page is %d wide", path, n)
		}
	}
}
