package commandview

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/internal/golden"
	"github.com/recountdb/recount/internal/render/diagram"
	"github.com/recountdb/recount/query/commands/ask"
)

// TestDiagrams parses the output of --dot and --mermaid by their grammars, and checks that the
// labels come back unchanged, whatever a command contains.
func TestDiagrams(t *testing.T) {
	s := tell()
	for name, d := range map[string]diagram.Diagram{"why": WhyDiagram(s.why), "stitch": StitchDiagram(s.stitch), "diff": DiffDiagram(s.diff)} {
		var boxes, labels []string
		for _, g := range d.Groups {
			for _, b := range g.Boxes {
				boxes = append(boxes, b.Key+" "+strings.Join(b.Lines, "\n"))
			}
		}
		for _, a := range d.Arrows {
			labels = append(labels, a.From+" "+a.To+" "+a.Label)
		}
		if len(boxes) < 4 || len(labels) < 3 {
			t.Fatalf("%s: %d boxes, %d arrows: the case tests nothing", name, len(boxes), len(labels))
		}
		gotBoxes, gotArrows := readDot(t, d.Dot())
		if diff := cmp.Diff([][]string{gotBoxes, gotArrows}, [][]string{boxes, labels}); diff != "" {
			t.Errorf("%s as dot: %s", name, diff)
		}
		gotBoxes, gotArrows = readMermaid(t, d.Mermaid())
		if diff := cmp.Diff([][]string{gotBoxes, gotArrows}, [][]string{boxes, labels}); diff != "" {
			t.Errorf("%s as mermaid: %s", name, diff)
		}
		golden.Check(t, filepath.Join("testdata", "draw", name+".dot"), d.Dot())
		golden.Check(t, filepath.Join("testdata", "draw", name+".mmd"), d.Mermaid())
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

func TestDiagramTitles(t *testing.T) {
	d := StitchDiagram(ask.StitchResponse{Nodes: []ask.Node{{Intent: ask.Intent{Session: "s\x1b[2J\nend"}}}})
	for name, got := range map[string]string{"dot": d.Dot(), "mermaid": d.Mermaid()} {
		if strings.ContainsAny(got, "\x1b\u202e") {
			t.Errorf("%s: a control character: %q", name, got)
		}
	}
}
