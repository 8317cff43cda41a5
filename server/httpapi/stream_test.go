package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/httpapi"
)

func place(next int64) schemas.Watermark {
	return schemas.Watermark{{Topic: "recount.commands", Partition: 1}: next}
}

// commandsUpTo5 sends commands from r.From up to offset 5, then ends as if the node stopped.
func commandsUpTo5(_ context.Context, r commands.FollowRequest, each func(commands.Followed) error) error {
	next := max(r.From[schemas.TopicPartition{Topic: "recount.commands", Partition: 1}], 2)
	if err := each(commands.Followed{Next: place(next)}); err != nil {
		return err
	}
	for sent := 0; next < 5; {
		command := commands.Scanned{Intent: commands.Intent{Command: fmt.Sprintf("make\n%d <&>", next)}}
		next++
		if err := each(commands.Followed{Command: &command, Next: place(next)}); err != nil {
			return err
		}
		if sent++; sent == r.Limit {
			return nil
		}
	}
	return api.ErrUnavailable // the node stops
}

// TestServerSentEvents checks the bytes of a stream, in the form that a browser's EventSource
// reads.
func TestServerSentEvents(t *testing.T) {
	var asked commands.FollowRequest
	f := &fake{follow: func(ctx context.Context, r commands.FollowRequest, each func(commands.Followed) error) error {
		asked = r
		return commandsUpTo5(ctx, r, each)
	}}
	srv, _ := serve(t, f, httpapi.Options{Beat: time.Minute})
	resp, body := request(t, srv, "GET", "/v1/intents?exit=fail&cwd=/src&limit=1&from=recount.commands/1:3", nil, "Accept", "text/event-stream")
	want := "retry: 2000\n:\nid: recount.commands/1:3\n\nevent: intent\nid: recount.commands/1:4\ndata: {"
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" || !strings.HasPrefix(body, want) || strings.Count(body, "\n\n") != 2 {
		t.Errorf("got %d %v\n%s", resp.StatusCode, resp.Header, body)
	}
	if d := cmp.Diff(asked, commands.FollowRequest{Filters: commands.Filters{Exit: "fail", Cwd: "/src"}, Limit: 1, From: place(3), Beat: time.Minute}); d != "" {
		t.Error(d)
	}
	// The id of the last event takes precedence over from.
	if _, body = request(t, srv, "GET", "/v1/intents?from=recount.commands/1:0", nil, "Accept", "text/event-stream", "Last-Event-ID", "recount.commands/1:4"); strings.Count(body, "data:") != 1 || !strings.Contains(body, "4 ") {
		t.Errorf("after the last id: %s", body)
	}
	for path, want := range map[string]string{"?from=x": "query.from", "?exit=fail&nope=1": "nope", "?limit=-1": "query.limit"} {
		if resp, body := request(t, srv, "GET", "/v1/intents"+path, nil, "Accept", "text/event-stream"); resp.StatusCode != 422 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", path, resp.StatusCode, body)
		}
	}
	if resp, body := request(t, srv, "GET", "/v1/intents", nil, "Accept", "text/event-stream", "Last-Event-ID", "x"); resp.StatusCode != 422 || !strings.Contains(body, "header.Last-Event-ID") {
		t.Errorf("a last id of another kind: %d %s", resp.StatusCode, body)
	}
	f.follow = func(context.Context, commands.FollowRequest, func(commands.Followed) error) error {
		return &query.RequestError{Field: "filters.exit", Value: "maybe", Reason: "no"}
	}
	if resp, body := request(t, srv, "GET", "/v1/intents", nil, "Accept", "text/event-stream"); resp.StatusCode != 422 || !strings.Contains(body, "query.exit") {
		t.Errorf("an error before the first event: %d %s", resp.StatusCode, body)
	}
}

// TestClientFollows checks that the client reads what the server sends and continues where a stream
// was cut off.
func TestClientFollows(t *testing.T) {
	f := &fake{follow: commandsUpTo5}
	_, c := serve(t, f, httpapi.Options{})
	var got []string
	var last schemas.Watermark
	read := func(r commands.FollowRequest, stop int) error {
		enough := errors.New("enough")
		err := c.Follow(t.Context(), r, func(f commands.Followed) error {
			last = f.Next
			if f.Command != nil {
				got = append(got, f.Command.Command)
				if len(got) == stop {
					return enough
				}
			}
			return nil
		})
		if errors.Is(err, enough) {
			return nil
		}
		return err
	}
	if err := read(commands.FollowRequest{From: place(2)}, 2); err != nil {
		t.Fatal(err)
	}
	if err := read(commands.FollowRequest{From: last}, 0); !errors.Is(err, api.ErrUnavailable) {
		t.Errorf("the server stopped: %v", err)
	}
	if d := cmp.Diff(got, []string{"make\n2 <&>", "make\n3 <&>", "make\n4 <&>"}); d != "" {
		t.Error(d)
	}
	if err := read(commands.FollowRequest{From: place(2), Limit: 1}, 0); err != nil {
		t.Errorf("a limit reached: %v", err)
	}
	f.follow = func(_ context.Context, _ commands.FollowRequest, each func(commands.Followed) error) error {
		_ = each(commands.Followed{Next: place(1)})
		return errors.New("disk gone")
	}
	if err := read(commands.FollowRequest{}, 0); err == nil || errors.Is(err, api.ErrUnavailable) {
		t.Errorf("a stream cut short: %v", err)
	}
}

// TestAStreamEndsWithItsClient checks that a stream ends if its client disconnects, and also, by
// the deadline of each write, if its client stops reading.
func TestAStreamEndsWithItsClient(t *testing.T) {
	gone := make(chan error, 1)
	f := &fake{follow: func(ctx context.Context, _ commands.FollowRequest, each func(commands.Followed) error) error {
		_ = each(commands.Followed{Next: place(1)})
		<-ctx.Done()
		gone <- ctx.Err()
		return ctx.Err()
	}}
	_, c := serve(t, f, httpapi.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	if err := c.Follow(ctx, commands.FollowRequest{}, func(commands.Followed) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("the server's: %v", err)
	}

	w := &writeDeadlines{ResponseRecorder: httptest.NewRecorder()}
	f.follow = commandsUpTo5
	r := httptest.NewRequest(http.MethodGet, "http://localhost/v1/intents", nil)
	r.Header.Set("Accept", "text/event-stream")
	httpapi.New(f, httpapi.Options{}).ServeHTTP(w, r)
	if len(w.set) != 4 || !w.Flushed {
		t.Fatalf("%d deadlines for 4 writes, flushed %v", len(w.set), w.Flushed)
	}
	for i, d := range w.set {
		if d.IsZero() || i > 0 && d.Before(w.set[i-1]) {
			t.Errorf("write %d may take until %v", i, d)
		}
	}
	f.follow = func(_ context.Context, _ commands.FollowRequest, each func(commands.Followed) error) error {
		for i := int64(1); ; i++ {
			if err := each(commands.Followed{Next: place(i)}); err != nil {
				return err
			}
		}
	}
	w = &writeDeadlines{ResponseRecorder: httptest.NewRecorder(), failAfter: 3}
	defer func() {
		if p := recover(); p != http.ErrAbortHandler {
			t.Errorf("a client that does not read: %v", p)
		}
	}()
	httpapi.New(f, httpapi.Options{}).ServeHTTP(w, r)
}

// writeDeadlines is a connection that records its write deadlines and whose client stops reading
// after some writes.
type writeDeadlines struct {
	*httptest.ResponseRecorder
	set       []time.Time
	failAfter int
}

func (d *writeDeadlines) SetWriteDeadline(t time.Time) error { d.set = append(d.set, t); return nil }
func (d *writeDeadlines) SetReadDeadline(time.Time) error    { return nil }

func (d *writeDeadlines) Write(b []byte) (int, error) {
	if d.failAfter > 0 && len(d.set) > d.failAfter {
		return 0, errors.New("i/o timeout")
	}
	return d.ResponseRecorder.Write(b)
}

func TestAccept(t *testing.T) {
	srv, _ := serve(t, &fake{follow: commandsUpTo5}, httpapi.Options{})
	for _, c := range []struct {
		method, path, accept string
		status               int
		media                string
	}{
		{"GET", "/v1/intents", "", 200, "application/x-ndjson"},
		{"GET", "/v1/intents", "*/*", 200, "application/x-ndjson"},
		{"GET", "/v1/intents", "application/json", 200, "application/x-ndjson"},
		{"GET", "/v1/intents", "application/vnd.apache.arrow.stream", 200, "application/vnd.apache.arrow.stream"},
		{"GET", "/v1/intents", "application/x-ndjson;q=0.5, application/vnd.apache.arrow.stream;q=0.9", 200, "application/vnd.apache.arrow.stream"},
		{"GET", "/v1/intents", "application/*, application/x-ndjson;q=0", 200, "application/vnd.apache.arrow.stream"},
		{"GET", "/v1/intents", "text/event-stream", 200, "text/event-stream"},
		{"GET", "/v1/intents", "TEXT/*", 200, "text/event-stream"},
		{"GET", "/v1/intents", "text/csv", 406, ""},
		{"GET", "/v1/intents", "*/*;q=0", 406, ""},
		{"GET", "/v1/status", "text/html,application/xhtml+xml,*/*;q=0.8", 200, "application/json"},
		{"GET", "/v1/status", "text/html", 406, ""},
		{"POST", "/v1/find", "application/vnd.apache.arrow.stream", 406, ""},
		{"POST", "/v1/find", "application/json;q=0.1", 200, "application/json"},
		{"POST", "/v1/why", "text/event-stream", 406, ""},
		{"POST", "/v1/stitch", "text/csv", 406, ""},
		{"POST", "/v1/diff", "text/csv", 406, ""},
		{"POST", "/v1/insights", "text/csv", 406, ""},
		{"POST", "/v1/rebuild", "text/csv", 406, ""},
		{"POST", "/v1/rebuild", "application/json", 200, "application/x-ndjson"},
		{"POST", "/v1/events", "text/csv", 406, ""},
	} {
		resp, body := request(t, srv, c.method, c.path, strings.NewReader(`{}`), "Content-Type", "application/json", "Accept", c.accept)
		if c.status == 406 {
			c.media = "application/problem+json"
		}
		if media := resp.Header.Get("Content-Type"); resp.StatusCode != c.status || media != c.media {
			t.Errorf("%s %s, accept %q: %d %s %.100s", c.method, c.path, c.accept, resp.StatusCode, media, body)
		}
	}
}

// TestNarrativeQuestions checks that requests and the errors that a caller can act on pass through
// client and server unchanged.
func TestNarrativeQuestions(t *testing.T) {
	srv, c := serve(t, &fake{}, httpapi.Options{})
	ctx, ref := t.Context(), "recount.commands/0/7"
	if r, err := commands.WhyQuestion.Ask(ctx, c, commands.WhyRequest{Ref: ref}); err != nil || r.Root.Command != ref {
		t.Errorf("why: %+v %v", r, err)
	}
	if r, err := commands.StitchQuestion.Ask(ctx, c, commands.StitchRequest{Ref: ref, Walk: commands.Walk{Nodes: 1}}); err != nil || !r.Truncated {
		t.Errorf("stitch: %+v %v", r, err)
	}
	if r, err := commands.DiffQuestion.Ask(ctx, c, commands.DiffRequest{A: "abcd", B: ref}); err != nil || r.Verdict != "abcd against "+ref {
		t.Errorf("diff: %+v %v", r, err)
	}
	if r, err := commands.InsightsQuestion.Ask(ctx, c, commands.InsightsRequest{Limit: 3}); err != nil || r.Commands != 3 {
		t.Errorf("insights: %+v %v", r, err)
	}
	var nf *query.NotFoundError
	var am *query.AmbiguousError
	var re *query.RequestError
	if _, err := commands.WhyQuestion.Ask(ctx, c, commands.WhyRequest{Ref: "ffff"}); !errors.As(err, &nf) || nf.Ref != "ffff" {
		t.Errorf("why nothing: %v", err)
	}
	if _, err := commands.DiffQuestion.Ask(ctx, c, commands.DiffRequest{A: "abcd", B: "0a"}); !errors.As(err, &am) || len(am.Matches) != 2 || am.Matches[0].Time.IsZero() {
		t.Errorf("diff ambiguous: %v", err)
	}
	if _, err := commands.StitchQuestion.Ask(ctx, c, commands.StitchRequest{Ref: ref, Walk: commands.Walk{Depth: -1}}); !errors.As(err, &re) || re.Field != "depth" {
		t.Errorf("stitch depth: %v", err)
	}
	for path, bodies := range map[string][]string{
		"/v1/why":      {`{"id":"abcd","depth":0}`, `{"id":"abcd","depth":-1}`, `{"id":"abcd","depth":1000000}`, `{"id":"abcd","nodes":0}`, `{"id":"abcd","min_weight":2}`, `{"id":"abcd","limit":0}`, `{}`, `{"id":"abcd","kind":"x"}`},
		"/v1/stitch":   {`{"id":"abcd","depth":33}`, `{"id":"abcd","nodes":1001}`, `{}`},
		"/v1/diff":     {`{"a":"abcd"}`, `{"a":"abcd","b":"abcd","depth":-3}`},
		"/v1/insights": {`{"limit":0}`, `{"limit":1001}`, `{"filters":{"category":"fun"}}`},
	} {
		for _, b := range bodies {
			if resp, body := request(t, srv, "POST", path, strings.NewReader(b), "Content-Type", "application/json"); resp.StatusCode != 422 || !strings.Contains(body, `"location":"body`) {
				t.Errorf("%s %s: %d %s", path, b, resp.StatusCode, body)
			}
		}
	}
	if resp, body := request(t, srv, "POST", "/v1/why", strings.NewReader(`{"id":"0a"}`), "Content-Type", "application/json"); resp.StatusCode != 409 || !strings.Contains(body, "make two") {
		t.Errorf("ambiguous: %d %s", resp.StatusCode, body)
	}
}
