package redact

import (
	"encoding/json"
	"testing"
)

func TestJSONStrings(t *testing.T) {
	shout := func(name, val string) string {
		if val == "keep" {
			return val
		}
		return "<" + name + ">"
	}
	for text, want := range map[string]string{
		`{"a" : "x", "b":["y\"","keep",1e3],"c":{"d\\":"z"}, "e":null}`: `{"a" : "<a>", "b":["<b>","keep",1e3],"c":{"d\\":"<d\\>"}, "e":null}`,
		`"x"`:    `"<>"`,
		`[]`:     `[]`,
		`no "js`: `<>`,
		``:       `<>`,
	} {
		// In the output of Marshal < is an escape.
		var got, expected any
		gotText := jsonStrings(text, shout)
		if json.Unmarshal([]byte(gotText), &got) == nil && json.Unmarshal([]byte(want), &expected) == nil {
			a, _ := json.Marshal(got)
			b, _ := json.Marshal(expected)
			gotText, want = string(a), string(b)
		}
		if gotText != want {
			t.Errorf("%s: got %s, want %s", text, gotText, want)
		}
	}
	same := `{"a" : "keep",
	"b": [ "keep" ] }`
	if got := jsonStrings(same, shout); got != same {
		t.Errorf("got %s, want no change", got)
	}
}
