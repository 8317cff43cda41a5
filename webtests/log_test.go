package webtests

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestLog(t *testing.T) {
	t.Parallel()
	p := sample(t).page(t, 1280, 1000)
	p.open("/log", has("recount.commands")+" && "+has("Projections"))
	p.axe()
	p.golden("log")
	p.do(clickOn("tbody a[data-item]"))
	p.wait(`document.querySelectorAll(".event-row").length > 0`)
	p.do(clickOn(".event-row"))
	p.wait(`document.querySelector(".whole pre")`)
	p.do(clickOn(".whole button"))
	p.wait(`document.querySelector(".hex")?.textContent.startsWith("000000  ")`)
	p.axe()
}

// TestTail follows a partition: what comes in appears, and of a backlog only the newest events.
func TestTail(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	p := s.page(t, 1280, 900)
	s.append(t, "commands", `{"command":"make first","exit_code":0,"workspace":"/w"}`)
	p.open("/log", has("recount.commands"))
	p.do(clickOn(`a[href^="/log/recount.commands/"][data-item]`))
	p.wait(has("make first"))
	s.append(t, "commands", `{"command":"make second","exit_code":0,"workspace":"/w"}`)
	p.wait(has("make second"))
	var backlog strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&backlog, `{"command":"echo %d","exit_code":0,"workspace":"/w"}`+"\n", i)
	}
	s.append(t, "commands", backlog.String())
	p.wait(has("echo 2999") + " && " + has("came in too quickly to be listed"))
	if n := eval[int](p, `document.querySelectorAll(".event-row").length`); n > 1000 {
		t.Errorf("%d events are drawn", n)
	}
	p.open(eval[string](p, "location.pathname")+"?from=1&find=second", has("make second")+" && !"+has("make first"))
	p.do(clickOn(`.links a[href*="from="]`))
	p.axe()
}

// TestRejected shows why an event can never be applied, and leads to it.
func TestRejected(t *testing.T) {
	t.Parallel()
	s := startSite(t, "--kafka", "127.0.0.1:0")
	p := s.page(t, 1280, 800)
	p.open("/log/rejected", has("No event was rejected"))
	p.axe()
	produce := s.command("log", "produce")
	produce.Stdin = strings.NewReader("<b>no</b> JSON\n")
	if out, err := produce.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p.open("/log", has("1 rejected event"))
	p.open("/log/rejected", `document.querySelector(".rows .at")`)
	p.axe()
	p.do(clickOn(".rows .at"))
	p.wait(`document.querySelector("dialog[open]")?.innerText.includes("<b>no</b> JSON") || document.querySelector("dialog[open] pre")`)
}

// TestVerify replays the log and shows both roots of each projection.
func TestVerify(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	s.append(t, "commands", `{"command":"make it","exit_code":0}`)
	p := s.page(t, 1280, 1000)
	p.open("/log/verify", has("Replays the log"))
	p.axe()
	p.do(clickOn("button.primary"))
	p.wait(has("Equal"))
	if rows := eval[int](p, `[...document.querySelectorAll("tbody tr")].filter((r) => r.querySelectorAll(".root")[0].textContent === r.querySelectorAll(".root")[1].textContent).length`); rows < 8 {
		t.Errorf("%d projections have equal roots", rows)
	}
	p.axe()
}

// TestGrants checks that each view tells a token what it may not see, and shows the rest.
func TestGrants(t *testing.T) {
	t.Parallel()
	tokens := filepath.Join(t.TempDir(), "tokens.yaml")
	out := (&site{dir: t.TempDir()}).run(t, "token", "new", "--workspace", "/src/shop", "--agent", "ann", "--add-to", tokens)
	token := regexp.MustCompile(`rct_\S+`).FindString(out)
	s := startSite(t, "--token-file", tokenFile(t, "the-operator-of-the-test"), "--tokens-file", tokens)
	p := s.page(t, 1280, 800)
	p.expected = []string{"401 (Unauthorized)", "403 (Forbidden)", noCode}
	p.open("/agents", `document.getElementById("token")`)
	p.do(typeInto("#token", token), pressEnter())
	p.wait(has("No agent is recorded yet"))
	for _, path := range []string{"/code", "/code/symbol?name=x", "/code/impact?name=x", "/code/diff?base=a&head=b", "/code/stale", "/code/routes", "/runtime", "/runtime/traces", "/runtime/trace/" + badTrace, "/runtime/why/" + badTrace, "/runtime/dead", "/log", "/log/recount.commands/0", "/log/rejected", "/insights"} {
		p.open(path, has("Not allowed."))
		p.axe()
	}
}

func TestInsights(t *testing.T) {
	t.Parallel()
	p := sample(t).page(t, 1280, 1100)
	p.open("/insights", has("What recurs")+" && "+has("Programs")+` && document.querySelectorAll(".chart").length === 3`)
	p.axe()
	p.golden("insights")
	p.open("/insights?program=git", has("git commit")+" && !"+has("kubectl"))
	p.open("/insights?cwd=/nowhere", has("No command passes these filters"))
	p.axe()
}

// TestUntimed checks that commands of a history without times have no age, and that the line above the charts
// says how many there are. Of outcomes that it does not have either, none is counted as good.
func TestUntimed(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	history := filepath.Join(t.TempDir(), ".bash_history")
	if err := os.WriteFile(history, []byte("make -n\nmake -n\nmake -n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run(t, "import", "history", "--wait", history)
	p := s.page(t, 1280, 800)
	p.open("/insights", has("What recurs")+" && "+has("3 at an unknown time"))
	if text := eval[string](p, `document.querySelector("main").innerText`); strings.Contains(text, " ago") || !strings.Contains(text, "time unknown") {
		t.Errorf("a time that is not known has an age:\n%s", text)
	}
	for table, column := range map[string]int{"Programs": 3, "Templates": 4} {
		if got := eval[string](p, fmt.Sprintf(`document.querySelector("[aria-label=%s] tbody td:nth-child(%d)").innerText`, table, column)); got != "–" {
			t.Errorf("%s: of runs whose outcome is not known %q failed, want –", table, got)
		}
	}
}

// TestNarrow checks that no view is wider than a phone.
func TestNarrow(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"code": "/code", "symbol": "/code/symbol?name=load", "impact": "/code/impact?name=connect", "diff": "/code/diff?base=HEAD~1", "runtime": "/runtime",
		"traces": "/runtime/traces", "trace": "/runtime/trace/" + badTrace, "agents": "/agents", "sessions": "/agents/sessions", "log": "/log", "insights": "/insights",
	} {
		p := sample(t).page(t, 360, 740)
		p.open(path, `document.querySelector(".proof, tbody tr, .rows li")`)
		if got := eval[int](p, `document.documentElement.scrollWidth`); got > 360 {
			t.Errorf("%s is %d wide", name, got)
		}
		if name == "trace" || name == "impact" {
			p.golden("phone-" + name)
		}
	}
}

// TestTokenOfSomeWorkspaces checks that a token with the grant commands and some workspaces sees the commands
// of one of them at a time, in each view that lists or counts commands, and none of others.
func TestTokenOfSomeWorkspaces(t *testing.T) {
	t.Parallel()
	tokens := filepath.Join(t.TempDir(), "tokens.yaml")
	out := (&site{dir: t.TempDir()}).run(t, "token", "new", "--workspace", "/a", "--workspace", "/c", "--agent", "ann", "--grant", "commands", "--add-to", tokens)
	token := regexp.MustCompile(`rct_\S+`).FindString(out)
	const operator = "the-operator-of-the-test"
	s := startSite(t, "--token-file", tokenFile(t, operator), "--tokens-file", tokens)
	s.token = operator
	s.append(t, "commands", `{"command":"make mine","workspace":"/a","session":"s","exit_code":1}
{"command":"make theirs","workspace":"/b","session":"s","exit_code":1}
{"command":"make another","workspace":"/c","session":"s","exit_code":0}
`)
	p := s.page(t, 1280, 800)
	p.expected = []string{"401 (Unauthorized)", "403 (Forbidden)", "422 (Unprocessable Entity)", noCode}
	p.open("/", `document.getElementById("token")`)
	p.do(typeInto("#token", token), pressEnter())
	p.wait(has("make mine")) // the login is done
	for _, path := range []string{"/", "/ask", "/narrative", "/insights"} {
		mine, another := has("make mine"), has("make another")
		if path == "/insights" {
			mine, another = has("1 failure"), has("0 failures")
		}
		p.open(path, mine)
		p.axe()
		p.do(clickOn(`[aria-label="Workspaces"] a:nth-child(2)`))
		p.wait(another + " && !" + mine)
		if eval[bool](p, has("theirs")) {
			t.Errorf("%s shows a command of another workspace:\n%s", path, p.shows())
		}
	}
	p.open("/ask", has("make mine"))
	p.do(clickOn(".commands a"))
	p.wait(has("Before and after in its session") + " && " + has("make mine"))
}
