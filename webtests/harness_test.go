// Package webtests tests the page in a real browser: Chromium, driven by chromedp over its debugging
// protocol, against recount up. It is a module of its own, so that a user's build does not carry
// what only it needs (decision 67).
//
//	make integration-web
//
// runs it, with the programs in bin and the Chromium that is installed. Without RECOUNT_CHROMIUM its
// tests are skipped. A test that compares a picture fails if more than a small part of it differs
// from testdata/golden; -rewrite writes the pictures anew. Look at them before you commit them.
//
// A test is: a site (startSite, or sample for the shared one with data), a page on it (site.page),
// steps (open, wait, press, eval), and checks (axe, golden). When it ends, a page fails its test if
// the browser reported an error, an exception, or something that the content security policy
// forbade. Tests run side by side, but for those that measure time and those that start a server again
// on the port it had, which another test's server may have taken.
package webtests

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var rewrite = flag.Bool("rewrite", false, "write the pictures in testdata/golden anew")

// patience bounds each wait: a machine may be busy. It measures nothing.
const patience = 60 * time.Second

var (
	chromium string          // the browser's path
	recount  string          // the program's path
	browsing context.Context // of the browser, from TestMain
	shared   struct {
		once sync.Once
		site *site
		dir  string
	}
)

func TestMain(m *testing.M) {
	flag.Parse()
	chromium, recount = os.Getenv("RECOUNT_CHROMIUM"), os.Getenv("RECOUNT_BIN")
	if chromium == "" || recount == "" {
		fmt.Println("webtests: skipped: want RECOUNT_CHROMIUM and RECOUNT_BIN (make integration-web)")
		os.Exit(0)
	}
	os.Exit(func() int {
		allocator, cancel := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.DisableGPU,
			chromedp.Flag("hide-scrollbars", true), chromedp.Flag("font-render-hinting", "none"),
			chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("disable-lcd-text", true),
			chromedp.Env("TZ=UTC", "LANG=C.UTF-8"))...)
		defer cancel()
		var stop context.CancelFunc
		browsing, stop = chromedp.NewContext(allocator)
		defer stop()
		if err := chromedp.Do(browsing); err != nil {
			fmt.Println("webtests: start the browser:", err)
			return 1
		}
		defer func() {
			if shared.site != nil {
				shared.site.stop()
				os.RemoveAll(shared.dir)
			}
		}()
		return m.Run()
	}())
}

// site is a running server.
type site struct {
	dir, url string
	args     []string
	token    string // the operator's, if the server asks for one
	process  *exec.Cmd
}

// startSite starts a server in a directory of its own, with further arguments of recount up.
func startSite(t *testing.T, args ...string) *site {
	t.Helper()
	s := &site{dir: t.TempDir(), args: args}
	if err := s.start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	return s
}

func (s *site) start(listen string) error {
	endpoints := filepath.Join(s.dir, "endpoints.json")
	os.Remove(endpoints)
	s.process = s.command(append([]string{"up", "--http", listen, "--kafka", "none", "--otlp-grpc", "none", "--otlp-http", "none"}, s.args...)...)
	var out bytes.Buffer
	s.process.Stdout, s.process.Stderr = &out, &out
	if err := s.process.Start(); err != nil {
		return err
	}
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		b, err := os.ReadFile(endpoints)
		var e struct{ HTTP string }
		if err != nil || json.Unmarshal(b, &e) != nil || e.HTTP == "" {
			continue
		}
		if r, err := http.Get(e.HTTP + "/readyz"); err == nil {
			r.Body.Close()
			if r.StatusCode == 200 {
				s.url = e.HTTP
				return nil
			}
		}
	}
	s.stop()
	return fmt.Errorf("recount up is not ready:\n%s", out.String())
}

// command is recount with this site's data directory and nothing of the machine's configuration.
func (s *site) command(args ...string) *exec.Cmd {
	c := exec.Command(recount, args...)
	c.Env = []string{"HOME=" + s.dir, "PATH=" + os.Getenv("PATH"), "RECOUNT_DATA_DIR=" + s.dir, "TZ=UTC", "GIT_CONFIG_NOSYSTEM=1"}
	return c
}

func (s *site) stop() {
	if s.process != nil {
		_ = s.process.Process.Signal(os.Interrupt)
		_ = s.process.Wait()
		s.process = nil
	}
}

// again starts the server on the address it had.
func (s *site) again(t *testing.T) {
	t.Helper()
	if err := s.start(strings.TrimPrefix(s.url, "http://")); err != nil {
		t.Fatal(err)
	}
}

// run runs a verb of recount against the site.
func (s *site) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := s.command(args...).CombinedOutput()
	if err != nil {
		t.Fatalf("recount %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// append appends events to a topic, one a line.
func (s *site) append(t *testing.T, topic, lines string) {
	t.Helper()
	q, err := http.NewRequest("POST", s.url+"/v1/events?topic="+topic, strings.NewReader(lines))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/x-ndjson")
	if s.token != "" {
		q.Header.Set("Authorization", "Bearer "+s.token)
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var answer bytes.Buffer
	_, _ = answer.ReadFrom(r.Body)
	if r.StatusCode != 200 {
		t.Fatalf("append: %s %s", r.Status, answer.String())
	}
}

// step is one thing that a page is made to do.
type step = chromedp.Action[chromedp.Void]

// page is a tab of the browser.
type page struct {
	t    *testing.T
	ctx  context.Context
	site *site

	mu       sync.Mutex
	problems []string
	// expected are parts of problems that the test brings about.
	expected []string
}

// page opens a tab of a size. When the test ends, the page fails it for each problem that the browser
// reported and the test did not expect.
func (s *site) page(t *testing.T, width, height int64) *page {
	t.Helper()
	p := &page{t: t, site: s}
	ctx, cancel := chromedp.NewContext(browsing, chromedp.WithNewBrowserContext(), chromedp.WithListener(p.listen))
	p.ctx = ctx
	t.Cleanup(func() {
		p.mu.Lock()
		for _, problem := range p.problems {
			if !p.expects(problem) {
				t.Errorf("the browser reports: %s", problem)
			}
		}
		p.mu.Unlock()
		cancel()
	})
	if err := chromedp.Do(ctx); err != nil { // without a deadline: the tab lives as long as this context
		t.Fatal(err)
	}
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 600})
	return p
}

// listen notes what the browser reports: exceptions, the console, requests that failed, and what the
// content security policy forbade.
func (p *page) listen(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			text += " " + x.Description
		}
		p.problem("exception: " + text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" || e.Type == "assert" {
			text := "console:"
			for _, a := range e.Args {
				text += " " + string(a.Value) + a.Description
			}
			p.problem(text)
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" || e.Entry.Level == "warning" {
			p.problem(string(e.Entry.Source) + ": " + e.Entry.Text + " " + e.Entry.URL)
		}
	}
}

// call sends a command of the debugging protocol.
func call[P, R any](p *page, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	r, err := chromedp.Call(p.ctx, command, params)
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

func (p *page) problem(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems = append(p.problems, text)
}

func (p *page) expects(problem string) bool {
	for _, part := range p.expected {
		if strings.Contains(problem, part) {
			return true
		}
	}
	return false
}

// do runs steps.
func (p *page) do(steps ...step) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.t.Fatalf("%v; the page shows:\n%s", err, p.shows())
	}
}

// shows returns the text of the page, for a test that fails.
func (p *page) shows() string {
	ctx, cancel := context.WithTimeout(p.ctx, 5*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText`))
	if err != nil {
		text = err.Error()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return text + "\n" + strings.Join(p.problems, "\n")
}

// open goes to a path and waits until a condition (an expression of JavaScript) holds.
func (p *page) open(path, until string) {
	p.t.Helper()
	p.do(chromedp.Navigate(p.site.url + path))
	p.wait(until)
}

// wait waits until an expression of JavaScript is true. The policy of the page lets a script compile
// no other, so the expression is sent anew each time.
func (p *page) wait(condition string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	for {
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`!!(`+condition+`)`))
		if ok {
			return
		}
		select {
		case <-ctx.Done():
			p.t.Fatalf("wait for %s: %v; the page shows:\n%s", condition, err, p.shows())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// press sends a key as a keyboard does.
func (p *page) press(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		p.do(chromedp.KeyEvent(key))
	}
}

// eval evaluates an expression, which may be a promise, into a value of Go.
func eval[T any](p *page, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression[:min(len(expression), 300)], err)
	}
	return v
}

// has is an expression that is true if the page's text has a string.
func has(text string) string {
	return fmt.Sprintf("document.body.innerText.includes(%q)", text)
}
