package agentlog

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzParts checks that parts of a value are what encoding/json copies of it.
func FuzzParts(f *testing.F) {
	for _, text := range []string{
		`{}`, `[]`, ` { "a" : 1 , "b":[1,{"c":"}]"}], "a":null} `, `["x\"y\\", -1.5e3 ,true,[ ],{ }]`, `"{"`, `12`, `null`,
		`{"\u0061\"":{"b":"\\"},"":""}`, "{\"\xff\":1}", `[[[1],2],"]"]`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		membersOf([]byte(text)) // ends for anything
		elementsOf([]byte(text))
		if !json.Valid([]byte(text)) {
			return
		}
		var members fields
		var elements list
		_ = json.Unmarshal([]byte(text), &members)
		_ = json.Unmarshal([]byte(text), &elements)
		if diff := cmp.Diff(membersOf([]byte(text)), members); diff != "" {
			t.Errorf("members of %q (-got +want):\n%s", text, diff)
		}
		if diff := cmp.Diff(elementsOf([]byte(text)), elements); diff != "" {
			t.Errorf("elements of %q (-got +want):\n%s", text, diff)
		}
	})
}

// TestALongLineIsNotCopiedAtEachLevel bounds what is allocated for a line, in multiples of its length: the line as it
// grows, and its text.
func TestALongLineIsNotCopiedAtEachLevel(t *testing.T) {
	text := strings.Repeat("some words of text, ", 16<<20/20)
	in := `{"sessionId":"s","uuid":"u1","type":"user","cwd":"/x","timestamp":"2026-01-02T03:04:05Z","message":{"role":"user","content":[{"type":"text","text":"` + text + `"}]}}`
	file := "{\"type\":\"file-history-snapshot\",\"snapshot\":{}}\n" + in
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n := 0
	for _, err := range Read(strings.NewReader(file), Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	runtime.ReadMemStats(&after)
	times := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(in))
	t.Logf("%d events, %.1f times the line", n, times)
	if n == 0 || times > 6 {
		t.Errorf("%d events, %.1f times the line are allocated, the maximum is 6", n, times)
	}
}
