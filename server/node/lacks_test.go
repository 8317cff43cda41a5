package node

import (
	"strings"
	"testing"

	"github.com/recountdb/recount/internal/spool"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
)

// TestAnswersSayWhatTheyLack checks that answers say that events of the log are not read yet, and no longer once they are.
func TestAnswersSayWhatTheyLack(t *testing.T) {
	dir := t.TempDir()
	if err := spool.Append(spool.Dir(dir), spooled("make")); err != nil {
		t.Fatal(err)
	}
	n, err := OpenLocal(t.Context(), Config{DataDir: dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	defer n.Close()
	n.local = false // a local node reads all before it answers
	tp := schemas.TopicPartition{Topic: n.topics()[0], Partition: 0}
	for unread, want := range map[int64]bool{0: false, 7: true} {
		n.ready.Store(false)
		n.starts = schemas.Watermark{tp: n.set.Watermark()[tp] + unread}
		found, err := commands.FindQuestion.Ask(t.Context(), n, commands.FindRequest{Text: "make"})
		if err != nil || strings.Contains(found.Hint, "7 events of the log are not read yet") != want {
			t.Errorf("find, %d: %q %v", unread, found.Hint, err)
		}
		counted, err := commands.StatsQuestion.Ask(t.Context(), n, ask.StatisticsRequest{})
		if err != nil || strings.Contains(counted.Hint, "not read yet") != want {
			t.Errorf("stats, %d: %q %v", unread, counted.Hint, err)
		}
		var asked evidence.Response
		if asked.AddHint(n.lacks()); strings.Contains(asked.Hint, "not read yet") != want {
			t.Errorf("ask, %d: %q", unread, asked.Hint)
		}
	}
}
