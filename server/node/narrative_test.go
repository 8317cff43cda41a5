package node_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/httpapi"
	"github.com/recountdb/recount/server/node"
)

// TestFollowOverARestart checks that a follower gets what is appended, continues after a restart
// without loss or repeats, and does not prevent the server from stopping.
func TestFollowOverARestart(t *testing.T) {
	dir := t.TempDir()
	r := start(t, config(dir))
	r.append(t, "before")
	r.find(t, commands.FindRequest{})
	var got []string
	var last schemas.Watermark
	follow := func(r *running, from schemas.Watermark, each func()) error {
		return r.Client.Follow(t.Context(), commands.FollowRequest{From: from}, func(f commands.Followed) error {
			last = f.Next
			if f.Command != nil {
				got = append(got, f.Command.Command)
			}
			each()
			return nil
		})
	}
	begun := make(chan struct{}, 100)
	ended := make(chan error, 1)
	go func() { ended <- follow(r, nil, func() { begun <- struct{}{} }) }()
	<-begun
	r.append(t, "one", "two")
	<-begun
	<-begun
	r.stop() // fails the test if a stream delays it
	if err := <-ended; !errors.Is(err, api.ErrUnavailable) {
		t.Fatalf("the stream of a server that stops: %v", err)
	}
	if !slices.Equal(got, []string{"one", "two"}) {
		t.Fatalf("got %q", got)
	}

	r = start(t, config(dir))
	r.append(t, "three", "four")
	enough := errors.New("enough")
	err := r.Client.Follow(t.Context(), commands.FollowRequest{From: last}, func(f commands.Followed) error {
		if f.Command != nil {
			got = append(got, f.Command.Command)
		}
		if len(got) == 4 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || !slices.Equal(got, []string{"one", "two", "three", "four"}) {
		t.Errorf("after the restart: %q, %v", got, err)
	}
	beyond := schemas.Watermark{}
	for tp, next := range last {
		beyond[tp] = next + 1000
	}
	var ae *httpapi.APIError
	if err := r.Client.Follow(t.Context(), commands.FollowRequest{From: beyond}, nil); !errors.As(err, &ae) || ae.Status != 422 || !strings.Contains(err.Error(), "another log") {
		t.Errorf("a place beyond the log: %v", err)
	}
}

// TestFollowersComeAndGo checks that many followers, some of which never read, prevent the server
// neither from accepting events nor from stopping.
func TestFollowersComeAndGo(t *testing.T) {
	r := start(t, config(t.TempDir()))
	ctx, cancel := context.WithCancel(t.Context())
	stuck := make(chan struct{})
	ended := make(chan error, 8)
	for range 4 {
		begun := make(chan struct{})
		go func() {
			first := true
			ended <- r.Client.Follow(ctx, commands.FollowRequest{}, func(commands.Followed) error {
				if first {
					first = false
					close(begun)
				}
				<-stuck // stop reading
				return nil
			})
		}()
		<-begun
	}
	batch := events(make([]string, 250)...)
	for i := range batch { // more than the buffers of two sockets hold
		batch[i].ID = schemas.NewCanon("test").Int(int64(i)).ID()
		batch[i].Payload = fmt.Appendf(nil, `{"command":"make %d","output_tail":%q}`, i, strings.Repeat("x", 60_000))
	}
	if _, err := r.Client.Append(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	if got := len(r.find(t, commands.FindRequest{Limit: 1000, Repeats: true}).Hits); got != len(batch) {
		t.Errorf("found %d of %d", got, len(batch))
	}
	r.stop()
	cancel()
	close(stuck)
	for range 4 {
		if err := <-ended; err == nil {
			t.Error("a stream ended as if it had been asked to")
		}
	}
}

func TestFollowNeedsAServer(t *testing.T) {
	n, err := node.OpenLocal(t.Context(), config(t.TempDir()), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if err := n.Follow(t.Context(), commands.FollowRequest{Beat: time.Hour}, nil); !errors.Is(err, api.ErrUnavailable) || !strings.Contains(err.Error(), "recount up") {
		t.Errorf("got %v", err)
	}
}

// TestArrowHasOutcomes checks that Arrow and NDJSON show the same outcomes, also those that came in
// events of their own.
func TestArrowHasOutcomes(t *testing.T) {
	r := start(t, config(t.TempDir()))
	e := events("make all")[0]
	e.Payload = []byte(`{"command":"make all","cwd":"/src/app"}`)
	at, err := r.Client.Append(t.Context(), []schemas.Event{e, {
		Type: schemas.TypeOutcomeObserved, Time: e.Time.Add(time.Minute),
		Payload: fmt.Appendf(nil, `{"command_event_id":%q,"exit_code":3,"duration":"2s"}`, e.ID),
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := schemas.Watermark{}
	for _, a := range at {
		want[a.Position.TP()] = max(want[a.Position.TP()], a.Position.Offset+1)
	}
	r.waitFor(t, want)
	for _, f := range []commands.Filters{{}, {Exit: "fail"}, {Exit: "3", Cwd: "/src"}, {Exit: "ok"}} {
		var b bytes.Buffer
		if err := r.Client.Scan(t.Context(), api.ScanRequest{Format: api.FormatArrow, Filters: f}, &b); err != nil {
			t.Fatal(err)
		}
		in, err := ipc.NewReader(&b)
		if err != nil {
			t.Fatal(err)
		}
		rows := int64(0)
		for in.Next() {
			rec := in.RecordBatch()
			if rows += rec.NumRows(); rec.NumRows() == 0 {
				continue
			}
			exit := rec.Column(rec.Schema().FieldIndices("exit_code")[0]).(*array.Int32)
			duration := rec.Column(rec.Schema().FieldIndices("duration")[0])
			if exit.IsNull(0) || exit.Value(0) != 3 || duration.IsNull(0) {
				t.Errorf("%+v: exit %v, duration %v", f, exit, duration)
			}
		}
		in.Release()
		if (rows == 1) != (f.Exit != "ok") {
			t.Errorf("%+v: %d rows", f, rows)
		}
	}
}

// TestNarrativeOverHTTP checks that questions about narratives get the same answers over HTTP as in
// the process.
func TestNarrativeOverHTTP(t *testing.T) {
	r := start(t, config(t.TempDir()))
	story := events("git clone https://example.com/app", "vim Makefile", "make test")
	story[2].Payload = []byte(`{"command":"make test","cwd":"/src/app","session":"s1","exit_code":2}`)
	at, err := r.Client.Append(t.Context(), story)
	if err != nil {
		t.Fatal(err)
	}
	ends, err := r.Log().Ends(t.Context(), "recount.commands")
	if err != nil {
		t.Fatal(err)
	}
	m := query.Moment{AtLeast: ends, WaitMS: int(patience.Milliseconds())}
	root := at[2].ID
	why, err := commands.WhyQuestion.Ask(t.Context(), r.Client, commands.WhyRequest{Ref: root.String()[:13], Moment: m, Walk: commands.Walk{Kinds: []string{"temporal"}}})
	if err != nil || why.Root.ID != root || len(why.Causes) != 2 || len(why.Edges) != 2 {
		t.Errorf("why: %+v %v", why, err)
	}
	stitch, err := commands.StitchQuestion.Ask(t.Context(), r.Client, commands.StitchRequest{Ref: at[1].Position.String(), Moment: m})
	if err != nil || len(stitch.Nodes) != 3 || stitch.Root != at[1].ID {
		t.Errorf("stitch: %+v %v", stitch, err)
	}
	diff, err := commands.DiffQuestion.Ask(t.Context(), r.Client, commands.DiffRequest{A: at[1].ID.String(), B: root.String(), Moment: m})
	if err != nil || diff.A != at[1].ID || diff.B != root || len(diff.Lines) == 0 {
		t.Errorf("diff: %+v %v", diff, err)
	}
	insights, err := commands.InsightsQuestion.Ask(t.Context(), r.Client, commands.InsightsRequest{Moment: m})
	if err != nil || insights.Commands != 3 || insights.After == nil || insights.After.ID != root {
		t.Errorf("insights: %+v %v", insights, err)
	}
	late := query.Moment{AtLeast: schemas.Watermark{at[0].Position.TP(): 1 << 40}, WaitMS: 1}
	var ae *httpapi.APIError
	if _, err := commands.WhyQuestion.Ask(t.Context(), r.Client, commands.WhyRequest{Ref: root.String(), Moment: late}); !errors.As(err, &ae) || ae.Status != 504 {
		t.Errorf("at_least of what never comes: %v", err)
	}
}
