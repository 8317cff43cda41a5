package commands_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
)

// follow runs until it has n commands, and returns their texts by partition and
// where to go on after each.
func follow(t *testing.T, h *history, r commands.FollowRequest, n int) (byPartition map[int32][]string, next []schemas.Watermark) {
	t.Helper()
	byPartition = map[int32][]string{}
	r.Beat, r.Limit = time.Hour, n
	err := commands.Follow(t.Context(), h.sources(), r, func(f commands.Followed) error {
		if f.Command == nil {
			return nil
		}
		byPartition[f.Command.Position.Partition] = append(byPartition[f.Command.Position.Partition], f.Command.Command)
		next = append(next, f.Next)
		return nil
	})
	if err != nil {
		t.Error(err) // not Fatal: it may run in a goroutine
	}
	return byPartition, next
}

// Every command comes once and in its partition's order, however the log came in
// and wherever one goes on from.
func TestFollow(t *testing.T) {
	h := newHistory(t)
	h.add(0, 0, `{"command":"before"}`)
	type got struct {
		commands map[int32][]string
		next     []schemas.Watermark
	}
	const n = 300
	start := h.set.Watermark()
	done := make(chan got)
	go func() {
		commands, next := follow(t, h, commands.FollowRequest{From: start}, n)
		done <- got{commands, next}
	}()
	rng := rand.New(rand.NewPCG(1, 2))
	want := map[int32][]string{}
	for i := range n {
		p := rng.Int32N(3)
		command := fmt.Sprintf("make target-%d", i)
		want[p] = append(want[p], command)
		at := h.add(p, i, fmt.Sprintf(`{"command":%q,"exit_code":%d}`, command, i%3))
		if i%7 == 0 {
			h.add((p+1)%3, i, fmt.Sprintf(`{"command_event_id":"11111111-1111-4111-8111-%012d","exit_code":1}`, at.Offset))
		}
	}
	live := <-done
	if d := cmp.Diff(live.commands, want); d != "" {
		t.Fatalf("live: got - want +\n%s", d)
	}
	// From wherever the stream broke, the rest comes: nothing is lost or repeated.
	for k, from := range live.next[:n-1] {
		if k%13 != 0 {
			continue
		}
		rest, _ := follow(t, h, commands.FollowRequest{From: from}, n-k-1)
		for p := range int32(3) {
			all := append(append([]string{}, want[p][:len(want[p])-len(rest[p])]...), rest[p]...)
			if d := cmp.Diff(all, want[p]); d != "" {
				t.Fatalf("after %d, partition %d: %s", k+1, p, d)
			}
		}
	}
	// A watermark that names no partition begins with the log.
	all, _ := follow(t, h, commands.FollowRequest{From: schemas.Watermark{}}, n+1)
	if all[0][0] != "before" {
		t.Errorf("from the beginning: first is %q", all[0][0])
	}
	failed, _ := follow(t, h, commands.FollowRequest{From: start, Filters: commands.Filters{Exit: "2"}}, n/3)
	for p, commands := range failed {
		var two []string
		for i := range n {
			for _, c := range want[p] {
				if i%3 == 2 && c == fmt.Sprintf("make target-%d", i) {
					two = append(two, c)
				}
			}
		}
		if d := cmp.Diff(commands, two); d != "" {
			t.Errorf("exit 2 in partition %d: %s", p, d)
		}
	}
}

// Where nothing passes, the place is told all the same, and it moves.
func TestFollowBeats(t *testing.T) {
	h := newHistory(t)
	h.add(0, 0, `{"command":"ls"}`)
	enough := errors.New("enough")
	begun := false
	err := commands.Follow(t.Context(), h.sources(), commands.FollowRequest{Filters: commands.Filters{Session: "none"}, Beat: time.Millisecond}, func(f commands.Followed) error {
		if f.Command != nil {
			t.Errorf("told %q", f.Command.Command)
		}
		if !begun {
			begun = true
			h.add(0, 1, `{"command":"ls"}`)
		}
		if f.Next[schemas.TopicPartition{Topic: topic}] == 2 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) {
		t.Errorf("ended with %v", err)
	}
}

func TestFollowEnds(t *testing.T) {
	h := newHistory(t)
	for i := range 5 {
		h.add(0, i, fmt.Sprintf(`{"command":"c%d"}`, i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	err := commands.Follow(ctx, h.sources(), commands.FollowRequest{From: schemas.Watermark{}, Beat: time.Hour}, func(f commands.Followed) error {
		if f.Command == nil {
			if f.Next == nil || len(f.Next) > 0 || n > 0 {
				t.Errorf("it began at %v after %d", f.Next, n)
			}
			return nil
		}
		if n++; n == 5 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || n != 5 {
		t.Errorf("the context's end: %v after %d", err, n)
	}
	var re *query.RequestError
	for _, r := range []commands.FollowRequest{{Limit: -1}, {Filters: commands.Filters{Exit: "maybe"}}} {
		r.Beat = time.Hour
		if err := commands.Follow(t.Context(), h.sources(), r, nil); !errors.As(err, &re) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}
