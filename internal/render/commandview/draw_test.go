package commandview

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/internal/golden"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/schemas"
)

// told builds answers by hand: a short story in which a build breaks and is fixed while somebody
// else works beside it.
type told struct{ n byte }

var toldAt = time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)

func (t *told) intent(command string, exit int32, after time.Duration, session, cwd string) ask.Intent {
	t.n++
	in := ask.Intent{
		ID: schemas.EventID{t.n, 0xab, 0xcd, 0xef, 0, 0, 0x80, 0, 0x80}, Command: command, Time: toldAt.Add(after), Session: session, Cwd: cwd,
		Position: schemas.Position{Topic: "recount.commands", Partition: 1, Offset: int64(t.n)},
	}
	if exit >= 0 {
		in.ExitCode = &exit
	}
	return in
}

func toldEdge(from, to ask.Intent, kind string, weight float64, shows, resource string) ask.Edge {
	return ask.Edge{From: from.ID, To: to.ID, Kind: kind, Weight: weight, Rule: kind + "/1", Evidence: []ask.EdgeEvidence{
		{Position: from.Position, Shows: shows, Resource: resource},
	}}
}

const nasty = "printf \"a\\tb\\\\\" `id` [x] {y} <b>&amp; #35; %%{init: 1}%% \x1b[31m | end\nsecond; style a fill:#fff; 日本語"

type story struct {
	why                            ask.WhyResponse
	stitch                         ask.StitchResponse
	diff                           ask.DiffResponse
	insights                       ask.InsightsResponse
	ls, clone, edit, broke, fixing ask.Intent
}

func tell() story {
	var t told
	var s story
	s.clone = t.intent("git clone https://example.com/app.git", 0, 0, "tty1", "/src")
	s.ls = t.intent("ls", 0, 30*time.Second, "tty2", "/tmp")
	s.edit = t.intent("sed -i 's/-O2/-O9/' Makefile", 0, 2*time.Minute, "tty1", "/src/app")
	s.broke = t.intent("make test", 2, 3*time.Minute, "tty1", "/src/app")
	odd := t.intent(nasty, -1, 4*time.Minute, "", "/a/very/long/path/that/does/not/fit/beside/a/command/and/so/is/cut/where/it/begins")
	odd.User, odd.Host = "ada", "laptop"
	s.fixing = t.intent("git checkout Makefile", 0, 26*time.Hour, "tty1", "/src/app")
	agent := t.intent("make test", 0, 26*time.Hour+time.Minute, "agent-7", "/src/app")
	agent.Author = "claude"

	s.why = ask.WhyResponse{
		Root: s.broke,
		Causes: []ask.Cause{
			{Intent: s.edit, Score: 0.8, Depth: 1, Path: []schemas.EventID{s.broke.ID, s.edit.ID}, Why: "dependency of this: wrote path:/src/app/Makefile"},
			{Intent: s.clone, Score: 0.56, Depth: 2, Path: []schemas.EventID{s.broke.ID, s.edit.ID, s.clone.ID}, Why: "dependency of this: wrote path:/src/app/Makefile"},
			{Intent: odd, Score: 0.1, Confidence: 0.55, Depth: 1, Path: []schemas.EventID{s.broke.ID, odd.ID}, Why: "temporal of this"},
			{Intent: s.ls, Score: 0.05, Depth: 3, Path: []schemas.EventID{s.broke.ID, s.edit.ID, {0xff}, s.ls.ID}, Why: "dependency of this: wrote path:/src/app/Makefile"},
		},
		Edges: []ask.Edge{
			toldEdge(s.edit, s.broke, "dependency", 0.8, "wrote", "path:/src/app/Makefile"),
			toldEdge(s.edit, s.broke, "causal", 0.7, "two kinds of evidence", ""),
			toldEdge(s.clone, s.edit, "dependency", 0.7, "created", "path:/src/app"),
			toldEdge(odd, s.broke, "temporal", 0.1, "next in the session", ""),
		},
	}
	node := func(in ask.Intent, depth int) ask.Node { return ask.Node{Intent: in, Depth: depth} }
	similar := toldEdge(s.broke, agent, "similar", 0.93, "reads alike", "")
	similar.Evidence[0].Score = 0.934
	s.stitch = ask.StitchResponse{
		Root: s.broke.ID, Truncated: true,
		Nodes: []ask.Node{node(s.clone, 2), node(s.ls, 3), node(s.edit, 1), node(s.broke, 0), node(odd, 1), node(s.fixing, 1), node(agent, 2)},
		Edges: append([]ask.Edge{
			toldEdge(s.clone, s.edit, "temporal", 0.2, "next in the session", ""),
			toldEdge(s.clone, s.edit, "dependency", 0.7, "created", "path:/src/app"),
			toldEdge(s.broke, s.fixing, "temporal", 0.2, "next in the session", ""),
			toldEdge(s.fixing, agent, "dependency", 0.8, "wrote", "path:/src/app/Makefile"),
			toldEdge(s.broke, agent, "fixes", 0.9, "failed with exit code 2", ""),
			toldEdge(s.fixing, agent, "causal", 0.6, "two kinds of evidence", ""),
			similar,
		}, s.why.Edges[0]),
	}
	s.diff = ask.DiffResponse{
		A: agent.ID, B: s.broke.ID, Verdict: "B fails where A succeeded; first difference: arguments",
		Lines: []ask.DiffLine{
			{Way: ask.DiffCommon, A: &s.clone, B: &s.ls},
			{Way: ask.DiffChanged, A: &s.fixing, B: &s.edit, Changes: []ask.Change{{Field: "arguments", A: "Makefile", B: nasty}, {Field: "git_head", B: "2af3"}}},
			{Way: ask.DiffOnlyA, A: &odd},
			{Way: ask.DiffOnlyB, B: &s.ls},
			{Way: ask.DiffChanged, A: &agent, B: &s.broke, Changes: []ask.Change{{Field: "outcome", A: "ok", B: "exit 2"}}},
		},
		Counts: map[string]int64{"common": 1, "changed": 2, "only_a": 1, "only_b": 1},
	}
	s.insights = ask.InsightsResponse{
		Commands:  12345,
		Templates: []ask.TemplateStat{{Template: "make <arg>", Runs: 1200, Failed: 30, FailureRate: 0.025, Sessions: 31, Last: toldAt}, {Template: strings.Repeat("very ", 30) + "long", Runs: 2, Last: toldAt}},
		Sequences: []ask.SequenceStat{{Templates: []string{"git add <path>", "git commit <flags>", "git push"}, Runs: 42, Sessions: 17, Lift: 8.52}},
		Failures:  []ask.FailureCluster{{Template: "make <arg>", ExitCode: 2, Runs: 30, Fixed: 29, Sessions: 12, Last: toldAt, Signature: "undefined: <arg>"}},
		After:     &s.broke,
		Next:      []ask.Suggestion{{Command: "git checkout Makefile", Probability: 0.64, Times: 16, Of: 24, Given: "make <arg>, failed"}},
	}
	return s
}

// TestDraw compares the output for people with testdata/draw; -rewrite updates it.
func TestDraw(t *testing.T) {
	s := tell()
	for name, draw := range map[string]func(d *render.Drawing){
		"why":      func(d *render.Drawing) { Why(d, s.why) },
		"stitch":   func(d *render.Drawing) { Stitch(d, s.stitch) },
		"diff":     func(d *render.Drawing) { Diff(d, s.diff) },
		"insights": func(d *render.Drawing) { Insights(d, s.insights) },
		"nothing": func(d *render.Drawing) {
			Why(d, ask.WhyResponse{Root: s.ls, Basis: query.Basis{Hint: "no edge leads to it"}})
			Diff(d, ask.DiffResponse{A: s.ls.ID, B: s.ls.ID})
			Insights(d, ask.InsightsResponse{})
		},
	} {
		for _, how := range []struct {
			suffix string
			width  int
			colour bool
		}{{"", 80, false}, {"-wide", 0, false}, {"-colour", 80, true}} {
			t.Run(name+how.suffix, func(t *testing.T) {
				var out strings.Builder
				d := &render.Drawing{Terminal: &render.Terminal{Out: &out, Colour: how.colour}, Width: how.width, Now: toldAt.Add(100 * time.Hour)}
				utc(t)
				draw(d)
				plain := regexp.MustCompile(`\x1b\[[0-9]*m`).ReplaceAllString(out.String(), "")
				if how.colour {
					// Colours change nothing else, and each ends within its line.
					var uncoloured strings.Builder
					draw(&render.Drawing{Terminal: &render.Terminal{Out: &uncoloured}, Width: how.width, Now: d.Now})
					if plain != uncoloured.String() {
						t.Error(cmp.Diff(plain, uncoloured.String()))
					}
					for line := range strings.Lines(out.String()) {
						if strings.Count(line, "\x1b[0m")*2 != strings.Count(line, "\x1b[") {
							t.Errorf("a colour goes on: %q", line)
						}
					}
					return
				}
				for line := range strings.Lines(plain) {
					line = strings.TrimSuffix(line, "\n")
					if strings.ContainsAny(line, "\x1b\r") {
						t.Errorf("a control character is sent: %q", line)
					}
					if how.width > 0 && render.Columns(line) > how.width {
						t.Errorf("%d columns: %s", render.Columns(line), line)
					}
				}
				golden.Check(t, filepath.Join("testdata", "draw", name+how.suffix+".txt"), plain)
			})
		}
	}
}

// utc sets the local time zone to that of the golden files.
func utc(t *testing.T) {
	was := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = was })
}
