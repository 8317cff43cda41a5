package plan

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/schemas/agenttool"
)

// TestWrittenChanges runs the lines that make changes of files, and compares with what is known of their texts.
func TestWrittenChanges(t *testing.T) {
	long := strings.Repeat("a line that is not it\n", 10000)
	for name, c := range map[string]struct {
		was, want string
		change    agenttool.Change
	}{
		"a file":               {want: "it's $HOME `x`\n\\n\tEOF\n", change: agenttool.Change{Content: "it's $HOME `x`\n\\n\tEOF\n"}},
		"without a last line":  {want: "a\nit's", change: agenttool.Change{Content: "a\nit's"}},
		"with carriage return": {want: "a\r\nb\r\n", change: agenttool.Change{Content: "a\r\nb\r\n"}},
		"nothing":              {was: "x", want: "", change: agenttool.Change{}},
		"a part":               {was: "one\none & *\n\n", want: "o'$2&\n\none & *\n\n", change: agenttool.Change{Parts: []agenttool.Part{{Old: "ne", New: "'$2&\n"}}}},
		"a pattern":            {was: "a [x]* \\n \"b\n", want: "a y\n", change: agenttool.Change{Parts: []agenttool.Part{{Old: "[x]* \\n \"b", New: "y"}}}},
		"everywhere":           {was: "a.a.é.a", want: "ba.ba.é.ba", change: agenttool.Change{Parts: []agenttool.Part{{Old: "a", New: "ba", All: true}}}},
		"parts":                {was: "1 2", want: "3 2", change: agenttool.Change{Parts: []agenttool.Part{{Old: "1", New: "2"}, {Old: "2", New: "3"}}}},
		"of a long file":       {was: long + "end\n", want: long + "END\n", change: agenttool.Change{Parts: []agenttool.Part{{Old: "end", New: "END"}}}},
		"a patch": {was: "f\nxy\nx\ny\nf\nx", want: "f\nxy\ny\nf\nz\nw\n", change: agenttool.Change{Parts: []agenttool.Part{
			{Old: "x\n", New: "", Lines: true}, {Old: "f\n", New: "f\n", Lines: true}, {Old: "x\n", New: "z\nw\n", Lines: true},
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c.change.Path, c.change.Verb = "sub dir/f'1", "edit"
			file := filepath.Join(dir, c.change.Path)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if c.was == "" {
				os.Remove(filepath.Dir(file))
			} else if err := os.WriteFile(file, []byte(c.was), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("bash", "-c", written(c.change, dir))
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%v %s", err, out)
			}
			if b, err := os.ReadFile(file); err != nil || string(b) != c.want {
				t.Errorf("got %q (%v), want %q", b, err, c.want)
			}
			if len(c.change.Parts) == 0 {
				return
			}
			if got, ok := changed(c.was, c.change.Parts); !ok || got != c.want {
				t.Errorf("known as %q", got)
			}
			if out, err := cmdIn(dir, written(c.change, dir)); name != "everywhere" && name != "of a long file" && name != "parts" && name != "a part" && (err == nil || !strings.Contains(out, "the text to replace is not there")) {
				t.Errorf("again: %v %s", err, out)
			}
		})
	}
}

func cmdIn(dir, line string) (string, error) {
	c := exec.Command("bash", "-c", line)
	c.Dir = dir
	out, err := c.CombinedOutput()
	return string(out), err
}

// TestChangesOfFiles checks that a change of a file by a tool is a step that writes the text, on which others rest, and that one
// whose text is not known says so.
func TestChangesOfFiles(t *testing.T) {
	n := narrative("create gen.sh", "edit /home/ann/app/gen.sh", "sh gen.sh", "create other", "create lib/x/a", "create gen.sh", "cat lib/x/a > out")
	n.Changes = map[schemas.EventID]agenttool.Change{
		id(0): {Verb: "create", Path: "gen.sh", Content: "echo one > out1\n", Known: true},
		id(1): {Verb: "edit", Path: "/home/ann/app/gen.sh", Parts: []agenttool.Part{{Old: "one", New: "two"}}, Known: true},
		id(4): {Verb: "create", Path: "lib/x/a", Content: "/home/ann/app\n", Known: true},
		id(5): {Verb: "create", Path: "gen.sh", Content: "echo three\n", Known: true},
	}
	n.Unwritten = map[schemas.EventID]string{id(3): "was not recorded"}
	p := made(t, n, Request{Map: []string{"/home/ann/app=/home/bob/app"}})
	if got := kept(p); got != "0 1 2 3 4 5 6" {
		t.Errorf("kept %s", got)
		for _, l := range p.Left {
			t.Logf("left %q: %s", l.Command, l.Why)
		}
	}
	for i, want := range []string{"cat > gen.sh <<'EOF'\necho one > out1\nEOF", "", "sh gen.sh", "create other", "mkdir -p 'lib/x' && cat > lib/x/a <<'EOF'\n/home/bob/app\nEOF"} {
		if s := p.Steps[i]; want != "" && s.Command != want {
			t.Errorf("%q becomes %q", s.Original, s.Command)
		}
	}
	if s := p.Steps[1]; !strings.Contains(s.Command, "> /home/bob/app/gen.sh") || s.Original != "edit /home/ann/app/gen.sh" || len(s.Needs) != 1 || s.Needs[0].On != 0 {
		t.Errorf("the edit is %+v", s)
	}
	for _, s := range p.Steps {
		if len(s.Danger)+len(s.Unknown) > 0 {
			t.Errorf("%q: danger %v, unknown %v", s.Original, s.Danger, s.Unknown)
		}
		if got := len(s.Asks) == 1 && s.Asks[0].Kind == replay.AskUnwritten; got != (s.Original == "create other") || len(s.Asks) > 1 {
			t.Errorf("%q asks %v", s.Original, s.Asks)
		}
	}
	n = narrative("create gen.sh", "edit gen.sh", "sh gen.sh")
	n.Changes = map[schemas.EventID]agenttool.Change{id(0): {Verb: "create", Path: "gen.sh", Content: "echo one > out1\n", Known: true}, id(1): {Verb: "edit", Path: "gen.sh", Parts: []agenttool.Part{{Old: "out1", New: "out2"}}, Known: true}}
	n.Goals = []schemas.EventID{id(2)}
	if p := made(t, n, Request{}); kept(p) != "0 1 2" || !strings.Contains(strings.Join(p.Steps[2].Outputs, " "), "/home/ann/app/out2") {
		t.Errorf("kept %s, the script writes %v", kept(p), p.Steps[len(p.Steps)-1].Outputs)
	}
}

func TestStandsForFile(t *testing.T) {
	for command, want := range map[string]bool{"edit a": true, "create 'a b'": true, "edit a b": false, "create": false, "edit 'a b": false, "rm a": false} {
		if standsForFile(command) != want {
			t.Errorf("%s: %v", command, !want)
		}
	}
}
