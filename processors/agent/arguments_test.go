package agent

import (
	"testing"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func TestCallText(t *testing.T) {
	for _, c := range []struct{ name, command, arguments, want string }{
		{"Read", "", `{"file_path":"/src/cart.go","offset":10}`, "Read /src/cart.go\noffset: 10"},
		{"Grep", "", `{"pattern":"func total","path":"src","output_mode":"content"}`, "Grep func total src\noutput_mode: content"},
		{"Edit", "", `{"file_path":"/src/cart.go","old_string":"a := 1\n\treturn","new_string":"return 1"}`, "Edit /src/cart.go\nold_string:\na := 1\n\treturn\nnew_string: return 1"},
		{"Edit", "", `{"file_path":"/src/cart.go","old_string":"a b","new_string":"a <c>\u00e9"}`, "Edit /src/cart.go\nold_string: a b\nnew_string: a <c>é"},
		{"TodoWrite", "", `{"todos":[{"content":"mend"}], "n":1}`, "TodoWrite\ntodos: [{\"content\":\"mend\"}]\nn: 1"},
		{"wait", "", `{}`, "wait"},
		{"wait", "", ``, "wait"},
		{"old", "", `{"a":1} and more`, `old {"a":1} and more`},
		{"old", "", `{"a":"never ends`, `old {"a":"never ends`},
		{"old", "", `{"a":1,}`, `old {"a":1,}`},
		{"list", "", `["a"]`, `list ["a"]`},
		{"bash", "make test", `{"command":"make test"}`, "make test"},
		{"bash", "make test", `make test`, "make test"},
		{"bash", "make test", `{"command":"make test","is_input":"false"}`, "make test"},
		{"Bash", "make test", `{"command":"make test","description":"Run every test of it","timeout":600000}`, "make test\n\ndescription: Run every test of it\ntimeout: 600000"},
		{"Bash", "make test", `{"line":"make test -k","why":"it is asked for, again"}`, "make test\n\nline: make test -k\nwhy: it is asked for, again"},
	} {
		if got := callText(&recountv1.Tool{Name: c.name, Command: c.command, Arguments: c.arguments}); got != c.want {
			t.Errorf("%s %s\n got %q\nwant %q", c.name, c.arguments, got, c.want)
		}
	}
	if got := callText(nil); got != "" {
		t.Errorf("no tool: %q", got)
	}
}

// FuzzCallText checks that the text of a call begins with the tool's name, for any arguments.
func FuzzCallText(f *testing.F) {
	f.Add(`{"file_path":"/src/cart.go","offset":10}`)
	f.Add(`{"a":{"b":[1,{}]},"c":"d\ne"}`)
	f.Add("{\"\xff\":\"\\ud800\"}")
	f.Fuzz(func(t *testing.T, arguments string) {
		got := callText(&recountv1.Tool{Name: "tool", Arguments: arguments})
		if len(got) < 4 || got[:4] != "tool" {
			t.Errorf("%q: %q", arguments, got)
		}
	})
}
