package agenttool

import (
	"fmt"
	"strings"
	"testing"
)

// TestChanges checks what the arguments of tools tell of the files that they change.
func TestChanges(t *testing.T) {
	patch := "*** Begin Patch\n*** Update File: a.go\n@@ func f() {\n x\n-old\n+new\n\n@@\n-y\n+z\n*** Add File: b c\n+one\n+two\n*** Delete File: d\n*** Update File: e\n*** Move to: g\n@@\n-p\n+q\n*** Update File: h\n@@\n+only\n*** End Patch\n"
	for _, c := range []struct{ tool, arguments, want string }{
		{"Write", `{"file_path":"/a/b c","content":"x\n"}`, "create '/a/b c' = \"x\\n\""},
		{"Write", `{"file_path":"a","content":""}`, `create a = ""`},
		{"Write", `{"file_path":"a"}`, "create a"},
		{"Edit", `{"file_path":"a","old_string":"one","new_string":""}`, `edit a "one">""`},
		{"Edit", `{"file_path":"a","old_string":"one","new_string":"two","replace_all":true}`, `edit a "one">"two"*`},
		{"Edit", `{"file_path":"a","old_string":"","new_string":"two"}`, `edit a = "two"`},
		{"edit", `{"filePath":"a","oldString":"1","newString":"2"}`, `edit a "1">"2"`},
		{"replace", `{"file_path":"a","old_string":"1","new_string":"2","expected_replacements":2}`, `edit a "1">"2"*`},
		{"MultiEdit", `{"file_path":"a","edits":[{"old_string":"1","new_string":"2"},{"old_string":"3","new_string":"4"}]}`, `edit a "1">"2" "3">"4"`},
		{"MultiEdit", `{"file_path":"a","edits":[{"old_string":"1"}]}`, `edit a`},
		{"NotebookEdit", `{"notebook_path":"a","new_source":"2"}`, `edit a`},
		{"str_replace_editor", `{"command":"create","path":"a","file_text":"t"}`, `create a = "t"`},
		{"str_replace_editor", `{"command":"insert","path":"a","insert_line":3,"new_str":"t"}`, `edit a`},
		{"file_change", `{"changes":[{"path":"a","kind":"add"},{"path":"b","kind":"delete"},{"path":"c","kind":"update"}]}`, "create a; rm b; edit c"},
		{"apply_patch", patch, `edit a.go "func f() {\n">"func f() {\n"| "x\nold\n\n">"x\nnew\n\n"| "y\n">"z\n"|; create 'b c' = "one\ntwo\n"; rm d; edit e; create g; edit h`},
		{"Read", `{"file_path":"a"}`, ""},
	} {
		var got []string
		for _, x := range Changes(c.tool, []byte(c.arguments)) {
			s := x.Command()
			if x.Known && x.Verb != "rm" && len(x.Parts) == 0 {
				s += fmt.Sprintf(" = %q", x.Content)
			}
			for _, p := range x.Parts {
				s += fmt.Sprintf(" %q>%q", p.Old, p.New) + map[bool]string{true: "*"}[p.All] + map[bool]string{true: "|"}[p.Lines]
			}
			got = append(got, s)
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s %s:\n got %s\nwant %s", c.tool, c.arguments, s, c.want)
		}
	}
}
