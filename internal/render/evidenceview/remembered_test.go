package evidenceview

import (
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/evidence"
)

// TestRemembered checks what a list of open work says of a task and of a handover, and that the reason of
// an empty list comes first.
func TestRemembered(t *testing.T) {
	now := time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)
	for want, r := range map[string]evidence.RememberedResponse{
		"task  Fix the cookies\n   recount.agents/0/1 · 2h ago\n": {Items: []evidence.Remembered{
			{Kind: "task", Status: evidence.StatusOpen, Text: "Fix the cookies started", Position: "recount.agents/0/1", Time: now.Add(-2 * time.Hour)},
		}},
		"handover  handed to bob\n   Look at it\n   recount.agents/0/2 · 2h ago\n": {Items: []evidence.Remembered{
			{Kind: "handover", Status: evidence.StatusOpen, Text: "handed to bob\n\nLook at it", Position: "recount.agents/0/2", Time: now.Add(-2 * time.Hour)},
		}},
		"nothing is written down\n": {Basis: query.Basis{Hint: "nothing is written down"}},
	} {
		var out strings.Builder
		d := &Drawing{Drawing: &render.Drawing{Terminal: &render.Terminal{Out: &out}, Width: 80, Now: now}}
		if d.Remembered(r); out.String() != want {
			t.Errorf("got %q\nwant %q", out.String(), want)
		}
	}
}
