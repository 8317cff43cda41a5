package plan

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	yamlv3 "go.yaml.in/yaml/v3"
	"mvdan.cc/sh/v3/syntax"

	"github.com/recountdb/recount/internal/racing"
	"github.com/recountdb/recount/replay/script"
)

// FuzzMake plans three commands of any text and writes the plan as each kind of script. Nothing may
// panic, two plans of the same narrative are equal, a command that bash can parse is one that it can
// parse after it was mapped, and so are a bash script and a workflow.
func FuzzMake(f *testing.F) {
	for _, name := range []string{"tldr-ordinary.txt", "nl2bash.txt", "dangerous.txt"} {
		b, err := os.ReadFile("../danger/testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		lines := strings.Split(string(b), "\n")
		for i := 0; i+2 < len(lines) && i < 600; i += 3 {
			f.Add(lines[i], lines[i+1], lines[i+2])
		}
	}
	f.Add("f() { cp \"$1\" ~/x; }", "f /home/ann/app/a && cd -", "cat <<E > $HOME/y\n$(f b)\nE")
	f.Add("echo \x7f", "echo a\r\nb\u0085", "\"\r      - run: rm -rf ~") // what YAML cannot hold, or takes for the end of a line
	f.Fuzz(func(t *testing.T, a, b, c string) {
		racing.Alone(t)
		r := Request{All: len(a)%2 == 0, Map: []string{"/home/ann=/home/it's bob", "user:ann=bob", "port:80=81", "branch:main=other", "host:a.example=b.example"}}
		// A plan is of text as schemas let it in.
		n := narrative(strings.ToValidUTF8(a, "?"), strings.ToValidUTF8(b, "?"), strings.ToValidUTF8(c, "?"))
		p := made(t, n, r)
		first, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := json.Marshal(made(t, n, r)); err != nil || string(again) != string(first) {
			t.Fatalf("two plans differ, %v:\n%s\n%s", err, first, again)
		}
		for _, s := range p.Steps {
			if parse(s.Original) == nil && parse(s.Command) != nil {
				t.Errorf("%q was mapped to %q: %v", s.Original, s.Command, parse(s.Command))
			}
		}
		for _, kind := range script.Kinds {
			text, err := script.Write(p, kind)
			if err != nil {
				t.Errorf("%s: %v", kind, err)
			}
			if err := parse(text); kind == "bash" && err != nil {
				t.Errorf("the script: %v\n%s", err, text)
			}
			var workflow any
			if err := yamlv3.Unmarshal([]byte(text), &workflow); kind == "github-actions" && err != nil {
				t.Errorf("the workflow: %v\n%s", err, text)
			}
		}
	})
}

// parse says why bash would not take a text.
func parse(text string) error {
	_, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	return err
}
