package strictyaml_test

import (
	"testing"

	"github.com/recountdb/recount/internal/strictyaml"
)

func TestDecode(t *testing.T) {
	type listen struct {
		Listen string `yaml:"listen"`
		Size   int    `yaml:"size"`
	}
	for text, want := range map[string]string{
		"":                             "",
		"http: {listen: a}":            "",
		"htp: {listen: a}":             `line 1: unknown field "htp"`,
		"http:\n  lisen: a\nb: 1":      `line 2: unknown field "lisen"; line 3: unknown field "b"`,
		"http: {listen: [":             "yaml: line 1: did not find expected node content",
		"http: {size: x}":              "line 1: cannot unmarshal !!str `x` into int",
		"http: {listen: a}\n---\nb: 1": "",
	} {
		var file struct {
			HTTP listen `yaml:"http"`
		}
		got := ""
		if err := strictyaml.Decode([]byte(text), &file); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
