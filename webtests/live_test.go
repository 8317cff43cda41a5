package webtests

import (
	"fmt"
	"strings"
	"testing"

	cdppage "github.com/chromedp/cdproto/page"
)

// TestToldOfChanges checks that views ask again because the server tells that something came in, and
// not because some seconds have passed: timers of five seconds and more never fire on this page.
func TestToldOfChanges(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	p := s.page(t, 1280, 900)
	p.expected = []string{noCode}
	call(p, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{
		Source: `{const real = setInterval; window.setInterval = (f, ms, ...more) => (ms >= 5000 ? 0 : real(f, ms, ...more));}`,
	})
	p.open("/agents", has("No agent is recorded yet"))
	s.append(t, "agents", told)
	p.wait(has("Carts are kept in redis."))
	p.open("/insights", has("No command passes"))
	s.append(t, "commands", `{"command":"make first","session":"s","exit_code":0}`)
	p.wait(has("1 command in 1 session"))
	p.open("/narrative", has("1 command"))
	s.append(t, "commands", `{"command":"make second","session":"s","exit_code":1}`)
	p.wait(has("2 commands"))
	p.open("/", has("make second"))
	s.append(t, "commands", `{"command":"make third","session":"s","exit_code":3}`)
	p.wait(`document.querySelector("[aria-labelledby=failed]").innerText.includes("make third")`)
	p.open("/runtime", has("No span has come in yet"))
	s.run(t, "import", "otlp", "--wait", traces(t))
	p.wait(has("GET /carts/{id}"))
	p.open("/code", has("No code is imported yet"))
	s.run(t, "import", "git", "--history", "1", "--wait", repository(t))
	p.wait(has("cart: keep carts in redis"))
}

// TestBacklogInViews appends many commands while views are open that count them: they go on drawing, and
// show all of them in the end.
func TestBacklogInViews(t *testing.T) {
	s := startSite(t)
	s.append(t, "commands", `{"command":"make before","session":"s","exit_code":0}`)
	all := 1
	for path, shows := range map[string]string{"/narrative": "%s commands", "/insights": "%s commands in"} {
		p := s.page(t, 1280, 900)
		p.expected = []string{noCode}
		p.open(path, has("command")+` && document.querySelector("main .text")`)
		gap := longestFrame(p, func() {
			for range 2 {
				s.append(t, "commands", backlog(path, 10_000))
				all += 10_000
			}
			p.wait(has(fmt.Sprintf(shows, fmt.Sprintf("%d,%03d", all/1000, all%1000))))
		})
		t.Logf("%s: the longest frame took %.0f ms while 20,000 commands came in", path, gap)
		if gap > mostFrame {
			t.Errorf("%s: the longest frame took %.0f ms", path, gap)
		}
	}
}

// mostFrame is how long the longest frame may take, in milliseconds.
const mostFrame = 1000

// longestFrame returns how long a page's longest frame takes while something happens. If that is more than it may be, it
// is done again, up to twice: a busy machine has long frames now and then, a page that freezes has them each time.
func longestFrame(p *page, happens func()) (gap float64) {
	p.t.Helper()
	eval[bool](p, `{window.gap = 0; let last = performance.now(); const look = (now) => { gap = Math.max(gap, now - last); last = now; requestAnimationFrame(look); }; requestAnimationFrame(look); true}`)
	for range 3 {
		eval[bool](p, `(gap = 0, true)`)
		happens()
		if gap = eval[float64](p, `gap`); gap <= mostFrame {
			break
		}
	}
	return gap
}

// backlog is some commands, a line each.
func backlog(name string, n int) string {
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, `{"command":"make target%d of %s","author":"agent%d","session":"s%d","exit_code":%d}`+"\n", i%97, name, i%7, i%100, i%5/4)
	}
	return lines.String()
}
