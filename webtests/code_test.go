package webtests

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
)

func TestCode(t *testing.T) {
	t.Parallel()
	p := sample(t).page(t, 1280, 900)
	p.open("/code", has("keep carts in redis"))
	p.wait(has("languages"))
	p.axe()
	p.golden("code")
}

// TestSymbol checks that a symbol is shown with what calls it and what it calls, each with its site,
// and that a caller leads to its own page.
func TestSymbol(t *testing.T) {
	t.Parallel()
	p := sample(t).page(t, 1280, 1000)
	p.open("/code/symbol?name=load", has("load reads a cart from redis."))
	p.wait(has("shop.getCart") + " && " + has("shop.connect") + " && " + has("carts.go:7:"))
	p.wait(has("Owners and history") + " && " + has("ada"))
	p.axe()
	p.golden("symbol")
	p.do(clickOn(`section[aria-label="Callers"] a[data-item]`))
	p.wait(`document.querySelector("h1").textContent === "shop.getCart"`)
	p.open("/code/shop.connect", `location.pathname === "/code/symbol"`)
	p.wait(`document.querySelector("h1").textContent === "shop.connect"`)
}

// TestImpact walks the graph of a change by keyboard, opens its packages, and shows the same as a
// table and at two revisions.
func TestImpact(t *testing.T) {
	t.Parallel()
	p := sample(t).page(t, 1280, 900)
	p.open("/code/impact?name=shop.connect", has("4 symbols in 1 package"))
	p.axe()
	p.golden("impact") // few symbols: their packages are open
	p.open("/code/impact?name=shop.connect&open=none", has("4 symbols in 1 package"))
	p.do(clickOn("canvas"))
	p.press(kb.ArrowRight)
	p.wait(`new URLSearchParams(location.search).get("sel")`)
	p.press(kb.Enter)
	p.wait(`new URLSearchParams(location.search).get("open") === "."`)
	p.press(kb.ArrowRight, kb.ArrowDown)
	p.wait(has("How the change gets there"))
	p.wait(`document.getElementById("announced").textContent`)
	at := eval[string](p, "location.pathname + location.search")
	p.open(at, has("How the change gets there"))
	p.open("/code/impact?name=shop.connect&show=table", `document.querySelectorAll("tbody tr").length === 5`)
	p.do(clickOn("th button"))
	p.wait(`document.querySelector("th[aria-sort=ascending]")`)
	p.axe()
	p.open("/code/impact?name=load&base=HEAD~1", has("Before")+" && "+has("Now"))
	p.wait(`document.querySelectorAll("canvas").length === 2`)
	p.axe()
}

func TestDiff(t *testing.T) {
	t.Parallel()
	p := sample(t).page(t, 1280, 1000)
	p.open("/code/diff?base=HEAD~1&head=HEAD", has("1 added")+" && "+has("shop.connect"))
	p.wait(has("Impact"))
	p.axe()
	p.golden("diff")
	p.open("/code/stale", has("Stale")+` && document.querySelector(".proof")`)
	p.axe()
	p.open("/code/routes", has("/carts/{id}")+" && "+has("shop.getCart"))
	p.axe()
}

// TestNoCode checks that a log without code says how to begin, in every part of the view.
func TestNoCode(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	for _, path := range []string{"/code", "/code/symbol", "/code/impact", "/code/diff", "/code/stale", "/code/routes"} {
		p := s.page(t, 1000, 700)
		p.expected = []string{noCode}
		p.open(path, has("recount import git"))
		p.axe()
	}
}
