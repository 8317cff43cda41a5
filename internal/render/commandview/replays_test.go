package commandview

import (
	"strings"
	"testing"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/query/replays/answer"
)

// TestAStepThatWasNotRunDidNotDoAsRecorded checks that a run with a step that was left out is not said to have
// done everything as recorded.
func TestAStepThatWasNotRunDidNotDoAsRecorded(t *testing.T) {
	var r ask.ReplayDiffResponse
	r.Run = "r-1"
	for i, state := range []string{answer.StateDone, answer.StateSkipped} {
		var s ask.ReplayedStep
		s.Step, s.State, s.Command = i, state, "make"
		r.Steps = append(r.Steps, s)
	}
	var out strings.Builder
	ReplayDiff(&render.Drawing{Terminal: &render.Terminal{Out: &out}, Width: 80}, r)
	if got := out.String(); !strings.Contains(got, "r-1: every step that was run did as recorded, 1 of 2 were not run\n") || !strings.Contains(got, "   2 - make") {
		t.Errorf("got\n%s", got)
	}
}
