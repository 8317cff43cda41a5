package nodeview

import (
	"strings"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

// Retained prints what retention removed, or would remove.
func Retained(t *render.Terminal, r api.RetainReport) {
	if r.Bytes > 0 {
		t.Printf("%s takes %.1f MB\n", r.Topic, float64(r.Bytes)/1e6)
	}
	if r.Events == 0 {
		t.Printf("nothing of %s exceeds the limits (%s)\n", r.Topic, limits(r.Rule))
		return
	}
	what := "removed"
	if r.Event == nil {
		what = "to be removed"
	}
	t.Printf("%s of %s %s (%s)", render.Count(int(r.Events), "event"), r.Topic, what, limits(r.Rule))
	if r.Known != nil {
		t.Printf("; then known since %s", r.Known.Local().Format(time.DateTime))
	}
	t.Printf("\n")
	switch {
	case r.Event == nil:
	case schemas.TopicName(r.Topic) == schemas.TopicSpans:
		t.Printf("%s by the hour are kept; recorded by the event at %s\n", render.Count(int(r.Sums), "sum"), r.Event)
	default:
		t.Printf("their ids are kept; recorded by the event at %s\n", r.Event)
	}
}

// limits returns a rule with its durations as people write them.
func limits(rule string) string {
	words := strings.Fields(rule)
	for i, word := range words {
		bare := strings.TrimSuffix(word, ",")
		if d, err := time.ParseDuration(bare); err == nil && d != 0 {
			words[i] = query.Took(d) + word[len(bare):]
		}
	}
	return strings.Join(words, " ")
}
