package webtests

import (
	"fmt"
	"strings"
	"testing"

	cdppage "github.com/chromedp/cdproto/page"
)

// module evaluates an expression in which m is a module of the page.
func module[T any](p *page, name, expression string) T {
	p.t.Helper()
	return eval[T](p, fmt.Sprintf(`import(document.querySelector('script[type=module]').src.replace("app.js", %q)).then((m) => (%s))`, name, expression))
}

// TestFormat has what values look like.
func TestFormat(t *testing.T) {
	t.Parallel()
	p := sample(t).page(t, 1280, 800)
	p.open("/", has("Failed last"))
	for expression, want := range map[string]string{
		`m.plain("a\u202eb\u001b[31m\u0000")`:              "a⟨RLO⟩b⟨ESC⟩[31m⟨NUL⟩",
		`m.plain("tab\tand\nline")`:                        "tab\tand\nline",
		`m.oneLine("one\ntwo")`:                            "one ⏎",
		`m.duration(0)`:                                    "0 µs",
		`m.duration(1_500_000)`:                            "2 ms",
		`m.duration(61e9)`:                                 "1 min 1 s",
		`m.duration(7265e9)`:                               "2 h 1 min",
		`m.duration(536_000e9)`:                            "6 d 5 h",
		`m.duration(86_400e9)`:                             "1 d",
		`m.duration(59.7e9)`:                               "1 min",
		`m.duration(3479.8e9)`:                             "58 min",
		`m.duration(999.6e3)`:                              "1 ms",
		`m.duration(undefined)`:                            "",
		`m.size(999)`:                                      "999 B",
		`m.size(1_048_576)`:                                "1.0 MB",
		`m.plural(1, "hit")`:                               "1 hit",
		`m.plural(1200, "hit")`:                            "1,200 hits",
		`m.ago(new Date(Date.now() - 3700e3))`:             "1 h ago",
		`m.ago(new Date(Date.now() + 86400e3 * 2 + 5000))`: "in 2 d",
		`m.ago("nonsense")`:                                "",
		`m.positionText({topic: "t", partition: 1, offset: 2}) + m.positionText("t/1/3")`: "t/1/2t/1/3",
	} {
		if got := module[string](p, "format.js", expression); got != want {
			t.Errorf("%s: %q, want %q", expression, got, want)
		}
	}
}

// TestLine checks that the path of a chart shows values that have no neighbour.
func TestLine(t *testing.T) {
	t.Parallel()
	p := sample(t).page(t, 1280, 800)
	p.open("/", has("Failed last"))
	for expression, want := range map[string]string{
		`m.line([1, 2], 100, 10, 2)`:          "M0 5L100 0",
		`m.line([1], 100, 10, 2)`:             "M0 5h100",
		`m.line([1, null, 2], 100, 10, 2)`:    "M0 5h3M100 0h-3",
		`m.line([null, 1, null], 100, 10, 2)`: "M50 5h3",
	} {
		if got := module[string](p, "chart.js", expression); got != want {
			t.Errorf("%s: %q, want %q", expression, got, want)
		}
	}
}

// TestTimelineModel has what a timeline makes of columns.
func TestTimelineModel(t *testing.T) {
	t.Parallel()
	p := sample(t).page(t, 1280, 800)
	p.open("/", has("Failed last"))
	const model = `((d) => ({d, lanes: m.lanesOf(d, 1)}))(m.decode({start: "2026-01-01T00:00:00Z", times_ms: [0, 1000, 1000, 8000], durations_ms: [500, -1, 10, 0], outcomes: [0, 1, -1, 1],
		who: [0, 1, 0, 0], category: [0, 1, 0, 0], shards: [0, 0, 1, 0], offsets: [5, 6, 0, 7], people: ["ada", "claude"], categories: ["build", "deploy"], partitions: ["t/0", "t/1"]}))`
	at := `Date.parse("2026-01-01T00:00:00Z")`
	for expression, want := range map[string]string{
		`x.lanes.map((l) => l.name + " " + [...l.index]).join("; ")`:                                                          "ada 0,2,3; 1 others 1; deploys 1",
		`m.position(x.d, 2) + " " + m.position(x.d, 3)`:                                                                       "t/1/0 t/0/7",
		`((b) => [...b.all] + " " + [...b.bad] + " " + b.most)(m.bucket(x.d, x.lanes[0], ` + at + `, ` + at + ` + 10001, 2))`: "2,1 0,1 2",
		`String(m.nearest(x.d, x.lanes[0], ` + at + ` + 1990, 50)) + m.nearest(x.d, x.lanes[0], ` + at + ` + 1200, 50)`:       "2-1",
		`String(m.nearest(x.d, x.lanes[0], ` + at + ` + 400, 0))`:                                                             "0",
		`m.ticks(` + at + `, ` + at + ` + 86400e3 * 3, 4).map((k) => k.text).join(" ")`:                                       "2026-01-01 2026-01-02 2026-01-03 2026-01-04",
		`m.ticks(` + at + `, ` + at + ` + 1000, 3).map((k) => k.text).join(" ")`:                                              "00:00:00.000 00:00:00.500 00:00:01.000",
	} {
		if got := module[string](p, "timeline.js", `((x) => `+expression+`)(`+model+`)`); got != want {
			t.Errorf("%s: %q, want %q", expression, got, want)
		}
	}
}

// TestWrongClock opens the page on a machine whose clock is a day ahead: ages follow the server's.
func TestWrongClock(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	s.append(t, "commands", `{"command":"make clock","exit_code":0}`)
	for says, by := range map[string]string{"ahead of": "86400e3", "behind": "-86400e3"} {
		p := s.page(t, 1280, 800)
		call(p, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: `{const now = Date.now; Date.now = () => now() + ` + by + `}`})
		p.open("/", has("make clock"))
		p.wait(has("The clock of this machine is 24 hours " + says + " the server's"))
		if got := eval[string](p, `document.querySelector("main time").textContent`); strings.Contains(got, "d") || strings.Contains(got, "in ") {
			t.Errorf("a command of just now is %q where the clock is %s the server's", got, says)
		}
		p.axe()
	}
}

// TestBacklog checks that a flood of new commands neither freezes the page nor fills it.
func TestBacklog(t *testing.T) {
	s := startSite(t)
	s.append(t, "commands", `{"command":"make before","exit_code":0}`)
	p := s.page(t, 1280, 800)
	p.open("/", has("make before"))
	i := 0
	gap := longestFrame(p, func() {
		for range 3 {
			var lines strings.Builder
			for range 10_000 {
				i++
				fmt.Fprintf(&lines, `{"command":"make flood%d","exit_code":0}`+"\n", i)
			}
			s.append(t, "commands", lines.String())
		}
		p.wait(has(fmt.Sprintf("make flood%d", i)))
	})
	rows := eval[int](p, `document.querySelectorAll("[aria-label='New commands'] li").length`)
	t.Logf("30,000 commands at once: the longest frame took %.0f ms", gap)
	if gap > mostFrame || rows > 20 {
		t.Errorf("the longest frame took %.0f ms, and %d commands are listed", gap, rows)
	}
}
