package recall

import (
	"fmt"
	"strings"
	"testing"
)

// TestTemplate sends prompts made from a template: what bears on the part that differs is recalled,
// and not that the template was sent before.
func TestTemplate(t *testing.T) {
	template := func(input string) string {
		return "Review the code changes.\n\nInput: " + input + "\n\nRun `git diff --cached` for staged changes, and `git status --short` for untracked files.\n" +
			"Report only bugs with the file_name and the line; each with the severity that its consequences have.\nNever report matters of style, and read CONTRIBUTING.md before the first finding.\n" +
			strings.Repeat("Think of error paths, of races, of resource_leaks and of clients that never close.\n", 4)
	}
	w := newWorld(t)
	for i, input := range []string{"", "the retry loop of queue_worker.go, which loses jobs when requeueJob fails", ""} {
		w.session = fmt.Sprint("s", i)
		w.prompted(template(input))
		w.said("Found one bug in session " + fmt.Sprint(i) + ": requeueJob in queue_worker.go drops a job if the broker has closed its channel.")
	}
	for range 30 { // other records, so that terms differ in how common they are
		w.session = "noise"
		w.said(fmt.Sprintf("Renamed column %d of the invoices table and updated its migration.", w.minute))
	}
	if got := w.recall(Request{Session: "now", Text: template("")}); len(got.Items) != 0 || got.Hint == "" {
		t.Errorf("a bare template: %s", got.Text)
	}
	got := w.recall(Request{Session: "now", Text: template("verify the fix of requeueJob in queue_worker.go for a closed broker channel")})
	if len(got.Items) == 0 || !strings.Contains(got.Text, "drops a job") || strings.Contains(got.Text, "git status --short") {
		t.Errorf("its own part: %q", got.Text)
	}
}

// TestGenericLines meets lint errors that share only the lines with which the tool ends.
func TestGenericLines(t *testing.T) {
	output := func(own string) string {
		return own + "\nThe inspection of the workspace could not be completed because problems remain\n"
	}
	w := newWorld(t)
	for i, own := range []string{"error: invoiceTotal is never used", "error: cannot assign to readonly currency", "error: missing await before fetchRates"} {
		w.session = fmt.Sprint("s", i)
		w.ran("lint all", 1, output(own))
		w.edited("/src/shop/a.ts", "x", fmt.Sprint("y", i))
		w.ran("lint all", 0, "ok")
	}
	if got := w.recall(Request{On: OnFailure, Session: "now", Command: "lint all", Output: output("error: unknown label shippingLoop")}); len(got.Items) != 0 {
		t.Errorf("a failure that shares the last line: %s", got.Text)
	}
	got := w.recall(Request{On: OnFailure, Session: "now", Command: "lint all", Output: output("error: cannot assign to readonly currency")})
	if len(got.Items) != 1 || got.Items[0].Session != "s1" {
		t.Errorf("the same failure: %s", got.Text)
	}
}

// TestMendsOfPrograms checks that one script is not taken for the mend of another because both were
// given to the same interpreter.
func TestMendsOfPrograms(t *testing.T) {
	const failure = "Traceback (most recent call last):\nValueError: rates table has no currency column named EUR\n"
	w := newWorld(t)
	w.ran("python - <<'PY'\nimport rates\nrates.load('EUR')\nPY", 1, failure)
	w.ran("python - <<'PY'\nprint('another matter entirely')\nPY", 0, "another matter entirely")
	if got := w.recall(Request{On: OnFailure, Session: "now", Command: "python - <<'PY'\nrates.load('EUR', 1)\nPY", Output: failure}); len(got.Items) != 0 {
		t.Errorf("got %s", got.Text)
	}
}

// TestFileOfAnEdit reads the file from calls whose arguments are in any order.
func TestFileOfAnEdit(t *testing.T) {
	for text, want := range map[string]string{
		"Edit /src/a.go\nold_string: x": "/src/a.go", "Edit\nreplace_all: false\nfile_path: /src/b.go\nold_string:\nx": "/src/b.go",
		"edit\nfilePath: c.ts": "c.ts", "Edit": "", "Edit\nold_string: file_path: x": "", "Write\ncontent: d.go": "",
	} {
		if got := fileIn(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
