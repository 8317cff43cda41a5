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

// TestHitWords: hits have the words that remembered and the glossary have, their text once, and the
// reason why they are no longer valid.
func TestHitWords(t *testing.T) {
	now := time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)
	for want, o := range map[string]evidence.Object{
		"1  handover  handed to bob: Look at it\n   recount.agents/0/2\n": {
			Type: "handoff", Title: "handed to bob: Look at it", Snippet: "handed to bob Look at it",
		},
		"1  decision  We use Postgres\n   recount.agents/0/2\n": {Type: "memory", Memory: "factual", Form: "decision", Snippet: "We use Postgres"},
		"1  factual  We use Postgres\n   recount.agents/0/2\n":  {Type: "memory", Memory: "factual", Snippet: "We use Postgres"},
		"1  plan  Copy\n   recount.agents/0/2\n   no longer valid: by ada (a newer version) at recount.agents/0/3\n": {
			Type: "plan", Snippet: "Copy", SupersededBy: &evidence.Link{Rule: "version", Confidence: 1, Agent: "ada", Evidence: []string{"recount.agents/0/3"}},
		},
		"1  plan  Copy\n   recount.agents/0/2\n   no longer valid: by ada (restated, confidence 0.50)\n": {
			Type: "plan", Snippet: "Copy", SupersededBy: &evidence.Link{Rule: "restated", Confidence: 0.5, Agent: "ada"},
		},
	} {
		o.ID, o.Position = "object", "recount.agents/0/2"
		var out strings.Builder
		d := &Drawing{Drawing: &render.Drawing{Terminal: &render.Terminal{Out: &out}, Width: 80, Now: now}}
		if d.Draw(evidence.Response{Objects: []evidence.Object{o}}); out.String() != want {
			t.Errorf("got %q\nwant %q", out.String(), want)
		}
	}
}
