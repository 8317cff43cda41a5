package terminalsearch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/recountdb/recount/internal/golden"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/query/commands/match"
	"github.com/recountdb/recount/schemas"
)

var now = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

// fake answers from a list of commands, as a server would.
type fake struct {
	hits []ask.SearchHit
	// err is answered instead, if it is not nil.
	err     error
	mu      sync.Mutex // guards asked: on a terminal each question has a goroutine of its own
	asked   []ask.SearchRequest
	arounds []string
	verbs   []string
}

func (f *fake) Search(ctx context.Context, r ask.SearchRequest) (ask.SearchResponse, error) {
	f.mu.Lock()
	f.asked = append(f.asked, r)
	f.mu.Unlock()
	if ctx.Err() != nil {
		return ask.SearchResponse{}, ctx.Err()
	}
	if f.err != nil {
		return ask.SearchResponse{}, f.err
	}
	var s seen
	s.keep(f.hits)
	resp := s.search(r)
	resp.Authors = []string{"claude"}
	if len(resp.Hits) == 0 {
		resp.Status, resp.Hint = query.StatusEmpty, "no command matches the text"
	}
	return resp, nil
}

func (f *fake) Around(_ context.Context, r ask.AroundRequest) (ask.AroundResponse, error) {
	f.arounds = append(f.arounds, r.Ref)
	if f.err != nil {
		return ask.AroundResponse{}, f.err
	}
	var resp ask.AroundResponse
	for i, h := range f.hits {
		if h.Position.String() != r.Ref {
			continue
		}
		resp.Root = h.Intent
		if i+1 < len(f.hits) {
			resp.Before = []ask.Intent{f.hits[i+1].Intent}
		}
		if i > 0 {
			resp.After = []ask.Intent{f.hits[i-1].Intent}
		}
	}
	resp.GitHead, resp.Record = "0123456789abcdef", ask.Record{Runs: 4, Looked: 4, OK: 3, Failed: 1}
	if resp.Root.ExitCode != nil && *resp.Root.ExitCode != 0 {
		resp.OutputTail = "line one\nerror: \x1b[31mmissing\x1b[0m separator"
		resp.Causes = []ask.Reason{{Intent: f.hits[len(f.hits)-1].Intent, Why: "it wrote Makefile, which this reads"}}
		resp.Fixes = []ask.Reason{{Intent: f.hits[0].Intent, Why: "it succeeded"}}
	}
	return resp, nil
}

func (f *fake) Verb(_ context.Context, args ...string) (string, error) {
	f.verbs = append(f.verbs, strings.Join(args, " "))
	return "what the verb prints\nin lines \x1b]0;title\a", f.err
}

// history returns a list of commands, the newest first.
func history(commands ...string) []ask.SearchHit {
	var hits []ask.SearchHit
	for i, c := range commands {
		exit, took := int32(0), int64(i)*1_700_000_000
		if strings.Contains(c, "test") {
			exit = 2
		}
		h := ask.SearchHit{Runs: 1 + 7*(i%3), Intent: ask.Intent{
			Command: c, Cwd: fmt.Sprintf("/home/ada/src/app%d", i%2), Session: "s", Host: "box",
			Time: now.Add(-time.Duration(i*i) * time.Hour), ExitCode: &exit, Duration: &took,
			Position: schemas.Position{Topic: "recount.commands", Offset: int64(i)},
		}}
		h.ID[0] = byte(i + 1)
		hits = append(hits, h)
	}
	return hits
}

var usual = []string{"make", "git push origin main", "docker image prune -af", "make test", "kubectl get pods --namespace production --output wide --show-labels", "vim Makefile"}

// screen is an interface in a terminal of a size, without one.
type screen struct {
	*Model
	t    *testing.T
	fake *fake
}

func newScreen(t *testing.T, width, height int, o Options, commands ...string) *screen {
	t.Helper()
	f := &fake{hits: history(commands...)}
	o.Now, o.HomeDir = func() time.Time { return now }, "/home/ada"
	o.Here = Here{Cwd: "/home/ada/src/app0", Workspace: "/home/ada/src", Session: "s", Host: "box"}
	s := &screen{Model: New(t.Context(), f, o), t: t, fake: f}
	s.after = func(time.Duration, tea.Msg) tea.Cmd { return nil } // the test sends it
	s.Resize(width, height)
	s.do(s.Init())
	return s
}

// do runs a command and what follows from it.
func (s *screen) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			s.do(c)
		}
	default:
		_, next := s.Update(msg)
		s.do(next)
	}
}

// keys presses keys: names as bubbletea writes them, or letters.
func (s *screen) keys(keys ...string) *screen {
	for _, k := range keys {
		for _, p := range presses(k) {
			_, cmd := s.Update(p)
			s.do(cmd)
		}
	}
	return s
}

var named = map[string]rune{
	"enter": tea.KeyEnter, "tab": tea.KeyTab, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft,
	"right": tea.KeyRight, "backspace": tea.KeyBackspace, "pgup": tea.KeyPgUp, "f1": tea.KeyF1, "home": tea.KeyHome,
}

func presses(k string) []tea.KeyPressMsg {
	if code, ok := named[k]; ok {
		return []tea.KeyPressMsg{{Code: code}}
	}
	if rest, ok := strings.CutPrefix(k, "ctrl+"); ok {
		return []tea.KeyPressMsg{{Code: rune(rest[0]), Mod: tea.ModCtrl}}
	}
	if rest, ok := strings.CutPrefix(k, "alt+"); ok {
		return []tea.KeyPressMsg{{Code: rune(rest[0]), Mod: tea.ModAlt}}
	}
	var all []tea.KeyPressMsg
	for _, r := range k {
		all = append(all, tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	return all
}

// text returns what is drawn.
func (s *screen) text() string { return s.View().Content }

// golden compares what is drawn, and checks that it fits the terminal and hides nothing.
func (s *screen) golden(name string) {
	s.t.Helper()
	s.fits()
	lines := strings.Split(s.text(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	c := s.View().Cursor
	golden.Check(s.t, filepath.Join("testdata", name+".txt"), fmt.Sprintf("%s\n-- cursor %d,%d\n", strings.Join(lines, "\n"), c.X, c.Y))
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// fits checks that what is drawn has no line that is too long, not too many lines, and no character
// that a terminal obeys except for our colours.
func (s *screen) fits() {
	s.t.Helper()
	text := sgr.ReplaceAllString(s.text(), "")
	lines := strings.Split(text, "\n")
	if len(lines) > s.height {
		s.t.Errorf("%d lines in a terminal of %d", len(lines), s.height)
	}
	for _, l := range lines {
		if n := render.Columns(l); n > s.width {
			s.t.Errorf("%d columns in a terminal of %d: %q", n, s.width, l)
		}
		if l != "" && render.PlainText(l) != l {
			s.t.Errorf("not plain: %q", l)
		}
	}
	if c := s.View().Cursor; c != nil && (c.X < 0 || c.X >= s.width || c.Y < 0 || c.Y >= len(lines)) {
		s.t.Errorf("the cursor is at %d,%d", c.X, c.Y)
	}
}

func TestScreens(t *testing.T) {
	t.Run("80x24", func(t *testing.T) { newScreen(t, 80, 24, Options{}, usual...).golden("80x24") })
	t.Run("typed", func(t *testing.T) { newScreen(t, 80, 24, Options{}, usual...).keys("mak", "up").golden("typed") })
	t.Run("40 columns", func(t *testing.T) { newScreen(t, 40, 24, Options{}, usual...).keys("make").golden("40x24") })
	t.Run("10x3", func(t *testing.T) { newScreen(t, 10, 3, Options{}, usual...).keys("make").golden("10x3") })
	t.Run("context", func(t *testing.T) {
		newScreen(t, 80, 24, Options{}, usual...).keys("make tes", "ctrl+o").golden("context-80x24")
	})
	t.Run("context, wide", func(t *testing.T) {
		newScreen(t, 130, 24, Options{}, usual...).keys("make tes", "ctrl+o").golden("context-130x24")
	})
	t.Run("context, 40 columns", func(t *testing.T) {
		newScreen(t, 40, 24, Options{}, usual...).keys("make tes", "ctrl+o").golden("context-40x24")
	})
	t.Run("context, 10x3", func(t *testing.T) {
		newScreen(t, 10, 3, Options{}, usual...).keys("make tes", "ctrl+o").golden("context-10x3")
	})
	t.Run("walked", func(t *testing.T) {
		newScreen(t, 80, 24, Options{}, usual...).keys("make tes", "ctrl+o", "right", "enter").golden("walked")
	})
	t.Run("keys at 40 columns", func(t *testing.T) { newScreen(t, 40, 40, Options{}, usual...).keys("f1").golden("keys-40x40") })
	t.Run("keys", func(t *testing.T) { newScreen(t, 80, 24, Options{}, usual...).keys("f1").golden("keys") })
	t.Run("empty log", func(t *testing.T) { newScreen(t, 80, 24, Options{}).golden("empty") })
	t.Run("nothing found", func(t *testing.T) { newScreen(t, 40, 24, Options{}, usual...).keys("qqq").golden("nothing") })
	t.Run("verb", func(t *testing.T) { newScreen(t, 80, 24, Options{}, usual...).keys("alt+s").golden("stitch") })
	t.Run("colours", func(t *testing.T) {
		newScreen(t, 80, 12, Options{Colour: true}, usual...).keys("mak").golden("colours")
	})
}

func TestFromMatch(t *testing.T) {
	long := "cd /workspace/a_long_name/build && make clean && make"
	for _, c := range []struct {
		name, text, words string
		columns           int
		want              string
	}{
		{"fits", "make clean", "clean", 12, "make clean"},
		{"the match is visible in a long text", long, "workspace", 30, long},
		{"the match is beyond the end", long, "make", 30, "…build && make clean && make"},
		{"nothing matches its letters", long, "zzz", 30, long},
		{"no text was typed", long, "", 30, long},
		{"wide characters before it", "echo 日本語日本語日本語 && make", "make", 18, "… && make"},
		{"hardly any room", long, "make", 2, "…make clean && make"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := fromMatch(c.text, match.Words(c.words), c.columns); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestChoosing(t *testing.T) {
	for _, c := range []struct {
		name string
		keys []string
		want Choice
	}{
		{"enter runs", []string{"enter"}, Choice{"make", true}},
		{"up is older", []string{"up", "up", "down", "enter"}, Choice{"git push origin main", true}},
		{"tab edits", []string{"push", "tab"}, Choice{"git push origin main", false}},
		{"escape leaves", []string{"push", "esc"}, Choice{}},
		{"control-c leaves", []string{"push", "ctrl+c"}, Choice{}},
		{"tab keeps what was typed if nothing matches", []string{"qqq", "tab"}, Choice{"qqq", false}},
		{"one of the context", []string{"tes", "ctrl+o", "right", "tab"}, Choice{"kubectl get pods --namespace production --output wide --show-labels", false}},
		{"typing leaves the context", []string{"tes", "ctrl+o", "right", "t", "enter"}, Choice{"make test", true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScreen(t, 80, 24, Options{}, usual...).keys(c.keys...)
			if s.Choice() != c.want || !s.done {
				t.Errorf("got %+v, done %v", s.Choice(), s.done)
			}
			if s.text() != "" {
				t.Errorf("left on the screen: %q", s.text())
			}
		})
	}
}

// TestFilters checks what the keys for filters ask.
func TestFilters(t *testing.T) {
	s := newScreen(t, 80, 24, Options{Filters: ask.Filters{Program: "make"}}, usual...)
	last := func() ask.SearchRequest { return s.fake.asked[len(s.fake.asked)-1] }
	for _, c := range []struct {
		key  string
		want ask.SearchRequest
		says string
	}{
		{"ctrl+r", ask.SearchRequest{Filters: ask.Filters{Cwd: "/home/ada/src/app0"}}, "this directory"},
		{"ctrl+r", ask.SearchRequest{Filters: ask.Filters{Workspace: "/home/ada/src"}}, "this workspace"},
		{"ctrl+r", ask.SearchRequest{Filters: ask.Filters{Session: "s"}}, "this session"},
		{"ctrl+r", ask.SearchRequest{Filters: ask.Filters{Host: "box"}}, "this host"},
		{"ctrl+r", ask.SearchRequest{}, "everywhere"},
		{"alt+x", ask.SearchRequest{Filters: ask.Filters{Exit: "fail"}}, "failed"},
		{"alt+x", ask.SearchRequest{Filters: ask.Filters{Exit: "ok"}}, "worked"},
		{"alt+x", ask.SearchRequest{}, "everywhere"},
		{"alt+a", ask.SearchRequest{People: true}, "by people"},
		{"alt+a", ask.SearchRequest{Filters: ask.Filters{Author: "claude"}}, "by claude"},
		{"alt+a", ask.SearchRequest{}, "everywhere"},
		{"alt+t", ask.SearchRequest{Filters: ask.Filters{Since: now.Add(-time.Hour)}}, "last hour"},
		{"alt+t", ask.SearchRequest{Filters: ask.Filters{Since: now.Add(-24 * time.Hour)}}, "last day"},
		{"alt+t", ask.SearchRequest{Filters: ask.Filters{Since: now.Add(-7 * 24 * time.Hour)}}, "last week"},
		{"alt+t", ask.SearchRequest{Filters: ask.Filters{Since: now.Add(-30 * 24 * time.Hour)}}, "last month"},
		{"alt+t", ask.SearchRequest{}, "everywhere"},
		{"ctrl+s", ask.SearchRequest{Mode: ask.ModeFuzzy}, "fuzzy"},
		{"ctrl+s", ask.SearchRequest{Mode: ask.ModeExact}, "exact"},
		{"ctrl+s", ask.SearchRequest{Mode: ask.ModeMeaning}, "meaning"},
		{"ctrl+s", ask.SearchRequest{Mode: ask.ModeBest}, "best"},
	} {
		s.keys(c.key)
		c.want.Filters.Program = "make"
		if c.want.Mode == "" {
			c.want.Mode = ask.ModeBest
		}
		if got := last(); got.Filters != c.want.Filters || got.People != c.want.People || got.Mode != c.want.Mode {
			t.Errorf("%s asks %+v, want %+v", c.key, got, c.want)
		}
		if !strings.Contains(s.text(), c.says) || !strings.Contains(s.text(), "program make") {
			t.Errorf("%s is not shown:\n%s", c.says, s.text())
		}
	}
}

// TestAway checks what happens when the server dies and comes back.
func TestAway(t *testing.T) {
	s := newScreen(t, 80, 24, Options{}, usual...)
	s.fake.err = ErrAway
	s.keys("push")
	s.golden("away")
	if h := s.hit(); h == nil || h.Command != "git push origin main" {
		t.Errorf("selected %+v", h)
	}
	s.keys("ctrl+o") // also fails
	s.fits()
	s.fake.err = nil
	s.keys("esc")
	_, cmd := s.Update(againMsg{s.number})
	s.do(cmd)
	if s.away || !strings.Contains(s.text(), "answers again") {
		t.Errorf("still away:\n%s", s.text())
	}
	s.fake.err = errors.New("a bug\x1b[2J")
	s.keys("x")
	if s.fits(); !strings.Contains(s.text(), "a bug") {
		t.Errorf("not told:\n%s", s.text())
	}
}

// TestOutdatedAnswers checks that an answer that comes after a newer question is not shown, and that
// the older question is given up.
func TestOutdatedAnswers(t *testing.T) {
	s := newScreen(t, 80, 24, Options{}, usual...)
	_, slow := s.Update(presses("p")[0])
	_, quick := s.Update(presses("u")[0])
	s.do(quick)
	want := s.text()
	msg := slow().(answerMsg)
	if !errors.Is(msg.err, context.Canceled) {
		t.Errorf("the outdated question: %v", msg.err)
	}
	msg.err, msg.resp = nil, ask.SearchResponse{Hits: history("outdated")}
	s.Update(msg)
	if s.text() != want {
		t.Errorf("shown:\n%s", s.text())
	}
}

// TestHostile draws commands that want to do something to the terminal, in every size.
func TestHostile(t *testing.T) {
	hostile := []string{
		"echo \x1b[2J\x1b]0;title\a\x1b[?1049h", "a\rb\nc\td", "\u202eevil\u202c \u2066x\u2069", "\x9b31m\xff\xfe", "\u0085\u2028\u2029",
		strings.Repeat("x", 1<<20), "👨‍👩‍👧‍👦🇩🇪é漢字" + strings.Repeat("漢", 100), "", "\u200b\u0301\u0301\u0301", "'; rm -rf / #",
	}
	for _, size := range [][2]int{{80, 24}, {40, 10}, {10, 3}, {1, 1}, {2, 2}, {200, 60}, {12, 5}, {30, 6}} {
		s := newScreen(t, size[0], size[1], Options{Colour: true}, hostile...)
		for _, k := range []string{"ctrl+o", "right", "down", "enter", "left", "alt+s", "esc", "up", "e", "ctrl+o", "f1", "q", "backspace", "up", "up"} {
			s.keys(k)
			s.fits()
			if s.done {
				t.Fatalf("%s ended it", k)
			}
		}
		s.Update(tea.PasteMsg{Content: "a\x1b[2Jb\nc\u202e"})
		s.fits()
		s.Update(tea.WindowSizeMsg{Width: size[1], Height: size[0]})
		s.fits()
	}
}

// TestHiddenCharactersAreNotRun checks that enter does not run what is shown other than it is.
func TestHiddenCharactersAreNotRun(t *testing.T) {
	s := newScreen(t, 80, 24, Options{}, "ls \u202efr- mr").keys("enter")
	if s.Choice().Run || s.Choice().Command == "" {
		t.Errorf("got %+v", s.Choice())
	}
}

// TestPaneWithoutRoom checks that neighbours give way to why a command failed and what it printed, the
// farthest first, and that they are there again when keys choose among them.
func TestPaneWithoutRoom(t *testing.T) {
	s := newScreen(t, 80, 30, Options{}, usual...).keys("make tes", "ctrl+o")
	for i := range 3 {
		s.pane.resp.Before = append([]ask.Intent{{Command: fmt.Sprintf("before %d", 3-i)}}, s.pane.resp.Before...)
		s.pane.resp.After = append(s.pane.resp.After, ask.Intent{Command: fmt.Sprintf("after %d", i)})
	}
	rows := s.pane.rows(s.Model, 80)
	fits := func(room int) string {
		var all []string
		for _, r := range s.pane.fit(slices.Clone(rows), room) {
			all = append(all, r.text)
		}
		return strings.Join(all, "\n")
	}
	if got := fits(len(rows)); !strings.Contains(got, "before 3") || !strings.Contains(got, "after 2") {
		t.Errorf("with room for all:\n%s", got)
	}
	got := fits(len(rows) - 4)
	for text, want := range map[string]bool{"before 1": false, "before 2": false, "before 3": true, "after 0": true, "after 1": false, "what fixed it": true, "separator": true} {
		if strings.Contains(got, text) != want {
			t.Errorf("%q is there: %v, want %v, in\n%s", text, !want, want, got)
		}
	}
	got = fits(3)
	for text, want := range map[string]bool{"before": false, "kubectl": true, "» ": true, "docker": true, "after": false, "separator": true} {
		if strings.Contains(got, text) != want {
			t.Errorf("%q is there: %v, want %v, in\n%s", text, !want, want, got)
		}
	}
}

// TestMore checks that the end of the list asks for more, and that the selection stays.
func TestMore(t *testing.T) {
	var many []string
	for i := range 120 {
		many = append(many, fmt.Sprintf("command %d", i))
	}
	s := newScreen(t, 80, 24, Options{}, many...)
	for range ask.DefaultSearchLimit {
		s.keys("up")
	}
	if h := s.hit(); len(s.resp.Hits) != 120 || h.Command != "command 50" {
		t.Errorf("%d hits, %q selected", len(s.resp.Hits), h.Command)
	}
}

// TestStalePane checks that circumstances which arrive late are not shown for another command.
func TestStalePane(t *testing.T) {
	s := newScreen(t, 80, 24, Options{}, usual...).keys("ctrl+o")
	slow := s.move(1)
	s.keys("up")
	s.do(slow)
	if s.pane.of.Command != "docker image prune -af" || s.pane.resp.Root.Command != s.pane.of.Command {
		t.Errorf("pane of %q shows %q", s.pane.of.Command, s.pane.resp.Root.Command)
	}
}

func TestVerbs(t *testing.T) {
	s := newScreen(t, 80, 24, Options{}, usual...)
	s.keys("alt+s", "esc", "alt+c", "esc", "alt+r")
	id := s.fake.hits[0].ID.String()
	want := "stitch " + id + "|diff " + id + "|replay --plan " + id
	if got := strings.Join(s.fake.verbs, "|"); got != want {
		t.Errorf("ran %s, want %s", got, want)
	}
	if s.keys("esc"); s.page != nil || s.done {
		t.Error("the page did not close alone")
	}
}

func TestCopy(t *testing.T) {
	s := newScreen(t, 80, 24, Options{}, usual...)
	_, cmd := s.Update(presses("ctrl+y")[0])
	if got, want := fmt.Sprint(cmd()), "make"; got != want {
		t.Errorf("copies %q, want %q", got, want)
	}
	if !strings.Contains(s.text(), "copied") {
		t.Error("not told")
	}
}

func TestPlain(t *testing.T) {
	f := &fake{hits: history(append([]string{"echo \u202e\x1b[2J"}, usual...)...)}
	o := Options{Now: func() time.Time { return now }, HomeDir: "/home/ada", Here: Here{Cwd: "/home/ada/src/app0", Session: "s"}}
	var out strings.Builder
	c, err := Plain(t.Context(), strings.NewReader("help\nmake\nabout 2\nfailed\nabout 9\n7\nany\nhere\nmore\n1\n"), &out, f, o)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&out, "\n-- chose %q, run %v\n", c.Command, c.Run)
	golden.Check(t, "testdata/plain.txt", out.String())
	if strings.ContainsAny(out.String(), "\x1b\u202e") {
		t.Error("not plain")
	}
}
