package main

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLines(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     [][]span
	}{
		{"plain", "a\r\n\n b \n\n", [][]span{{{text: "a"}}, nil, {{text: " b"}}}},
		{"a style goes on over lines until it is reset", "\x1b[1;31mx\ny\x1b[0mz", [][]span{
			{{style{foreground: "var(--c1)", bold: true}, "x"}},
			{{style{foreground: "var(--c1)", bold: true}, "y"}, {text: "z"}},
		}},
		{"bright, 256 and all colours", "\x1b[92ma\x1b[38;5;208mb\x1b[48;2;1;2;255mc", [][]span{{
			{style{foreground: "var(--c10)"}, "a"},
			{style{foreground: "#ff8700"}, "b"},
			{style{foreground: "#ff8700", background: "#0102ff"}, "c"},
		}}},
		{"attributes end one by one", "\x1b[2;3;4;7ma\x1b[22mb\x1b[23;24;27;39;49mc", [][]span{{
			{style{faint: true, italic: true, under: true, reverse: true}, "a"},
			{style{italic: true, under: true, reverse: true}, "b"},
			{text: "c"},
		}}},
		{"what is no colour is dropped", "a\x1b[2Kb\x1b(Bc\x1b[", [][]span{{{text: "a"}, {text: "b"}, {text: "c"}}}},
		{"a colour cut short", "\x1b[38;5ma", [][]span{{{text: "a"}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(lines(c.in), c.want, cmp.AllowUnexported(span{}, style{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRun checks that a picture is XML whatever the text, and that wide characters take two cells.
func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(strings.NewReader("日本\x1b[7m<script>&\x1b[m"), &out, 20, `a "title" <`); err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(out.String())); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{
		`<text x="14.0" y="27.5" textLength="33.6" xml:space="preserve">日本</text>`,
		`<rect x="47.6" y="14.0" width="75.6" height="18" fill="var(--ink)"/>`,
		`style="fill:var(--paper)" xml:space="preserve">&lt;script&gt;&amp;</text>`,
		`<title>a &#34;title&#34; &lt;</title>`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
}
