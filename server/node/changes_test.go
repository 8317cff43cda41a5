package node_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/api"
)

// TestChanges checks that the stream of changes tells in which topics something became visible, to
// each principal only of those that it may ask about as a whole, and that it goes on where it ended.
func TestChanges(t *testing.T) {
	cfg := config(t.TempDir())
	cfg.Kafka.Listen = "none"
	r := start(t, cfg)
	enough := errors.New("enough")
	// told follows until a topic is told; began is closed when the stream has begun.
	told := func(p schemas.Principal, from schemas.Watermark, began func()) (follows, topics []string, next schemas.Watermark) {
		t.Helper()
		err := r.Node.Changes(access.NewContext(t.Context(), p), api.ChangesRequest{From: from}, func(c api.Changed) error {
			if c.Follows != nil {
				follows = c.Follows
				began()
			}
			topics, next = append(topics, c.Topics...), c.Next
			if len(topics) > 0 {
				return enough
			}
			return nil
		})
		if !errors.Is(err, enough) {
			t.Fatal(err)
		}
		return follows, topics, next
	}
	command := func() {
		if _, err := r.Node.Append(t.Context(), []schemas.Event{{Type: schemas.TypeCommandExecuted, Payload: []byte(`{"command":"make","cwd":"/src/app"}`)}}); err != nil {
			t.Fatal(err)
		}
	}
	follows, topics, next := told(schemas.Principal{Operator: true}, nil, command)
	if want := []string{"agents", "commands", "commits", "facts", "spans"}; !slices.Equal(follows, want) || !slices.Equal(topics, []string{"commands"}) {
		t.Errorf("the operator follows %v and is told of %v", follows, topics)
	}
	// What came between two streams is told at once.
	command()
	if _, topics, _ = told(schemas.Principal{Operator: true}, next, func() {}); !slices.Equal(topics, []string{"commands"}) {
		t.Errorf("after an interruption: %v", topics)
	}
	// A token of some workspaces is not told when others run commands.
	some := schemas.Principal{Workspaces: []string{"/src/app"}, Grants: []string{schemas.GrantCommands, schemas.GrantCode}}
	ctx, cancel := context.WithCancel(access.NewContext(t.Context(), some))
	err := r.Node.Changes(ctx, api.ChangesRequest{From: schemas.Watermark{}}, func(c api.Changed) error {
		if !slices.Equal(c.Follows, []string{"commits"}) || len(c.Topics) > 0 || len(c.Next) > 0 {
			t.Errorf("a token of some workspaces: %+v", c)
		}
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
