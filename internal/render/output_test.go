package render

import (
	"io"
	"os"
	"strings"
	"testing"
)

// TestOutputRemembersAFailure writes to a file that is closed for writing, in each of the ways that writers take.
func TestOutputRemembersAFailure(t *testing.T) {
	for name, write := range map[string]func(o *Output){
		"Write":       func(o *Output) { _, _ = o.Write([]byte("x")) },
		"WriteString": func(o *Output) { _, _ = io.WriteString(o, "x") },
		"Copy":        func(o *Output) { _, _ = io.Copy(o, strings.NewReader("x")) },
	} {
		file, err := os.Open(os.DevNull) // for reading
		if err != nil {
			t.Fatal(err)
		}
		o := &Output{File: file}
		if write(o); o.Failed == nil {
			t.Errorf("%s: no failure is remembered", name)
		}
		_ = file.Close()
	}
}
