// Package golden compares the output of tests with files in testdata. With -rewrite the tests write
// the files instead: commit them only if they are right.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var rewrite = flag.Bool("rewrite", false, "write what comes out into the golden files")

// Rewriting reports whether files are written instead of compared.
func Rewriting() bool { return *rewrite }

// Check compares got with the content of a file, or writes it.
func Check(t testing.TB, file, got string) {
	t.Helper()
	if *rewrite {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("other than %s says; -rewrite accepts it (-want +got):\n%s", file, diff)
	}
}

// Files runs a test for each file that matches a pattern, of which at least one must exist: the
// answer to the text of the file must equal that text.
func Files(t *testing.T, pattern string, answer func(t *testing.T, text string) string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			Check(t, file, answer(t, string(text)))
		})
	}
}

// Blocks is like Files for files of blocks separated by an empty line: each is an input and, below
// a line of "----", its answer, if there is one.
func Blocks(t *testing.T, pattern string, answer func(t *testing.T, input string) (said string, ok bool)) {
	t.Helper()
	Files(t, pattern, func(t *testing.T, text string) string {
		var out strings.Builder
		for block := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n\n") {
			input, _, _ := strings.Cut("\n"+block+"\n", "\n----\n")
			input = strings.Trim(input, "\n")
			if out.Len() > 0 {
				out.WriteByte('\n')
			}
			out.WriteString(input + "\n")
			if said, ok := answer(t, input); ok {
				out.WriteString("----\n" + said)
			}
		}
		return out.String()
	})
}
