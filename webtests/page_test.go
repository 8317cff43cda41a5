package webtests

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// noCode is what a browser notes of the answer that no repository was imported.
const noCode = "404 (Not Found)"

func TestStart(t *testing.T) {
	t.Parallel()
	p := sample(t).page(t, 1280, 800)
	p.open("/", has("Failed last"))
	p.wait(`document.getElementById("sessions")`)
	p.axe()
	p.golden("start")
}

// TestEmptyLog checks that an empty log says how to begin, and that what then comes in appears.
func TestEmptyLog(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	p := s.page(t, 1280, 800)
	p.open("/", has("The log is empty"))
	p.axe()
	s.append(t, "commands", `{"command":"make first","exit_code":0}`)
	p.wait(has("make first"))
}

func TestAsk(t *testing.T) {
	t.Parallel()
	p := sample(t).page(t, 1280, 1000)
	p.open("/ask?q=load", has("shop.load"))
	p.axe()
	p.golden("ask")
	// The kinds are filters of the same list.
	p.do(clickOn(`.chips a:nth-child(3)`)) // code
	p.wait(`new URLSearchParams(location.search).get("kind") === "code" && document.querySelector(".found .kind") && ![...document.querySelectorAll(".found .kind")].some((e) => e.textContent !== "code")`)
	p.open("/ask?q=load&exit=ok", has("Left out: code (it cannot satisfy the filters)"))
	// An answer that is not sure says so.
	p.open("/ask?q=zeppelin+landing+permission", has("Not sure")+"||"+has("Nothing."))
	p.axe()
}

// TestHostile checks that what a log may hold is shown as text: nothing runs, nothing is reordered,
// and a line of a megabyte is cut.
func TestHostile(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	s.append(t, "commands", `{"command":"echo <img src=x onerror=alert(1)><script>alert(2)</script>","exit_code":1,"author":"<b>ada</b>","cwd":"/src/\u202egnp.exe"}
{"command":"printf '\u001b[31mred\u001b[0m' \u202etxt.exe","exit_code":0}
{"command":"echo `+strings.Repeat("long ", 200_000)+`","exit_code":0}
{"command":"javascript:alert(3)","exit_code":0,"session":"\"><svg onload=alert(4)>"}
`)
	p := s.page(t, 1280, 800)
	p.open("/ask", has("javascript:alert(3)"))
	for _, want := range []string{"<img src=x onerror=alert(1)><script>alert(2)</script>", "ESC", "RLO", "<b>ada</b>"} {
		if !eval[bool](p, has(want)) {
			t.Errorf("the page does not show %q:\n%s", want, p.shows())
		}
	}
	if n := eval[int](p, `document.querySelectorAll("main img, main script, main b, main svg").length`); n != 0 {
		t.Errorf("%d elements out of the log", n)
	}
	if n := eval[int](p, `document.body.innerText.length`); n > 10_000 {
		t.Errorf("the page has %d characters: a long line is not cut", n)
	}
	if eval[bool](p, `/[\u202a-\u202e\u2066-\u2069\u001b]/.test(document.body.innerText)`) {
		t.Error("a character that reorders text, or an escape, is on the page")
	}
	p.axe()
}

// TestKeyboard checks that one gets everywhere without a mouse.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	p := sample(t).page(t, 1280, 800)
	p.open("/", has("Failed last"))
	p.press(kb.Tab)
	if got := eval[string](p, `document.activeElement.textContent`); got != "Skip to the content" {
		t.Errorf("the first stop is %q", got)
	}
	p.press("/")
	p.wait(`document.activeElement.id === "ask"`)
	p.do(typeInto("#ask", "make"))
	p.press(kb.Enter)
	p.wait(`location.pathname === "/ask" && new URLSearchParams(location.search).get("q") === "make"`)
	p.wait(`document.querySelector("main [data-item]")`)
	p.press(kb.Escape, "j", "j", "k")
	p.wait(`document.activeElement.matches("[data-item]")`)
	p.press("?")
	p.wait(`document.querySelector("dialog[open]")?.innerText.includes("the next item")`)
	p.press(kb.Escape)
	p.wait(`!document.querySelector("dialog[open]")`)
}

// TestProof follows an answer to the bytes of an event.
func TestProof(t *testing.T) {
	t.Parallel()
	p := sample(t).page(t, 1280, 800)
	p.open("/ask?q=build+fails&kind=commands", `document.querySelector(".found .at")`)
	p.do(clickOn(`.found .at`))
	p.wait(has("openhands"))
	p.wait(`document.querySelector("dialog[open]").innerText.includes("ce_type")`)
	p.wait(`new URLSearchParams(location.search).get("event").startsWith("recount.commands/")`)
	p.axe()
	p.do(clickOn(`dialog[open] a[href^="/log/"]`)) // down to its bytes
	p.wait(`location.pathname.startsWith("/log/recount.commands/") && document.querySelector(".whole")`)
	p.do(chromedp.Evaluate[chromedp.Void](`history.back()`))
	p.wait(`document.querySelector("dialog[open]")?.innerText.includes("ce_type")`)
	p.press(kb.Escape)
	p.wait(`!new URLSearchParams(location.search).has("event")`)
	p.do(clickOn(`.proof summary`))
	p.wait(has("computed from"))
}

// TestServerAway stops the server under an open page: it says so, and comes back by itself.
func TestServerAway(t *testing.T) {
	s := startSite(t)
	s.append(t, "commands", `{"command":"make before","exit_code":0}`)
	p := s.page(t, 1280, 800)
	p.expected = []string{"ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE", noCode}
	p.open("/", has("make before"))
	s.stop()
	p.do(typeInto("#ask", "x"), pressEnter())
	p.wait(has("The server does not answer"))
	s.again(t)
	s.append(t, "commands", `{"command":"make after x","exit_code":0}`)
	p.wait("!" + has("The server does not answer"))
	p.wait(has("make after x"))
}

// TestServerAwayKeepsWhatIsShown stops the server under views that ask again by themselves: they keep what
// they show, and go on when it is back.
func TestServerAwayKeepsWhatIsShown(t *testing.T) {
	s := startSite(t)
	s.append(t, "commands", `{"command":"make before","session":"s","exit_code":0}`)
	var pages []*page
	paths := []string{"/log", "/insights", "/narrative"}
	shows := []string{has("recount.commands"), has("1 command in"), has("1 command")}
	for i, path := range paths {
		p := s.page(t, 1280, 800)
		p.expected = []string{"ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE", noCode}
		p.open(path, shows[i])
		pages = append(pages, p)
	}
	s.stop()
	for i, p := range pages {
		p.wait(has("The server does not answer"))
		if !eval[bool](p, shows[i]) {
			t.Errorf("%s shows no more what it had:\n%s", paths[i], p.shows())
		}
	}
	s.again(t)
	s.append(t, "commands", `{"command":"make after","session":"s","exit_code":0}`)
	pages[1].wait(has("2 commands in"))
	pages[2].wait(has("2 commands"))
	for _, p := range pages {
		p.wait("!" + has("The server does not answer"))
	}
}

// TestLogin checks that a server with a token asks for it and then shows what was asked for, and that
// a session that ended leads back there.
func TestLogin(t *testing.T) {
	s := startSite(t, "--token-file", tokenFile(t, "s3cret-of-the-test"))
	p := s.page(t, 1280, 800)
	p.expected = []string{"401 (Unauthorized)", noCode, "ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET"}
	p.open("/ask?q=anything", `document.getElementById("token")`)
	p.axe()
	p.golden("login")
	p.do(typeInto("#token", "wrong"), pressEnter())
	p.wait(has("the token is unknown"))
	p.do(typeInto("#token", "s3cret-of-the-test"), pressEnter())
	p.wait(`document.querySelector(".chips") && !document.getElementById("token")`)
	if got := eval[string](p, `location.pathname + location.search`); got != "/ask?q=anything" {
		t.Errorf("after the login one is at %s", got)
	}
	if got := eval[string](p, `document.cookie + JSON.stringify(localStorage)`); strings.Contains(got, "s3cret") {
		t.Errorf("a script can read the token: %s", got)
	}
	s.stop() // sessions end with the process
	s.again(t)
	p.do(typeInto("#ask", "another"), pressEnter())
	p.wait(`document.getElementById("token")`)
}

// TestGrant checks that a token sees what it may see, and that a view says what it may not.
func TestGrant(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const token = "rct_of_the_test"
	tokens := fmt.Sprintf("tokens:\n  - sha256: %x\n    agent: claude\n    workspaces: [/a]\n", sha256.Sum256([]byte(token)))
	if err := os.WriteFile(filepath.Join(dir, "tokens.yaml"), []byte(tokens), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startSite(t, "--token-file", tokenFile(t, "s3cret-of-the-test"), "--tokens-file", filepath.Join(dir, "tokens.yaml"))
	p := s.page(t, 1280, 800)
	p.expected = []string{"401 (Unauthorized)", "403 (Forbidden)"}
	p.open("/ask?q=anything", `document.getElementById("token")`)
	p.do(typeInto("#token", token), pressEnter())
	p.wait(has("Left out: commands (the token is not granted it), code (the token is not granted it)"))
	p.open("/runtime", has("Not allowed. the token may not do this: spans belong to the default tenant only"))
	if !eval[bool](p, has("claude")) {
		t.Errorf("the page does not say as whom one is logged in:\n%s", p.shows())
	}
	p.axe()
	p.do(clickOn("header button:last-child")) // log out
	p.wait(`document.getElementById("token")`)
}

// TestTokenExpires lets a token expire under an open page: the page asks for another one, and then shows
// what was asked for. A browser that is logged in opens the description of the API.
func TestTokenExpires(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tokens.yaml")
	entry := func(token, expires string) string {
		return fmt.Sprintf("  - sha256: %x\n    agent: claude\n    workspaces: [/a]\n    expires: %s\n", sha256.Sum256([]byte(token)), expires)
	}
	write := func(entries ...string) {
		if err := os.WriteFile(path, []byte("tokens:\n"+strings.Join(entries, "")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const never, past = "2200-01-01T00:00:00Z", "2020-01-01T00:00:00Z"
	write(entry("rct_first", never))
	s := startSite(t, "--token-file", tokenFile(t, "s3cret-of-the-test"), "--tokens-file", path)
	p := s.page(t, 1280, 800)
	p.expected = []string{"401 (Unauthorized)", "403 (Forbidden)"}
	p.open("/agents/search?q=anything", `document.getElementById("token")`)
	p.do(typeInto("#token", "rct_first"), pressEnter())
	p.wait(`!document.getElementById("token")`)
	if status := eval[int](p, `fetch("/docs").then((r) => r.status)`); status != 200 {
		t.Errorf("/docs answers %d", status)
	}
	write(entry("rct_first", past), entry("rct_second", never))
	// The page looks now and then, and whenever it is looked at again; the server reads the file again
	// when a second has passed.
	for until := time.Now().Add(patience); !eval[bool](p, `!!document.getElementById("token")`) && time.Now().Before(until); {
		eval[bool](p, `new Promise((done) => { document.dispatchEvent(new Event("visibilitychange")); setTimeout(done, 1200, true); })`)
	}
	p.do(typeInto("#token", "rct_first"), pressEnter())
	p.wait(has("the token expired at 2020-01-01T00:00:00Z"))
	p.do(typeInto("#token", "rct_second"), pressEnter())
	p.wait(`!document.getElementById("token") && ` + has("Search what agents said and did"))
}

// TestPhone checks that nothing is wider than a phone.
func TestPhone(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"start": "/", "ask": "/ask?q=load", "narrow": "/ask?q=build+fails", "narrative": "/narrative?session=ada-1", "why": "/why/" + badTrace} {
		p := sample(t).page(t, 360, 740)
		p.open(path, `document.querySelector("main [data-item]")`)
		if got := eval[int](p, `document.documentElement.scrollWidth`); got > 360 {
			t.Errorf("%s is %d wide", name, got)
		}
		if name == "ask" {
			p.golden("phone-ask")
		}
	}
}
