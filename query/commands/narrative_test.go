package commands_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
)

// sessions are some of commands in three partitions, a third of them with
// their outcomes as events of their own, in the order of time.
func sessions(seed uint64, n int) map[int32][]schemas.Event {
	rng := rand.New(rand.NewPCG(seed, 7))
	commands := []string{"vi main.go", "make test", "make test", "go build ./...", "cat main.go", "git pull", "rm -rf out", "cp main.go old.go", "pip install numpy", "python train.py"}
	all := map[int32][]schemas.Event{}
	for i := range n {
		p := int32(rng.IntN(3))
		c := commands[rng.IntN(len(commands))]
		at := epoch.Add(time.Duration(i) * 20 * time.Second)
		payload := map[string]any{"command": c, "cwd": fmt.Sprintf("/src/w%d", p), "workspace": fmt.Sprintf("/src/w%d", p), "session": fmt.Sprint("s", p, rng.IntN(2)), "host": "h"}
		code, out := rng.IntN(3)%2, ""
		if code == 1 {
			out = "main.go:3: no module named 'numpy'"
		}
		late := rng.IntN(3) == 0
		if !late {
			payload["exit_code"], payload["output_tail"] = code, out
		}
		e := encoded(schemas.TypeCommandExecuted, i, at, payload)
		all[p] = append(all[p], e)
		if late {
			all[p] = append(all[p], encoded(schemas.TypeOutcomeObserved, n+i, at.Add(5*time.Second), map[string]any{
				"command_event_id": e.ID.String(), "exit_code": code, "output_tail": out, "observed_at": at.Add(5 * time.Second).Format(time.RFC3339),
			}))
		}
	}
	return all
}

func encoded(typ string, n int, at time.Time, payload map[string]any) schemas.Event {
	b, err := json.Marshal(payload)
	if err != nil {
		panic(err)
	}
	return schemas.Event{
		ID: schemas.NewCanon("work").String(fmt.Sprint(n)).ID(), Type: typ, Source: "test", Time: at,
		ContentType: schemas.ContentJSON, Payload: b,
	}
}

// asked are the answers about some commands, as JSON without their timing. A
// command that is not known is told by its error.
func asked(t *testing.T, s commands.Sources, ids []schemas.EventID, m query.Moment) []string {
	t.Helper()
	var out []string
	add := func(v any, timing *query.Timing, err error) {
		var nf *query.NotFoundError
		if errors.As(err, &nf) {
			out = append(out, "not found")
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		*timing = query.Timing{}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(b))
	}
	for i, id := range ids {
		ref := id.String()
		for _, kinds := range [][]string{nil, {"causal", "temporal"}} {
			w, err := commands.Why(t.Context(), s, commands.WhyRequest{Ref: ref, Walk: commands.Walk{Kinds: kinds}, Moment: m})
			add(&w, &w.Timing, err)
			st, err := commands.Stitch(t.Context(), s, commands.StitchRequest{Ref: ref, Walk: commands.Walk{Kinds: kinds, Nodes: 12}, Moment: m})
			add(&st, &st.Timing, err)
		}
		d, err := commands.Diff(t.Context(), s, commands.DiffRequest{A: ref, B: ids[(i+1)%len(ids)].String(), Moment: m})
		add(&d, &d.Timing, err)
	}
	return out
}

func some(all map[int32][]schemas.Event, n int) []schemas.EventID {
	var ids []schemas.EventID
	for p := range int32(3) {
		for _, e := range all[p] {
			if e.Type == schemas.TypeCommandExecuted {
				ids = append(ids, e.ID)
			}
		}
	}
	step := max(len(ids)/n, 1)
	var out []schemas.EventID
	for i := step - 1; i < len(ids); i += step {
		out = append(out, ids[i])
	}
	return out
}

// However a log is batched, its partitions come together and its events are
// delivered twice, the answers are the same to the byte.
func TestNarrativesAreReproducible(t *testing.T) {
	all := sessions(1, 120)
	ids := some(all, 8)
	var want []string
	for seed := range uint64(4) {
		h := newHistory(t)
		rng := rand.New(rand.NewPCG(seed, 1))
		todo := map[int32][]schemas.Event{}
		for p, events := range all {
			todo[p] = slices.Clone(events)
		}
		for len(todo) > 0 {
			p := int32(rng.IntN(3))
			events, ok := todo[p]
			if !ok {
				continue
			}
			n := 1 + rng.IntN(min(len(events), 20))
			h.addAll(p, events[:n])
			if todo[p] = events[n:]; len(todo[p]) == 0 {
				delete(todo, p)
			}
		}
		got := asked(t, h.sources(), ids, query.Moment{})
		if want == nil {
			want = got
		}
		if d := cmp.Diff(got, want); d != "" {
			t.Fatalf("seed %d: got (-), want (+):\n%s", seed, d)
		}
	}
	if len(want) != 5*len(ids) || slices.Contains(want, "not found") {
		t.Errorf("%d answers for %d commands: %v", len(want), len(ids), want)
	}
	// At a second offset, the same event changes no more than the watermark.
	h, twice := newHistory(t), newHistory(t)
	for p := range int32(3) {
		h.addAll(p, all[p])
		twice.addAll(p, all[p])
		end := twice.next.Partitions()
		twice.addAll(p, all[p][:len(all[p])/2])
		if len(end) == 0 {
			t.Fatal("nothing applied")
		}
	}
	got := asked(t, twice.sources(), ids, query.Moment{AsOf: query.AsOf{Offsets: h.next}})
	if d := cmp.Diff(got, asked(t, h.sources(), ids, query.Moment{AsOf: query.AsOf{Offsets: h.next}})); d != "" {
		t.Errorf("delivered twice (-), once (+):\n%s", d)
	}
}

// Asked as of an earlier watermark, the answer is what it was then.
func TestNarrativesAsOf(t *testing.T) {
	all := sessions(2, 120)
	ids := some(all, 8)
	h := newHistory(t)
	type moment struct {
		at   schemas.Watermark
		said []string
	}
	var moments []moment
	for step := range 4 {
		for p := range int32(3) {
			n := len(all[p])
			h.addAll(p, all[p][step*n/4:(step+1)*n/4])
		}
		at := schemas.Watermark{}
		for tp, next := range h.next {
			at[tp] = next
		}
		moments = append(moments, moment{at, asked(t, h.sources(), ids, query.Moment{AsOf: query.AsOf{Offsets: at}})})
	}
	known := 0
	for i, m := range moments {
		got := asked(t, h.sources(), ids, query.Moment{AsOf: query.AsOf{Offsets: m.at}})
		if d := cmp.Diff(got, m.said); d != "" {
			t.Errorf("as of step %d: now (-), then (+):\n%s", i, d)
		}
		for _, s := range got {
			if s != "not found" {
				known++
			}
		}
	}
	if known == 0 || known == len(moments)*5*len(ids) {
		t.Errorf("%d of the answers are known: the test says nothing", known)
	}
}

// Questions asked while batches are applied see one state each.
func TestNarrativesWhileAppending(t *testing.T) {
	all := sessions(3, 90)
	h := newHistory(t)
	for p := range int32(3) {
		h.addAll(p, all[p][:len(all[p])/3])
	}
	ids := some(map[int32][]schemas.Event{0: all[0][:len(all[0])/3], 1: all[1][:len(all[1])/3], 2: all[2][:len(all[2])/3]}, 4)
	start := query.Moment{AsOf: query.AsOf{Offsets: schemas.Watermark{}}}
	for tp, next := range h.next {
		start.AsOf.Offsets[tp] = next
	}
	want := asked(t, h.sources(), ids, start)
	done := make(chan struct{})
	var wg sync.WaitGroup
	s := h.sources()
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				for _, id := range ids {
					r, err := commands.Stitch(context.Background(), s, commands.StitchRequest{Ref: id.String()})
					if err != nil {
						t.Error(err)
						return
					}
					for _, n := range r.Nodes {
						if n.Position.Offset >= r.Watermark[n.Position.TP()] {
							t.Errorf("%s is above the watermark %s", n.Position, r.Watermark)
						}
					}
				}
			}
		})
	}
	for p := range int32(3) {
		for _, e := range all[p][len(all[p])/3:] {
			h.addAll(p, []schemas.Event{e})
		}
	}
	close(done)
	wg.Wait()
	if d := cmp.Diff(asked(t, s, ids, start), want); d != "" {
		t.Errorf("as of the start: now (-), then (+):\n%s", d)
	}
}

// A session of thousands and a file that all of them use are cut, not walked.
func TestNarrativesAreBounded(t *testing.T) {
	h := newHistory(t)
	var events []schemas.Event
	for i := range 5000 {
		events = append(events, encoded(schemas.TypeCommandExecuted, i, epoch.Add(time.Duration(i)*time.Second), map[string]any{
			"command": fmt.Sprintf("cp hub.txt copy%d.txt", i%7), "cwd": "/src", "workspace": "/src", "session": "s", "exit_code": i % 2,
		}))
	}
	h.addAll(0, events)
	ref := events[2500].ID.String()
	r, err := commands.Stitch(t.Context(), h.sources(), commands.StitchRequest{Ref: ref, Walk: commands.Walk{Depth: commands.MaxDepth, Nodes: 40}})
	if err != nil || len(r.Nodes) != 40 || !r.Truncated || len(r.Edges) == 0 {
		t.Errorf("%d nodes, %d edges, truncated %v, %v", len(r.Nodes), len(r.Edges), r.Truncated, err)
	}
	w, err := commands.Why(t.Context(), h.sources(), commands.WhyRequest{Ref: ref, Walk: commands.Walk{Depth: commands.MaxDepth, Nodes: commands.MaxNodes}, Limit: commands.MaxLimit})
	if err != nil || len(w.Causes) == 0 || len(w.Causes) >= commands.MaxNodes {
		t.Errorf("%d causes, %v", len(w.Causes), err)
	}
	for i, c := range w.Causes {
		if c.Score <= 0 || c.Score > 1 || i > 0 && c.Score > w.Causes[i-1].Score || c.Path[0] != w.Root.ID || c.Path[len(c.Path)-1] != c.ID || len(c.Path) <= c.Depth {
			t.Fatalf("cause %d: %+v", i, c)
		}
	}
	d, err := commands.Diff(t.Context(), h.sources(), commands.DiffRequest{A: ref, B: events[4999].ID.String(), Walk: commands.Walk{Depth: commands.MaxDepth, Nodes: commands.MaxNodes}})
	if err != nil || len(d.Lines) == 0 || d.Lines[len(d.Lines)-1].A.ID != events[2500].ID {
		t.Errorf("%d lines, %v", len(d.Lines), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := commands.Why(ctx, h.sources(), commands.WhyRequest{Ref: ref}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// What is asked for at_least is waited for, and an answer says when it cannot be.
func TestNarrativesAtLeast(t *testing.T) {
	h := newHistory(t)
	at := h.add(0, 0, `{"command":"make"}`)
	want := schemas.Watermark{at.TP(): at.Offset + 2}
	var nv *query.NotVisibleError
	if _, err := commands.Why(t.Context(), h.sources(), commands.WhyRequest{Ref: at.String(), Moment: query.Moment{AtLeast: want, WaitMS: 1}}); !errors.As(err, &nv) {
		t.Errorf("got %v", err)
	}
	h.add(0, 1, `{"command":"make"}`)
	if r, err := commands.Stitch(t.Context(), h.sources(), commands.StitchRequest{Ref: at.String(), Moment: query.Moment{AtLeast: want}}); err != nil || !r.Watermark.Covers(want) {
		t.Errorf("got %s, %v", r.Watermark, err)
	}
}
