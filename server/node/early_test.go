package node

import (
	"strings"
	"testing"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// TestWhatIsNotReadYet has an error about a repository whose import the projection still reads.
func TestWhatIsNotReadYet(t *testing.T) {
	a, b := schemas.TopicPartition{Topic: schemas.TopicCommits}, schemas.TopicPartition{Topic: schemas.TopicCommits, Partition: 1}
	missing := &query.NotFoundError{Ref: "HEAD", Hint: "no such ref", Kind: query.UnknownRevision}
	for _, c := range []struct {
		read schemas.Watermark
		want string
	}{
		{schemas.Watermark{a: 5, b: 7}, `"HEAD": not found: no such ref`},
		{schemas.Watermark{a: 5}, `"HEAD": not found: no such ref; events about code are still being read, 7 to go: ask again in a moment`},
		{schemas.Watermark{a: 9, b: 6}, `"HEAD": not found: no such ref; events about code are still being read, 1 to go: ask again in a moment`},
	} {
		got := notYet(missing, schemas.Watermark{a: 5, b: 7}, c.read)
		if got.Error() != c.want || got.Kind != missing.Kind || (got.Unread > 0) != strings.Contains(c.want, "to go") {
			t.Errorf("read up to %v: %v, want %s", c.read, got, c.want)
		}
	}
}
