package node_test

import (
	"slices"
	"testing"

	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

// TestSentAgainBeforeProjected checks that an event that was appended just before a crash, and is
// sent again before it is projected, is not appended again, and that the answer has the first
// position.
func TestSentAgainBeforeProjected(t *testing.T) {
	dir := t.TempDir()
	// A crash leaves a log that is ahead of the projections.
	front := config(dir)
	front.Roles = []string{node.RoleLog, node.RoleIngest}
	sent := append(events("make one", "make two", "make three"), ofAgent("a-1"), ofAgent("a-2"))
	var first []api.Appended
	with(t, front, func(n *node.Node) { first = sentTo(t, n, sent) })
	all := config(dir)
	with(t, all, func(n *node.Node) {
		if again := sentTo(t, n, sent); !samePositions(first, again) {
			t.Errorf("sent again: %+v, first %+v", again, first)
		}
		ends, err := n.Log().Ends(t.Context(), "commands", "agents")
		if err != nil {
			t.Fatal(err)
		}
		var held int64
		for _, end := range ends {
			held += end
		}
		if held != int64(len(sent)) {
			t.Errorf("the log holds %d events of %d sent", held, len(sent))
		}
		// Other events do not count as duplicates.
		if other := sentTo(t, n, events("make four")); other[0].Duplicate {
			t.Errorf("another event: %+v", other)
		}
	})
}

// TestSentAgainToAProcessThatOnlyIngests checks that a process without projections knows the ids at
// the end of its log, also after a restart.
func TestSentAgainToAProcessThatOnlyIngests(t *testing.T) {
	cfg := config(t.TempDir())
	cfg.Roles = []string{node.RoleLog, node.RoleIngest}
	// More than the first step reads.
	sent := events(many(600)...)
	var first []api.Appended
	with(t, cfg, func(n *node.Node) { first = sentTo(t, n, sent) })
	with(t, cfg, func(n *node.Node) {
		if again := sentTo(t, n, sent); !samePositions(first, again) {
			t.Error("sent again after a restart, some events were appended again")
		}
	})
}

func ofAgent(text string) schemas.Event {
	return schemas.Event{
		ID: schemas.NewCanon("again").String(text).ID(), Type: "user_message",
		Payload: []byte(`{"workspace":"/w","agent":"claude","session":"s","text":"` + text + `"}`),
	}
}

func with(t *testing.T, cfg node.Config, fn func(n *node.Node)) {
	t.Helper()
	n, err := node.OpenLocal(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	fn(n)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
}

func sentTo(t *testing.T, n *node.Node, sent []schemas.Event) []api.Appended {
	t.Helper()
	out, err := n.Append(t.Context(), slices.Clone(sent))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func samePositions(first, again []api.Appended) bool {
	return slices.EqualFunc(first, again, func(a, b api.Appended) bool {
		return a.ID == b.ID && a.Position == b.Position && b.Duplicate
	})
}
