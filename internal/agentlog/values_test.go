package agentlog_test

import (
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/internal/agentlog"
	"github.com/recountdb/recount/internal/cputime"
)

// TestLargeInput checks that the time to read a file grows with its size, and not with its square.
func TestLargeInput(t *testing.T) {
	for name, x := range map[string]struct{ data, format, err string }{
		"values of a document": {data: "{\n\"role\":\"user\",\"content\":\"x\"}\n" + strings.Repeat("{}\n", 500_000)},
		"messages of claude -p in lists in lists": {
			data:   strings.Repeat("[", 9_000) + `"` + strings.Repeat("x", 1<<20) + `"` + strings.Repeat("]", 9_000),
			format: "claude-stream",
		},
		"lists in lists": {
			data: strings.Repeat("[", 9_000) + `"` + strings.Repeat("x", 1<<20) + `"` + strings.Repeat("]", 9_000),
			err:  "line 1: unknown format: this is a list of 1, the first of them a list. " + acceptedAre + "; if it is one of them, give --format",
		},
	} {
		t.Run(name, func(t *testing.T) {
			start := cputime.Used()
			out := read([]byte(x.data), agentlog.Options{Name: "run", Format: x.format})
			if d := cputime.Used() - start; d > 10*time.Second {
				t.Errorf("took %v", d)
			}
			if (out.err != nil || x.err != "") && (out.err == nil || out.err.Error() != x.err) {
				t.Errorf("error %.300v, want %v", out.err, x.err)
			}
		})
	}
}
