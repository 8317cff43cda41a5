package webtests

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// axe.min.js.gz is axe-core 4.14.1, as npm has it, compressed.
//
//go:embed testdata/axe.min.js.gz
var axeZipped []byte

// axeSource returns axe-core's script.
var axeSource = sync.OnceValue(func() string {
	z, err := gzip.NewReader(bytes.NewReader(axeZipped))
	if err != nil {
		panic(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	return string(b)
})

// violation is a rule of axe-core that a page breaks.
type violation struct {
	ID, Impact, Help string
	Nodes            []struct{ HTML, FailureSummary string }
}

// axe checks the page with axe-core, in the light and the dark theme: nothing serious or critical.
func (p *page) axe() {
	p.t.Helper()
	for _, theme := range []string{"light", "dark"} {
		p.theme(theme)
		p.do(chromedp.Evaluate[chromedp.Void](axeSource()))
		found := eval[[]violation](p, `axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => ({ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.map((n) => ({HTML: n.html, FailureSummary: n.failureSummary}))})))`)
		for _, v := range found {
			for _, n := range v.Nodes[:min(len(v.Nodes), 5)] {
				p.t.Errorf("axe, %s: %s (%s): %s\n%s\n%s", theme, v.ID, v.Impact, v.Help, n.HTML, n.FailureSummary)
			}
		}
	}
	p.theme("light")
}

// theme sets the system's theme.
func (p *page) theme(name string) {
	p.t.Helper()
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

// The tolerance of pictures: fonts and their smoothing differ a little between machines.
const (
	maxChannel  = 48   // a pixel differs if a channel does by more
	maxDiffers  = 0.02 // the largest part of pixels that may
	goldenTexts = `time, .age, .proof summary .dim, [data-varies]`
)

// fonts is an expression that is true if the page's text is in the fonts of the pictures: DejaVu Sans
// and DejaVu Sans Mono. Text in other fonts has other widths.
const fonts = `(() => {
	const pen = document.createElement("canvas").getContext("2d");
	const width = (family) => { pen.font = "72px " + family; return pen.measureText("mmmmlliWAgf 0123 (fi)").width; };
	const style = getComputedStyle(document.documentElement);
	const is = (family, font) => ["serif", "monospace"].some((other) => width('"' + font + '", ' + other) !== width(other)) && width(family) === width('"' + font + '"');
	return is(getComputedStyle(document.body).fontFamily, "DejaVu Sans") && is(style.getPropertyValue("--mono"), "DejaVu Sans Mono");
})()`

// golden compares what the page shows with a picture in testdata/golden. Ages and durations of
// answers are hidden: they change. On a machine with other fonts nothing is compared, and the test
// says so.
func (p *page) golden(name string) {
	p.t.Helper()
	if !eval[bool](p, fonts) {
		if *rewrite {
			p.t.Fatalf("%s: pictures are written where DejaVu Sans and DejaVu Sans Mono are the default fonts", name)
		}
		p.t.Logf("%s is not compared: the pictures have DejaVu Sans and DejaVu Sans Mono, which are not the default fonts here", name)
		return
	}
	p.theme("light")
	p.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{
		const sheet = new CSSStyleSheet();
		sheet.replaceSync(%q + "{visibility:hidden!important} *{caret-color:transparent!important;animation:none!important}");
		document.adoptedStyleSheets = [sheet];
		document.activeElement?.blur();
		scrollTo(0, 0);
	}`, goldenTexts)))
	shot, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatal(err)
	}
	p.do(chromedp.Evaluate[chromedp.Void](`document.adoptedStyleSheets = []`))
	path := filepath.Join("testdata", "golden", name+".png")
	if *rewrite {
		if err := os.WriteFile(path, shot, 0o644); err != nil {
			p.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatalf("%v; make integration-web REWRITE=1 writes it", err)
	}
	if why := differs(shot, want); why != "" {
		got := filepath.Join(os.TempDir(), "recount-web-"+name+".png")
		_ = os.WriteFile(got, shot, 0o600)
		p.t.Errorf("%s: %s; what it shows now is in %s", path, why, got)
	}
}

// differs says how two pictures differ, "" if they are alike.
func differs(got, want []byte) string {
	a, err := png.Decode(bytes.NewReader(got))
	if err != nil {
		return err.Error()
	}
	b, err := png.Decode(bytes.NewReader(want))
	if err != nil {
		return err.Error()
	}
	if a.Bounds() != b.Bounds() {
		return fmt.Sprintf("it is %v, not %v", a.Bounds().Size(), b.Bounds().Size())
	}
	n := 0
	for y := a.Bounds().Min.Y; y < a.Bounds().Max.Y; y++ {
		for x := a.Bounds().Min.X; x < a.Bounds().Max.X; x++ {
			if far(a, b, x, y) {
				n++
			}
		}
	}
	if part := float64(n) / float64(a.Bounds().Dx()*a.Bounds().Dy()); part > maxDiffers {
		return fmt.Sprintf("%.1f %% of it differs; %.1f %% may", 100*part, 100*maxDiffers)
	}
	return ""
}

func far(a, b image.Image, x, y int) bool {
	r1, g1, b1, _ := a.At(x, y).RGBA()
	r2, g2, b2, _ := b.At(x, y).RGBA()
	for _, d := range [][2]uint32{{r1, r2}, {g1, g2}, {b1, b2}} {
		if max(d[0], d[1])-min(d[0], d[1]) > maxChannel<<8 {
			return true
		}
	}
	return false
}
