package main

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/internal/golden"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
)

// told builds answers by hand: a short story in which a build breaks and is fixed while somebody
// else works beside it.
type told struct{ n byte }

var toldAt = time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)

func (t *told) intent(command string, exit int32, after time.Duration, session, cwd string) commands.Intent {
	t.n++
	in := commands.Intent{
		ID: schemas.EventID{t.n, 0xab, 0xcd, 0xef, 0, 0, 0x80, 0, 0x80}, Command: command, Time: toldAt.Add(after), Session: session, Cwd: cwd,
		Position: schemas.Position{Topic: "recount.commands", Partition: 1, Offset: int64(t.n)},
	}
	if exit >= 0 {
		in.ExitCode = &exit
	}
	return in
}

func toldEdge(from, to commands.Intent, kind string, weight float64, shows, resource string) commands.Edge {
	return commands.Edge{From: from.ID, To: to.ID, Kind: kind, Weight: weight, Rule: kind + "/1", Evidence: []commands.EdgeEvidence{
		{Position: from.Position, Shows: shows, Resource: resource},
	}}
}

const nasty = "printf \"a\\tb\\\\\" `id` [x] {y} <b>&amp; #35; %%{init: 1}%% \x1b[31m | end\nsecond; style a fill:#fff; 日本語"

type story struct {
	why                            commands.WhyResponse
	stitch                         commands.StitchResponse
	diff                           commands.DiffResponse
	insights                       commands.InsightsResponse
	ls, clone, edit, broke, fixing commands.Intent
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

	s.why = commands.WhyResponse{
		Root: s.broke,
		Causes: []commands.Cause{
			{Intent: s.edit, Score: 0.8, Depth: 1, Path: []schemas.EventID{s.broke.ID, s.edit.ID}, Why: "dependency of this: wrote path:/src/app/Makefile"},
			{Intent: s.clone, Score: 0.56, Depth: 2, Path: []schemas.EventID{s.broke.ID, s.edit.ID, s.clone.ID}, Why: "dependency of this: wrote path:/src/app/Makefile"},
			{Intent: odd, Score: 0.1, Depth: 1, Path: []schemas.EventID{s.broke.ID, odd.ID}, Why: "temporal of this"},
			{Intent: s.ls, Score: 0.05, Depth: 3, Path: []schemas.EventID{s.broke.ID, s.edit.ID, {0xff}, s.ls.ID}, Why: "dependency of this: wrote path:/src/app/Makefile"},
		},
		Edges: []commands.Edge{
			toldEdge(s.edit, s.broke, "dependency", 0.8, "wrote", "path:/src/app/Makefile"),
			toldEdge(s.edit, s.broke, "causal", 0.7, "two kinds of evidence", ""),
			toldEdge(s.clone, s.edit, "dependency", 0.7, "created", "path:/src/app"),
			toldEdge(odd, s.broke, "temporal", 0.1, "next in the session", ""),
		},
	}
	node := func(in commands.Intent, depth int) commands.Node { return commands.Node{Intent: in, Depth: depth} }
	similar := toldEdge(s.broke, agent, "similar", 0.93, "reads alike", "")
	similar.Evidence[0].Score = 0.934
	s.stitch = commands.StitchResponse{
		Root: s.broke.ID, Truncated: true,
		Nodes: []commands.Node{node(s.clone, 2), node(s.ls, 3), node(s.edit, 1), node(s.broke, 0), node(odd, 1), node(s.fixing, 1), node(agent, 2)},
		Edges: append([]commands.Edge{
			toldEdge(s.clone, s.edit, "temporal", 0.2, "next in the session", ""),
			toldEdge(s.clone, s.edit, "dependency", 0.7, "created", "path:/src/app"),
			toldEdge(s.broke, s.fixing, "temporal", 0.2, "next in the session", ""),
			toldEdge(s.fixing, agent, "dependency", 0.8, "wrote", "path:/src/app/Makefile"),
			toldEdge(s.broke, agent, "fixes", 0.9, "failed with exit code 2", ""),
			toldEdge(s.fixing, agent, "causal", 0.6, "two kinds of evidence", ""),
			similar,
		}, s.why.Edges[0]),
	}
	s.diff = commands.DiffResponse{
		A: agent.ID, B: s.broke.ID, Verdict: "B fails where A succeeded; first difference: arguments",
		Lines: []commands.DiffLine{
			{Way: commands.DiffCommon, A: &s.clone, B: &s.ls},
			{Way: commands.DiffChanged, A: &s.fixing, B: &s.edit, Changes: []commands.Change{{Field: "arguments", A: "Makefile", B: nasty}, {Field: "git_head", B: "2af3"}}},
			{Way: commands.DiffOnlyA, A: &odd},
			{Way: commands.DiffOnlyB, B: &s.ls},
			{Way: commands.DiffChanged, A: &agent, B: &s.broke, Changes: []commands.Change{{Field: "outcome", A: "ok", B: "exit 2"}}},
		},
		Counts: map[string]int64{"common": 1, "changed": 2, "only_a": 1, "only_b": 1},
	}
	s.insights = commands.InsightsResponse{
		Commands:  12345,
		Templates: []commands.TemplateStat{{Template: "make <arg>", Runs: 1200, Failed: 30, FailureRate: 0.025, Sessions: 31, Last: toldAt}, {Template: strings.Repeat("very ", 30) + "long", Runs: 2, Last: toldAt}},
		Sequences: []commands.SequenceStat{{Templates: []string{"git add <path>", "git commit <flags>", "git push"}, Runs: 42, Sessions: 17, Lift: 8.52}},
		Failures:  []commands.FailureCluster{{Template: "make <arg>", ExitCode: 2, Runs: 30, Fixed: 29, Sessions: 12, Last: toldAt, Signature: "undefined: <arg>"}},
		After:     &s.broke,
		Next:      []commands.Suggestion{{Command: "git checkout Makefile", Probability: 0.64, Times: 16, Of: 24, Given: "make <arg>, failed"}},
	}
	return s
}

// TestDraw compares the output for people with testdata/draw; -rewrite updates it.
func TestDraw(t *testing.T) {
	s := tell()
	for name, draw := range map[string]func(d *drawing){
		"why":      func(d *drawing) { d.drawWhy(s.why) },
		"stitch":   func(d *drawing) { d.drawStitch(s.stitch) },
		"diff":     func(d *drawing) { d.drawDiff(s.diff) },
		"insights": func(d *drawing) { d.drawInsights(s.insights) },
		"nothing": func(d *drawing) {
			d.drawWhy(commands.WhyResponse{Root: s.ls, Basis: query.Basis{Hint: "no edge leads to it"}})
			d.drawDiff(commands.DiffResponse{A: s.ls.ID, B: s.ls.ID})
			d.drawInsights(commands.InsightsResponse{})
		},
	} {
		for _, how := range []struct {
			suffix string
			width  int
			colour bool
		}{{"", 80, false}, {"-wide", 0, false}, {"-colour", 80, true}} {
			t.Run(name+how.suffix, func(t *testing.T) {
				var out strings.Builder
				d := &drawing{terminal: &terminal{out: &out, colour: how.colour}, width: how.width, now: toldAt.Add(100 * time.Hour)}
				utc(t)
				draw(d)
				plain := regexp.MustCompile(`\x1b\[[0-9]*m`).ReplaceAllString(out.String(), "")
				if how.colour {
					// Colours change nothing else, and each ends within its line.
					var uncoloured strings.Builder
					draw(&drawing{terminal: &terminal{out: &uncoloured}, width: how.width, now: d.now})
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
					if how.width > 0 && columns(line) > how.width {
						t.Errorf("%d columns: %s", columns(line), line)
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

// TestDiagrams parses the output of --dot and --mermaid by their grammars, and checks that the
// labels come back unchanged, whatever a command contains.
func TestDiagrams(t *testing.T) {
	s := tell()
	for name, d := range map[string]diagram{"why": whyDiagram(s.why), "stitch": stitchDiagram(s.stitch), "diff": diffDiagram(s.diff)} {
		var boxes, labels []string
		for _, g := range d.groups {
			for _, b := range g.boxes {
				boxes = append(boxes, b.key+" "+strings.Join(b.lines, "\n"))
			}
		}
		for _, a := range d.arrows {
			labels = append(labels, a.from+" "+a.to+" "+a.label)
		}
		if len(boxes) < 4 || len(labels) < 3 {
			t.Fatalf("%s: %d boxes, %d arrows: the case tests nothing", name, len(boxes), len(labels))
		}
		gotBoxes, gotArrows := readDot(t, d.dot())
		if diff := cmp.Diff([][]string{gotBoxes, gotArrows}, [][]string{boxes, labels}); diff != "" {
			t.Errorf("%s as dot: %s", name, diff)
		}
		gotBoxes, gotArrows = readMermaid(t, d.mermaid())
		if diff := cmp.Diff([][]string{gotBoxes, gotArrows}, [][]string{boxes, labels}); diff != "" {
			t.Errorf("%s as mermaid: %s", name, diff)
		}
		golden.Check(t, filepath.Join("testdata", "draw", name+".dot"), d.dot())
		golden.Check(t, filepath.Join("testdata", "draw", name+".mmd"), d.mermaid())
	}
}

// readDot parses the part of Graphviz' language that is written: statements of words and quoted
// strings, in which \" is a quote, \\ a backslash, \n the end of a line and &amp; an ampersand.
func readDot(t *testing.T, text string) (boxes, arrows []string) {
	t.Helper()
	token := regexp.MustCompile(`^(?:[A-Za-z0-9_]+|"(?:[^"\\]|\\.)*"|->|[{}\[\]=;,])`)
	var words []string
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		w := token.FindString(rest)
		if w == "" {
			t.Fatalf("not DOT: %.60q", rest)
		}
		words, rest = append(words, w), rest[len(w):]
	}
	unescape := strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n", "&amp;", "&")
	value := func(w string) string { return unescape.Replace(strings.Trim(w, `"`)) }
	depth := 0
	for i, w := range words {
		switch {
		case w == "{":
			depth++
		case w == "}":
			depth--
		case w == "label" && words[i-1] == "[" && words[i-3] == "->":
			arrows = append(arrows, words[i-4]+" "+words[i-2]+" "+value(words[i+2]))
		case w == "label" && words[i-1] == "[":
			boxes = append(boxes, words[i-2]+" "+value(words[i+2]))
		}
	}
	if depth != 0 || words[0] != "digraph" {
		t.Fatalf("not a graph: depth %d", depth)
	}
	return boxes, arrows
}

// readMermaid parses the part of Mermaid's flowcharts that is written, line by line, with #N; for a
// character.
func readMermaid(t *testing.T, text string) (boxes, arrows []string) {
	t.Helper()
	label := `"((?:[^"#<>%{}` + "`" + `]|#[0-9]+;|<br/>)*)"`
	node := regexp.MustCompile(`^ +([a-z0-9]+)\[` + label + `\]$`)
	arrow := regexp.MustCompile(`^ +([a-z0-9]+) (?:-->|-\.->)(?:\|` + label + `\|)? ([a-z0-9]+)$`)
	other := regexp.MustCompile(`^(flowchart TB|  subgraph g[0-9]+\[` + label + `\]|  end|  classDef [a-z]+ [a-z0-9:-]+|  class [a-z0-9,]+ [a-z]+)$`)
	unescape := func(s string) string {
		s = strings.ReplaceAll(s, "<br/>", "\n")
		return regexp.MustCompile(`#[0-9]+;`).ReplaceAllStringFunc(s, func(e string) string {
			n, err := strconv.Atoi(e[1 : len(e)-1])
			if err != nil {
				t.Fatal(err)
			}
			return string(rune(n))
		})
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := node.FindStringSubmatch(line); m != nil {
			boxes = append(boxes, m[1]+" "+unescape(m[2]))
		} else if m := arrow.FindStringSubmatch(line); m != nil {
			arrows = append(arrows, m[1]+" "+m[3]+" "+unescape(m[2]))
		} else if !other.MatchString(line) {
			t.Fatalf("not Mermaid: %q", line)
		}
	}
	return boxes, arrows
}
