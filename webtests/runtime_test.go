package webtests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

func TestRuntime(t *testing.T) {
	t.Parallel()
	p := sample(t).page(t, 1280, 1100)
	p.open("/runtime", has("2 services")+" && "+has("GET /carts/{id}"))
	p.wait(`document.querySelectorAll(".chart").length === 3`)
	p.axe()
	p.golden("runtime")
	p.open("/runtime?service=carts&show=table", `document.querySelector("tbody tr")`)
	p.wait(has("built from") + " || " + has("not known"))
	p.axe()
	p.open("/runtime/traces?which=failing", `document.querySelector("tbody tr")`)
	p.axe()
	p.do(clickOn("tbody a[data-item]"))
	p.wait(`location.pathname.startsWith("/runtime/trace/") && document.querySelector(".waterfall")`)
	p.open("/runtime/traces?service=nobody", has("no span matches"))
	p.axe()
	p.open("/runtime/dead", has("Routes never called")+` && document.querySelector(".proof")`)
	p.axe()
}

// TestTrace walks the waterfall of a failing trace by keyboard, down to the code and the commit
// behind a span, and from there to what led to it.
func TestTrace(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	s.run(t, "import", "git", "--wait", served(t, repository(t)))
	s.append(t, "commands", deploys)
	s.run(t, "import", "otlp", "--wait", built(t, traces(t)))
	p := s.page(t, 1280, 900)
	p.open("/runtime/trace/"+badTrace, has("3 failed spans"))
	p.axe()
	p.golden("trace")
	p.do(clickOn(".waterfall canvas"))
	p.press("0", kb.Home, kb.ArrowDown, kb.ArrowDown)
	p.wait(has("shop.getCart") + " && " + has("last change"))
	p.wait(`new URLSearchParams(location.search).get("span")`)
	p.press(kb.Home, kb.ArrowLeft)
	p.wait(`document.querySelector("aside").innerText.includes("GET /cart")`)
	p.open("/runtime/trace/"+badTrace+"?show=table", `document.querySelectorAll("tbody tr").length === 3`)
	p.axe()
	p.open("/runtime/why/"+badTrace, has("Suspects"))
	p.wait(`document.querySelectorAll(".suspect").length > 0`)
	p.axe()
	p.golden("spanwhy")
}

// served adds to a repository what serves its routes, so that it is known where they are.
func served(t *testing.T, dir string) string {
	t.Helper()
	err := os.WriteFile(filepath.Join(dir, "serve.go"), []byte("package carts\n\nimport \"net/http\"\n\nfunc serve() error {\n\tmux := http.NewServeMux()\n\troutes(mux)\n\treturn http.ListenAndServe(\":80\", mux)\n}\n"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"add", "-A"}, {"commit", "-qm", "carts: serve"}} {
		c := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=ada", "-c", "user.email=ada@example.org"}, args...)...)
		c.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_DATE=2026-11-20T11:41:00Z", "GIT_COMMITTER_DATE=2026-11-20T11:41:00Z"}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return dir
}

// built adds to a file of traces the repository that their services are built from, so that spans are
// joined to its code.
func built(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		const version = `{"key":"service.version"`
		err = os.WriteFile(path, []byte(strings.ReplaceAll(string(b), version, `{"key":"vcs.repository.url.full","value":{"stringValue":"https://example.org/acme/shop"}},`+version)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestNoSpans checks that a log without spans says how to begin.
func TestNoSpans(t *testing.T) {
	t.Parallel()
	p := startSite(t).page(t, 1000, 700)
	p.open("/runtime", has("recount import otlp"))
	p.axe()
}

// TestHostileSpans checks that names out of spans are shown as text, also on the log's pages, and cut.
func TestHostileSpans(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	const trace = "5b8efff798038103d269b633813fc60c"
	name := `<img src=x onerror=alert(1)> \u202egnp ` + strings.Repeat("long ", 20_000)
	path := filepath.Join(t.TempDir(), "hostile.json")
	if err := os.WriteFile(path, []byte(`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"<b>carts</b>\u202e"}}]},"scopeSpans":[{"spans":[`+
		`{"traceId":"`+trace+`","spanId":"aaaaaaaaaaaaaa00","name":"`+name+`","kind":2,"startTimeUnixNano":"1795176000000000000","endTimeUnixNano":"1795176000051000000","status":{"code":2,"message":"<script>alert(2)</script>"}}]}]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run(t, "import", "otlp", "--wait", path)
	p := s.page(t, 1280, 900)
	for _, view := range []string{"/runtime", "/runtime?show=table", "/runtime/trace/" + trace + "?span=aaaaaaaaaaaaaa00", "/runtime/trace/" + trace + "?show=table", "/runtime/why/" + trace, "/log/recount.spans/0", "/log/recount.spans/1", "/log/recount.spans/2", "/log/recount.spans/3"} {
		p.open(view, `document.querySelector("h1") && !document.querySelector("main .loading, [aria-busy=true]")`)
		p.wait(`document.querySelector("main table, main .rows, main .empty, main figure")`)
		if n := eval[int](p, `document.querySelectorAll("main img, main script, main b").length`); n != 0 {
			t.Errorf("%s: %d elements out of the spans", view, n)
		}
		if eval[bool](p, `/[\u202a-\u202e\u2066-\u2069\u001b]/.test(document.body.innerText)`) {
			t.Errorf("%s: a character that reorders text", view)
		}
		if n := eval[int](p, `document.body.innerText.length`); n > 20_000 {
			t.Errorf("%s has %d characters: a long name is not cut", view, n)
		}
	}
}
