package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/query/runtime"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/httpapi"
)

// fake is a backend that records what it receives and returns what the test sets.
type fake struct {
	events  []schemas.Event
	find    func(commands.FindRequest) (commands.FindResponse, error)
	follow  func(context.Context, commands.FollowRequest, func(commands.Followed) error) error
	changes func(context.Context, api.ChangesRequest, func(api.Changed) error) error
	err     error
}

func (f *fake) Append(_ context.Context, events []schemas.Event) ([]api.Appended, error) {
	if f.err != nil {
		return nil, f.err
	}
	for i, e := range events {
		if _, err := e.DecodePayload(); err != nil {
			return nil, &api.EventError{Index: i, Of: len(events), Err: err}
		}
	}
	var out []api.Appended
	for _, e := range events {
		if e.ID.IsZero() {
			e.ID = e.DeriveID()
		}
		out = append(out, api.Appended{ID: e.ID, Position: schemas.Position{Topic: "recount.commands", Offset: int64(len(f.events))}})
		f.events = append(f.events, e)
	}
	return out, nil
}

func (f *fake) Show(_ context.Context, ref string) (commands.ShowResponse, error) {
	switch ref {
	case "0a":
		return commands.ShowResponse{}, &query.AmbiguousError{Prefix: ref, Matches: []query.Candidate{
			{ID: schemas.EventID{0x0a, 1}, Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Command: "make one"},
			{ID: schemas.EventID{0x0a, 2}, Time: time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC), Command: "make two"},
		}}
	case "later":
		return commands.ShowResponse{}, &query.NotFoundError{Ref: ref, Hint: "still being read", Unread: 7}
	case "recount.commands/0/7":
		return commands.ShowResponse{Intent: commands.Intent{Command: "ls"}}, nil
	}
	return commands.ShowResponse{}, &query.NotFoundError{Ref: ref, Hint: "see find", Kind: query.UnknownGraph}
}

func (f *fake) Event(_ context.Context, at schemas.Position) (api.StoredEvent, error) {
	if at.String() != "recount.spans/2/9" {
		return api.StoredEvent{}, &query.NotFoundError{Ref: at.String(), Hint: "the partition holds 0 to 8"}
	}
	return api.StoredEvent{Position: at, Type: "spans.exported", PayloadBase64: []byte{0xff}}, nil
}

func (f *fake) LogTopics(context.Context) (api.LogTopics, error) {
	return api.LogTopics{Topics: []api.LogTopic{}}, nil
}

func (f *fake) LogPage(_ context.Context, r api.LogRequest) (api.LogPage, error) {
	if r.From != nil && *r.From > 9 {
		return api.LogPage{}, &query.NotFoundError{Ref: r.Topic}
	}
	return api.LogPage{Topic: r.Topic, Events: []api.LogEvent{}}, nil
}

func (f *fake) ask(ref string) error {
	_, err := f.Show(context.Background(), ref)
	return err
}

func (f *fake) answerFind(r commands.FindRequest, response *commands.FindResponse) (err error) {
	if f.find != nil {
		*response, err = f.find(r)
		return err
	}
	r, err = r.Normal()
	response.Status, response.Hint = "empty", r.Text
	return err
}

func (f *fake) Answer(_ context.Context, path string, request, response any) error {
	switch r := request.(type) {
	case commands.FindRequest:
		return f.answerFind(r, response.(*commands.FindResponse))
	case commands.WhyRequest:
		response.(*commands.WhyResponse).Root.Command = r.Ref
		return f.ask(r.Ref)
	case commands.StitchRequest:
		response.(*commands.StitchResponse).Truncated = r.Nodes == 1
		return f.ask(r.Ref)
	case commands.DiffRequest:
		response.(*commands.DiffResponse).Verdict = r.A + " against " + r.B
		return f.ask(r.B)
	case commands.InsightsRequest:
		response.(*commands.InsightsResponse).Commands = int64(r.Limit)
		return f.err
	case runtime.TrafficRequest:
		response.(*runtime.TrafficResponse).Operations = []runtime.Traffic{{Service: path + " of " + r.Service}}
		return f.err
	case code.CallsRequest:
		response.(*code.CallsResponse).Symbol.Name = path + " of " + r.Symbol
		return f.err
	case code.FlowRequest:
		return &code.AmbiguousNameError{Ref: "x", What: "symbol \"x\"", Candidates: []code.NameCandidate{{Name: "a.go:x", Is: "function a.x at a.go:1"}, {Name: "b.go:x"}}, More: 3}
	case code.ImpactRequest:
		return &query.NotFoundError{Ref: path, Hint: "see symbols"}
	}
	return &query.NotFoundError{Ref: path, Hint: "no span of that trace was received"}
}

func (f *fake) Follow(ctx context.Context, r commands.FollowRequest, each func(commands.Followed) error) error {
	return f.follow(ctx, r, each)
}

func (f *fake) Changes(ctx context.Context, r api.ChangesRequest, each func(api.Changed) error) error {
	return f.changes(ctx, r, each)
}

func (f *fake) Scan(_ context.Context, r api.ScanRequest, w io.Writer) error {
	if f.err != nil && r.Limit == 0 {
		return f.err
	}
	if _, err := fmt.Fprintf(w, "%s\n", r.Format); err != nil {
		return err
	}
	return f.err
}

func (f *fake) Objects(_ context.Context, r evidence.ExportRequest, w io.Writer) error {
	if f.err != nil {
		return f.err
	}
	return json.NewEncoder(w).Encode(r)
}

func (f *fake) Status(context.Context, api.StatusRequest) (api.Status, error) {
	if f.err != nil {
		return api.Status{}, f.err
	}
	return api.Status{Version: "test", Projections: []api.ProjectionStatus{{Name: "segment", Root: &schemas.Hash{1}}}}, nil
}

func (f *fake) Rebuild(_ context.Context, r api.RebuildRequest, p func(api.Progress)) (api.RebuildReport, error) {
	p(api.Progress{Phase: "replay", Done: 1, Total: 2})
	p(api.Progress{Phase: "replay", Done: 2, Total: 2})
	if f.err != nil {
		return api.RebuildReport{}, f.err
	}
	return api.RebuildReport{Events: 2}, nil
}

func (f *fake) Export(_ context.Context, r code.ExportRequest, w io.Writer) error {
	if r.Symbol == "" && r.Depth != 0 {
		return &query.RequestError{Field: "depth", Value: r.Depth, Reason: "want a symbol with it"} // as query/code does
	}
	if r.Symbol != "" {
		return &query.NotFoundError{Ref: r.Symbol, Hint: "see symbols"}
	}
	_, err := io.WriteString(w, "a graph as "+r.Format)
	return err
}

func (f *fake) Retain(context.Context, api.RetainRequest, func(api.Progress)) (api.RetainReport, error) {
	return api.RetainReport{}, nil
}

func (f *fake) Forget(_ context.Context, r api.ForgetRequest, progress func(api.Progress)) (api.ForgetReport, error) {
	progress(api.Progress{Phase: "search the log", Total: 7})
	return api.ForgetReport{Events: len(r.Events), DryRun: r.DryRun}, nil
}

func (f *fake) Backup(_ context.Context, r api.BackupRequest, progress func(api.Progress)) (api.BackupReport, error) {
	progress(api.Progress{Phase: "copy bytes", Done: 1, Total: 1})
	return api.BackupReport{Dir: r.Dir, Files: 3}, nil
}

func (f *fake) Grow(_ context.Context, q api.GrowRequest, _ func(api.Progress)) (api.GrowReport, error) {
	return api.GrowReport{Topic: "recount." + q.Topic, Before: 4, Partitions: q.Partitions}, nil
}

func (f *fake) Fsck(_ context.Context, _ api.FsckRequest, progress func(api.Progress)) (api.FsckReport, error) {
	progress(api.Progress{Phase: "check snapshots", Done: 1, Total: 2})
	return api.FsckReport{Chunks: 3, Faults: []api.FsckFault{{Repo: "shop", What: "damaged"}}}, nil
}

func (f *fake) Verify(context.Context, api.VerifyRequest, func(api.Progress)) (api.VerifyReport, error) {
	panic("verify: a bug")
}

func serve(t *testing.T, f *fake, o httpapi.Options) (*httptest.Server, *httpapi.Client) {
	t.Helper()
	return serveHandler(t, httpapi.New(f, o))
}

func serveHandler(t *testing.T, h http.Handler) (*httptest.Server, *httpapi.Client) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	c, err := httpapi.NewClient(srv.URL, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return srv, c
}

func request(t *testing.T, srv *httptest.Server, method, path string, body io.Reader, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, srv.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := srv.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(b)
}

// TestInvalidHasItsType checks that every 422 has the type that programs compare.
func TestInvalidHasItsType(t *testing.T) {
	srv, _ := serve(t, &fake{}, httpapi.Options{})
	for _, tc := range []struct{ method, path, body string }{
		{"POST", "/v1/find", `{"limit":-1}`},
		{"POST", "/v1/find", `{"nonesuch":1}`},
		{"GET", "/v1/intents?limit=x", ""},
		{"GET", "/v1/intents?nonesuch=1", ""},
		{"GET", "/v1/log/commands/0?from=x", ""},
		{"POST", "/v1/events", `{"command":""}`},
	} {
		resp, body := request(t, srv, tc.method, tc.path, strings.NewReader(tc.body), "Content-Type", "application/json")
		if resp.StatusCode != 422 || !strings.Contains(body, `"type":"urn:recount:invalid"`) {
			t.Errorf("%s %s %s: %d %s", tc.method, tc.path, tc.body, resp.StatusCode, body)
		}
	}
}

// TestAnotherMethod checks that a path which exists answers 405 with its methods, and no other path does.
func TestAnotherMethod(t *testing.T) {
	srv, _ := serve(t, &fake{}, httpapi.Options{Page: func(mux *http.ServeMux) { mux.HandleFunc("GET /ask", http.NotFound) }})
	for _, tc := range []struct{ method, path, allow string }{
		{"GET", "/v1/find", "POST"},
		{"DELETE", "/v1/events", "POST"},
		{"PUT", "/v1/intents", "GET, HEAD"},
		{"OPTIONS", "/v1/events/commands/0/1", "GET, HEAD"},
		{"PATCH", "/v1/sessions", "GET, HEAD, POST"},
		{"POST", "/ask", "GET, HEAD"},
		{"PUT", "/session", "GET, HEAD"},
		{"GET", "/v1/nothing", ""},
		{"POST", "/v1/find/", ""},
	} {
		resp, body := request(t, srv, tc.method, tc.path, nil)
		want := http.StatusMethodNotAllowed
		if tc.allow == "" {
			want = http.StatusNotFound
		}
		if resp.StatusCode != want || resp.Header.Get("Allow") != tc.allow || resp.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s: %d, allow %q: %s", tc.method, tc.path, resp.StatusCode, resp.Header.Get("Allow"), body)
		}
	}
}

func TestPostEventsTakes(t *testing.T) {
	for name, tc := range map[string]struct {
		media, path, body string
		want              []string // type, source and payload
	}{
		"bare payload": {
			"application/json", "", `{"command":"make test","exit_code":2}`,
			[]string{`command.executed recount {"command":"make test","exit_code":2}`},
		},
		"curl's default media type": {
			"application/x-www-form-urlencoded", "", `{"command":"make"}`,
			[]string{`command.executed recount {"command":"make"}`},
		},
		"type by query": {
			"application/json", "?type=outcome.observed", `{"command_event_id":"a","exit_code":0}`,
			[]string{`outcome.observed recount {"command_event_id":"a","exit_code":0}`},
		},
		"cloudevent": {
			"application/cloudevents+json", "", `{"specversion":"1.0","id":"1","source":"ci","type":"command.executed","data":{"command":"ls"}}`,
			[]string{`command.executed ci {"command":"ls"}`},
		},
		"mixed array": {
			"application/json", "", `[{"command":"a"},{"specversion":"1.0","source":"ci","data":{"command":"b"}}]`,
			[]string{`command.executed recount {"command":"a"}`, `command.executed ci {"command":"b"}`},
		},
		"lines": {
			"application/x-ndjson", "", "{\"command\":\"a\"}\n\n{\"command\":\"b\"}\n",
			[]string{`command.executed recount {"command":"a"}`, `command.executed recount {"command":"b"}`},
		},
		"an agent's event of no known type": {
			"application/json", "?topic=agents&type=dream_had", `{"text":"a"}`,
			[]string{`dream_had recount {"text":"a"}`},
		},
		"agents' events of many types": {
			"application/cloudevents+json", "?topic=agents", `[{"specversion":"1.0","type":"dream_had","data":{"text":"a"}},{"specversion":"1.0","data":{"text":"b"}}]`,
			[]string{`dream_had recount {"text":"a"}`, `user_message recount {"text":"b"}`},
		},
		"protobuf in base64": {
			"application/cloudevents+json", "", `{"specversion":"1.0","type":"command.executed","datacontenttype":"application/protobuf","data_base64":"CgJscw=="}`,
			[]string{"command.executed recount \n\x02ls"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{}
			srv, _ := serve(t, f, httpapi.Options{})
			resp, body := request(t, srv, "POST", "/v1/events"+tc.path, strings.NewReader(tc.body), "Content-Type", tc.media)
			if resp.StatusCode != 200 {
				t.Fatalf("got %d %s", resp.StatusCode, body)
			}
			var got []string
			for _, e := range f.events {
				got = append(got, e.Type+" "+e.Source+" "+string(e.Payload))
			}
			if diff := cmp.Diff(got, tc.want); diff != "" {
				t.Error(diff)
			}
			var answer httpapi.AppendResponse
			if err := json.Unmarshal([]byte(body), &answer); err != nil || len(answer.Events) != len(tc.want) {
				t.Errorf("answer %s: %v", body, err)
			}
		})
	}
}

// TestPostEventsTakesProtobuf checks the binary mode of CloudEvents: the body is the payload,
// headers are attributes.
func TestPostEventsTakesProtobuf(t *testing.T) {
	payload, err := proto.Marshal(&recountv1.SourceRevised{
		Repository: "example.org/acme/shop", Blob: "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", Path: "empty",
	})
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{}
	srv, _ := serve(t, f, httpapi.Options{})
	resp, body := request(t, srv, "POST", "/v1/events", bytes.NewReader(payload), "Content-Type", "application/protobuf",
		"ce-specversion", "1.0", "ce-type", "source.revised", "ce-source", "import%2Fgit", "ce-id", "018f3c2a-9d1e-8b7a-9c44-2f1d6a0b3e55",
		"ce-time", "2026-01-02T03:04:05Z", "ce-partitionkey", "example.org/acme/shop")
	if resp.StatusCode != 200 || len(f.events) != 1 {
		t.Fatalf("got %d %s, %d events", resp.StatusCode, body, len(f.events))
	}
	e := f.events[0]
	if e.Type != "source.revised" || e.Source != "import/git" || string(e.Key) != "example.org/acme/shop" || e.ContentType != schemas.ContentProto ||
		e.ID.String() != "018f3c2a-9d1e-8b7a-9c44-2f1d6a0b3e55" || e.Time.Unix() != 1767323045 || !bytes.Equal(e.Payload, payload) {
		t.Errorf("got %+v", e)
	}
	for name, tc := range map[string]struct {
		body, header, value string
		status              int
		want                string
	}{
		"not protobuf":         {"\xff", "ce-type", "source.revised", 422, "payload of source.revised"},
		"an unknown attribute": {string(payload), "ce-traceparent", "x", 422, "header.ce-traceparent"},
		"the type twice":       {string(payload), "ce-datacontenttype", "application/json", 422, "Content-Type"},
		"too large":            {strings.Repeat("x", httpapi.MaxEvent+1), "ce-type", "source.revised", 413, "the maximum is 4128768"},
	} {
		resp, body := request(t, srv, "POST", "/v1/events?type=source.revised", strings.NewReader(tc.body), "Content-Type", "application/protobuf", tc.header, tc.value)
		if resp.StatusCode != tc.status || !strings.Contains(body, tc.want) {
			t.Errorf("%s: got %d %s, want %d with %q", name, resp.StatusCode, body, tc.status, tc.want)
		}
	}
}

func TestPostEventsRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		media, path, body string
		status            int
		want              string
	}{
		"not JSON":              {"application/json", "", `{"command":`, 400, "not JSON"},
		"nothing":               {"application/json", "", ``, 400, "empty"},
		"no events":             {"application/json", "", `[]`, 422, "no events"},
		"a number":              {"application/json", "", `[{"command":"a"},3]`, 422, "body[1]"},
		"two values":            {"application/json", "", `{"command":"a"}{"command":"b"}`, 400, "application/x-ndjson"},
		"unknown field":         {"application/json", "", `{"command":"a","exitcode":1}`, 422, "exitcode"},
		"field named in batch":  {"application/json", "", `[{"command":"a"},{"cwd":"/"}]`, 422, `body[1]","value":null`},
		"the line is named":     {"application/x-ndjson", "", "{\"command\":\"a\"}\nnope\n", 400, "body line 2"},
		"invalid UTF-8":         {"application/json", "", "{\"command\":\"a\xff\"}", 422, "not UTF-8 at byte 13"},
		"unknown type":          {"application/json", "?type=nope", `{"command":"a"}`, 422, "query.type"},
		"type of another topic": {"application/json", "?topic=agents&type=command.executed", `{"command":"a"}`, 422, "belongs to topic commands, not agents"},
		"unknown topic":         {"application/json", "?topic=nope", `{"command":"a"}`, 422, "query.topic"},
		"topic of rejected":     {"application/json", "?topic=rejected", `{}`, 422, "query.topic"},
		"unknown type in event": {"application/cloudevents+json", "", `{"specversion":"1.0","type":"dream_had","data":{}}`, 422, "?topic=agents"},
		"unknown query":         {"application/json", "?kind=nope", `{"command":"a"}`, 422, "query.kind"},
		"rejected by hand":      {"application/cloudevents+json", "", `{"specversion":"1.0","type":"rejected","data":{}}`, 422, "only the pipeline"},
		"other version":         {"application/cloudevents+json", "", `{"specversion":"0.3","data":{}}`, 422, "specversion"},
		"payload for data":      {"application/json", "", `[{"type":"user_message","payload":{"text":"a"}}]`, 422, "in data or data_base64"},
		"extension":             {"application/cloudevents+json", "", `{"specversion":"1.0","traceparent":"x","data":{"command":"a"}}`, 422, "traceparent"},
		"no data":               {"application/cloudevents+json", "", `{"specversion":"1.0"}`, 422, "data_base64"},
		"bad time":              {"application/cloudevents+json", "", `{"specversion":"1.0","time":"yesterday","data":{"command":"a"}}`, 422, "RFC 3339"},
		"bad base64":            {"application/cloudevents+json", "", `{"specversion":"1.0","data_base64":"!"}`, 422, "not base64"},
		"other media type":      {"text/csv", "", `a,b`, 415, "text/csv"},
		"payload too large":     {"application/json", "", `{"command":"` + strings.Repeat("x", httpapi.MaxEvent) + `"}`, 413, "the maximum is 4128768"},
		"command over its max":  {"application/json", "", `{"command":"a","session":"` + strings.Repeat("x", 300) + `"}`, 422, "session"},
		"a body over the limit": {"application/json", "", `{"command":"` + strings.Repeat("x", 4<<20) + `"}`, 413, "nothing was appended"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{}
			srv, _ := serve(t, f, httpapi.Options{MaxBody: 4 << 20})
			resp, body := request(t, srv, "POST", "/v1/events"+tc.path, strings.NewReader(tc.body), "Content-Type", tc.media)
			want := tc.want
			if name == "field named in batch" {
				want = "body[1]"
			}
			if resp.StatusCode != tc.status || !strings.Contains(body, want) {
				t.Errorf("got %d %s, want %d with %q", resp.StatusCode, body, tc.status, want)
			}
			if ct := resp.Header.Get("Content-Type"); ct != "application/problem+json" {
				t.Errorf("content type %q", ct)
			}
			if len(f.events) != 0 {
				t.Errorf("appended %d events all the same", len(f.events))
			}
		})
	}
}

// TestFiftyMegabytes checks that a command of 50 MB is refused whether or not its length is
// announced.
func TestFiftyMegabytes(t *testing.T) {
	f := &fake{}
	srv, _ := serve(t, f, httpapi.Options{})
	body := append(append([]byte(`{"command":"`), bytes.Repeat([]byte("x"), 50<<20)...), `"}`...)
	for name, r := range map[string]io.Reader{
		"length told": bytes.NewReader(body),
		"chunked":     io.MultiReader(bytes.NewReader(body)),
	} {
		req, _ := http.NewRequest("POST", srv.URL+"/v1/events", r)
		req.Header.Set("Content-Type", "application/json")
		resp, err := srv.Client().Do(req)
		if err != nil {
			// The server closes without reading further; the transport may notice that first.
			if !strings.Contains(err.Error(), "broken pipe") && !strings.Contains(err.Error(), "connection reset") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		resp.Body.Close()
		if resp.StatusCode != 413 {
			t.Errorf("%s: got %d, want 413", name, resp.StatusCode)
		}
	}
	if len(f.events) != 0 {
		t.Error("appended")
	}
}

func TestFindRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		body   string
		status int
		want   string
	}{
		"limit zero":        {`{"limit":0}`, 422, "body.limit"},
		"limit negative":    {`{"limit":-1}`, 422, "body.limit"},
		"limit huge":        {`{"limit":100000}`, 422, "body.limit"},
		"unknown field":     {`{"texts":"a"}`, 422, "unexpected property; did you mean text?"},
		"unknown filter":    {`{"filters":{"dir":"/"}}`, 422, "unexpected property; want author, category, "},
		"a longer name":     {`{"filters":{"workspaces":"/"}}`, 422, "unexpected property; did you mean workspace?"},
		"wrong type":        {`{"text":3}`, 422, "body.text"},
		"bad exit":          {`{"filters":{"exit":"maybe"}}`, 422, "filters.exit"},
		"bad category":      {`{"filters":{"category":"fun"}}`, 422, "body.filters.category"},
		"since after until": {`{"filters":{"since":"2026-02-01T00:00:00Z","until":"2026-01-01T00:00:00Z"}}`, 422, "filters.since"},
		"bad watermark":     {`{"at_least":"x"}`, 422, "TOPIC/PARTITION:NEXT"},
		"bad as_of":         {`{"as_of":"yesterday"}`, 422, "RFC 3339"},
		"not JSON":          {`{`, 400, "body"},
		"wait too long":     {`{"wait_ms":3600000}`, 422, "body.wait_ms"},
	} {
		t.Run(name, func(t *testing.T) {
			srv, _ := serve(t, &fake{}, httpapi.Options{})
			resp, body := request(t, srv, "POST", "/v1/find", strings.NewReader(tc.body), "Content-Type", "application/json")
			if resp.StatusCode != tc.status || !strings.Contains(body, tc.want) {
				t.Errorf("got %d %s, want %d with %q", resp.StatusCode, body, tc.status, tc.want)
			}
		})
	}
}

func TestGuards(t *testing.T) {
	f := &fake{}
	srv, _ := serve(t, f, httpapi.Options{Gate: access.NewGate("s3cret", nil), Hosts: []string{"recount.example"}})
	auth := []string{"Authorization", "Bearer s3cret", "Content-Type", "application/json"}
	for name, tc := range map[string]struct {
		path   string
		header []string
		status int
	}{
		"token right":                  {"/v1/find", auth, 200},
		"token missing":                {"/v1/find", []string{"Content-Type", "application/json"}, 401},
		"token wrong":                  {"/v1/find", []string{"Authorization", "Bearer s3cres"}, 401},
		"a rebound name":               {"/v1/find", append([]string{"Host", "evil.example"}, auth...), 421},
		"a rebound name with port":     {"/v1/find", append([]string{"Host", "evil.example:7171"}, auth...), 421},
		"a name of ours":               {"/v1/find", append([]string{"Host", "recount.example:7171"}, auth...), 200},
		"localhost":                    {"/v1/find", append([]string{"Host", "localhost:1"}, auth...), 200},
		"an address":                   {"/v1/find", append([]string{"Host", "[::1]:1"}, auth...), 200},
		"a page of another origin":     {"/v1/find", append([]string{"Sec-Fetch-Site", "cross-site"}, auth...), 403},
		"a page of another origin, v1": {"/v1/events", append([]string{"Origin", "http://evil.example"}, auth...), 403},
	} {
		t.Run(name, func(t *testing.T) {
			resp, body := request(t, srv, "POST", tc.path, strings.NewReader(`{}`), tc.header...)
			if resp.StatusCode != tc.status {
				t.Errorf("got %d %s, want %d", resp.StatusCode, body, tc.status)
			}
		})
	}
	if resp, body := request(t, srv, "GET", "/healthz", nil); resp.StatusCode != 200 {
		t.Errorf("healthz without a token: %d %s", resp.StatusCode, body)
	}
	if resp, _ := request(t, srv, "GET", "/v1/nothing", nil, auth...); resp.StatusCode != 404 {
		t.Errorf("unknown path: %d", resp.StatusCode)
	}
}

func TestExport(t *testing.T) {
	srv, c := serve(t, &fake{}, httpapi.Options{})
	var b strings.Builder
	if err := c.Export(t.Context(), code.ExportRequest{Format: "dot"}, &b); err != nil || b.String() != "a graph as dot" {
		t.Errorf("%q %v", b.String(), err)
	}
	var nf *query.NotFoundError
	if err := c.Export(t.Context(), code.ExportRequest{Symbol: "x"}, &b); !errors.As(err, &nf) {
		t.Errorf("an unknown symbol: %v", err)
	}
	resp, _ := request(t, srv, "POST", "/v1/code/export", strings.NewReader(`{"format":"graphml"}`), "Content-Type", "application/json", "Accept", "application/graphml+xml")
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || got != "application/graphml+xml" {
		t.Errorf("GraphML: %d %s", resp.StatusCode, got)
	}
}

func TestFsck(t *testing.T) {
	_, c := serve(t, &fake{}, httpapi.Options{})
	told := 0
	r, err := c.Fsck(t.Context(), api.FsckRequest{}, func(p api.Progress) { told += int(p.Total) })
	if err != nil || told != 2 || r.Chunks != 3 || r.OK || r.Faults[0].What != "damaged" {
		t.Errorf("%+v, progress %d: %v", r, told, err)
	}
}

func TestAPanicHarmsOneRequest(t *testing.T) {
	reg := prometheus.NewRegistry()
	srv, c := serve(t, &fake{}, httpapi.Options{Registry: reg})
	if _, err := c.Verify(t.Context(), api.VerifyRequest{}, nil); err == nil {
		t.Fatal("no error")
	}
	if _, err := c.Status(t.Context(), api.StatusRequest{}); err != nil {
		t.Fatalf("after the panic: %v", err)
	}
	if resp, _ := request(t, srv, "GET", "/healthz", nil, "X-Request-Id", "abc-1"); resp.Header.Get("X-Request-Id") != "abc-1" {
		t.Errorf("request id %q", resp.Header.Get("X-Request-Id"))
	}
	if resp, _ := request(t, srv, "GET", "/healthz", nil, "X-Request-Id", "a b"); len(resp.Header.Get("X-Request-Id")) != 16 {
		t.Errorf("request id %q", resp.Header.Get("X-Request-Id"))
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	panics := -1.0
	for _, f := range families {
		if f.GetName() == "recount_http_panics_total" {
			panics = f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	if panics != 1 {
		t.Errorf("recount_http_panics_total is %v", panics)
	}
}

// TestClientRoundTrip checks that the client behaves like the backend behind the server.
func TestClientRoundTrip(t *testing.T) {
	f := &fake{}
	_, c := serve(t, f, httpapi.Options{})
	ctx := t.Context()
	in := []schemas.Event{
		{Type: schemas.TypeCommandExecuted, Source: "ci", Subject: "s", Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Key: []byte("k"), ContentType: schemas.ContentJSON, Payload: []byte(`{"command":"ls <&>"}`)},
		{Type: schemas.TypeCommandExecuted, Source: "ci", Time: time.Unix(1, 0).UTC(), ContentType: schemas.ContentJSON, Payload: []byte(`{ "command": "white space stays" }`)},
		{ID: schemas.EventID{1, 2}, Type: schemas.TypeCommandExecuted, Source: "ci", Time: time.Unix(0, 0).UTC(), ContentType: schemas.ContentProto, Payload: []byte("\n\x02ls")},
	}
	got, err := c.Append(ctx, in)
	if err != nil || len(got) != 3 || got[2].ID != in[2].ID || got[2].Position.Offset != 2 {
		t.Fatalf("append: %+v %v", got, err)
	}
	want := append([]schemas.Event(nil), in...)
	for i := range want {
		if want[i].ID.IsZero() {
			// The bytes are unchanged, because otherwise the ids would differ.
			want[i].ID = want[i].DeriveID()
		}
	}
	if diff := cmp.Diff(f.events, want); diff != "" {
		t.Error(diff)
	}

	w := schemas.Watermark{{Topic: "recount.commands", Partition: 3}: 7}
	f.find = func(r commands.FindRequest) (commands.FindResponse, error) {
		if r.Text == "later" {
			return commands.FindResponse{}, &query.NotVisibleError{Want: r.AtLeast, Have: w, Waited: time.Second}
		}
		code := int32(2)
		return commands.FindResponse{Status: "ok", Watermark: w, Hits: []commands.Hit{{Intent: commands.Intent{ID: schemas.EventID{1}, ExitCode: &code}}}}, nil
	}
	r, err := commands.FindQuestion.Ask(ctx, c, commands.FindRequest{Text: "x", AtLeast: w, AsOf: query.AsOf{Offsets: w}, Filters: commands.Filters{Since: time.Unix(1, 0)}})
	if err != nil || r.Watermark.String() != "recount.commands/3:7" || *r.Hits[0].ExitCode != 2 {
		t.Fatalf("find: %+v %v", r, err)
	}
	var ae *httpapi.APIError
	if _, err = commands.FindQuestion.Ask(ctx, c, commands.FindRequest{Text: "later", AtLeast: w}); !errors.As(err, &ae) || ae.Status != 504 || !strings.Contains(err.Error(), "visible is recount.commands/3:7") {
		t.Errorf("not visible: %v", err)
	}
	var re *query.RequestError
	if _, err = commands.FindQuestion.Ask(ctx, c, commands.FindRequest{Limit: -1}); !errors.As(err, &re) || re.Field != "limit" {
		t.Errorf("limit: %v", err)
	}

	if s, err := c.Show(ctx, "recount.commands/0/7"); err != nil || s.Command != "ls" {
		t.Errorf("show by position: %+v %v", s, err)
	}
	var nf *query.NotFoundError
	if _, err := c.Show(ctx, "ff"); !errors.As(err, &nf) || nf.Hint != "see find" || nf.Kind != query.UnknownGraph {
		t.Errorf("show nothing: %v", err)
	}
	var am *query.AmbiguousError
	if _, err := c.Show(ctx, "0a"); !errors.As(err, &am) || am.Prefix != "0a" || len(am.Matches) != 2 || am.Matches[1].Command != "make two" {
		t.Errorf("show ambiguous: %v", err)
	}
	if s, err := c.Status(ctx, api.StatusRequest{Roots: true}); err != nil || *s.Projections[0].Root != (schemas.Hash{1}) {
		t.Errorf("status: %+v %v", s, err)
	}

	for _, format := range []string{api.FormatNDJSON, api.FormatArrow} {
		var b bytes.Buffer
		if err := c.Scan(ctx, api.ScanRequest{Format: format, Limit: 3, Filters: commands.Filters{Since: time.Unix(1, 0)}}, &b); err != nil || b.String() != format+"\n" {
			t.Errorf("scan: %q %v", b.String(), err)
		}
	}
	var seen int
	report, err := c.Rebuild(ctx, api.RebuildRequest{}, func(api.Progress) { seen++ })
	if err != nil || report.Events != 2 || seen != 2 {
		t.Errorf("rebuild: %+v %v after %d", report, err, seen)
	}
	if err := c.Ready(ctx); err != nil {
		t.Error(err)
	}
}

func TestObjects(t *testing.T) {
	_, c := serve(t, &fake{}, httpapi.Options{})
	at := time.Date(2026, 11, 20, 9, 0, 0, 5, time.UTC)
	for _, want := range []evidence.ExportRequest{
		{},
		{Arrow: true, Scope: evidence.Scope{Agent: "a b", Session: "s", Workspace: "/w", Task: "t"}, Since: at, Until: at.Add(time.Hour), Types: []string{"memory", "state"}, Memory: []string{"factual"}, Limit: 3},
		{AsOf: query.AsOf{Time: at}},
		{AsOf: query.AsOf{Offsets: schemas.Watermark{{Topic: "recount.agents", Partition: 1}: 7}}},
	} {
		var b bytes.Buffer
		if err := c.Objects(t.Context(), want, &b); err != nil {
			t.Fatal(err)
		}
		var got evidence.ExportRequest
		if err := json.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("what arrived (-sent +got):\n%s", d)
		}
	}
	s, _ := serve(t, &fake{err: &query.RequestError{Field: "types", Value: "x", Reason: "no such type"}}, httpapi.Options{})
	for path, want := range map[string]string{"/v1/objects": "no such type", "/v1/objects?as_of=yesterday": "RFC 3339", "/v1/objects?limit=-1": "limit"} {
		if resp, body := request(t, s, "GET", path, nil); resp.StatusCode != 422 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s, want 422 that says %q", path, resp.StatusCode, body, want)
		}
	}
}

func TestErrorsKeepTheirClass(t *testing.T) {
	f := &fake{err: schemas.Transientf("disk full")}
	_, c := serve(t, f, httpapi.Options{})
	_, err := c.Append(t.Context(), []schemas.Event{{Type: schemas.TypeCommandExecuted, Payload: []byte(`{"command":"a"}`)}})
	if !errors.Is(err, schemas.ErrTransient) || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("got %v", err)
	}
	if _, err := c.Rebuild(t.Context(), api.RebuildRequest{}, nil); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("rebuild: %v", err)
	}
	// An error before the first byte is a problem; a later one cuts the answer.
	if err := c.Scan(t.Context(), api.ScanRequest{}, io.Discard); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("scan: %v", err)
	}
	if err := c.Scan(t.Context(), api.ScanRequest{Limit: 1}, io.Discard); !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("scan cut short: %v", err)
	}
	// The reason of a refusal is kept in the details.
	refused, _ := serve(t, &fake{err: &query.RequestError{Field: "limit", Value: 2, Reason: "not with Arrow"}}, httpapi.Options{})
	if resp, body := request(t, refused, "GET", "/v1/intents", nil); resp.StatusCode != 422 || !strings.Contains(body, "not with Arrow") {
		t.Errorf("scan refused: %d %s", resp.StatusCode, body)
	}
}

// TestClientNamesTheMend checks that the client says what to do when what answers is not a server of its own
// version: an older server, another program, TLS where there is none, and the other way round.
func TestClientNamesTheMend(t *testing.T) {
	answer := func(status int, media, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", media)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	plain := func(h http.HandlerFunc) string { s := httptest.NewServer(h); t.Cleanup(s.Close); return s.URL }
	secure := httptest.NewTLSServer(answer(200, "application/json", "{}"))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(secure.Close)
	none := answer(404, "application/problem+json", `{"title":"Not Found","status":404,"detail":"no endpoint POST /v1/find; GET /docs lists the endpoints"}`)
	field := answer(422, "application/problem+json", `{"type":"urn:recount:invalid","status":422,"detail":"validation failed","errors":[{"message":"unexpected property","location":"body.wrote"}]}`)
	hangUp := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	for base, want := range map[string]string{
		plain(none):  "the server is of another version than this program",
		plain(field): "body.wrote: unexpected property; the server is of another version than this program",
		plain(answer(200, "text/html", "<html>")):                                            "answered text/html that is not JSON, not by recount",
		plain(answer(404, "text/html", "<html>")):                                            "answered 404 Not Found, not by recount",
		plain(answer(422, "application/problem+json", `{"status":422,"detail":"limit: 0"}`)): "limit: 0",
		plain(hangUp): "did it end, or is this the address of Kafka or of spans?",
		strings.Replace(plain(none), "http:", "https:", 1): "it has no TLS: use http://",
		strings.Replace(secure.URL, "https:", "http:", 1):  "it has TLS: use https://",
	} {
		c, err := httpapi.NewClient(base, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = commands.FindQuestion.Ask(t.Context(), c, commands.FindRequest{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestCode(t *testing.T) {
	srv, c := serve(t, &fake{}, httpapi.Options{})
	ctx := t.Context()
	r, err := code.CallersQuestion.Ask(ctx, c, code.CallsRequest{Symbol: "x"})
	if err != nil || r.Symbol.Name != "code/callers of x" {
		t.Errorf("callers: %+v %v", r.Symbol, err)
	}
	_, err = code.FlowQuestion.Ask(ctx, c, code.FlowRequest{From: "x", To: "y"})
	const ambiguous = "symbol \"x\" is ambiguous: name one of\n  a.go:x  function a.x at a.go:1\n  b.go:x\n  … 3 more"
	var am *code.AmbiguousNameError
	if !errors.As(err, &am) || am.Ref != "x" || am.More != 3 || err.Error() != ambiguous {
		t.Errorf("ambiguous: %v", err)
	}
	// Of a server whose candidates have another form, the sentence is shown as it is.
	_, older := serveHandler(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `{"type":"urn:recount:ambiguous","status":409,"detail":"x is ambiguous","errors":[{"message":"may mean a.go:x","location":"name","value":"a.go:x"},{"message":"the reference","location":"name","value":"x"}]}`)
	}))
	if _, err = code.FlowQuestion.Ask(ctx, older, code.FlowRequest{From: "x", To: "y"}); err == nil || errors.As(err, &am) || err.Error() != "x is ambiguous" {
		t.Errorf("ambiguous, of another server: %v", err)
	}
	// The candidates are values, so that no client reads the sentence.
	resp, body := request(t, srv, "POST", "/v1/code/flow", strings.NewReader(`{"from":"x","to":"y"}`), "Content-Type", "application/json")
	if resp.StatusCode != 409 || !strings.Contains(body, `"errors":[{"message":"may mean a.go:x  function a.x at a.go:1","location":"name","value":{"name":"a.go:x","is":"function a.x at a.go:1"}},{"message":"may mean b.go:x","location":"name","value":{"name":"b.go:x"}},{"message":"the reference","location":"name","value":{"name":"x","what":"symbol \"x\"","more":3}}]`) {
		t.Errorf("ambiguous: %d %s", resp.StatusCode, body)
	}
	var nf *query.NotFoundError
	if _, err = code.ImpactQuestion.Ask(ctx, c, code.ImpactRequest{Symbol: "x"}); !errors.As(err, &nf) || nf.Hint != "see symbols" || nf.Kind != "" {
		t.Errorf("not found: %v", err)
	}
	var re *query.RequestError
	if _, err = code.CallersQuestion.Ask(ctx, c, code.CallsRequest{}); !errors.As(err, &re) || re.Field != "symbol" {
		t.Errorf("refused before it is sent: %v", err)
	}
}

// TestNotReadYetIsAskedAgain checks that an error that passes by itself says when to ask again.
func TestNotReadYetIsAskedAgain(t *testing.T) {
	s, c := serve(t, &fake{}, httpapi.Options{})
	for ref, want := range map[string]string{"later": "2", "ff": ""} {
		resp, body := request(t, s, "GET", "/v1/intents/"+ref, nil)
		if resp.StatusCode != 404 || resp.Header.Get("Retry-After") != want || resp.Header.Get("Content-Type") != "application/problem+json" || !strings.Contains(body, `"type":"urn:recount:not-found"`) {
			t.Errorf("%s: %d, Retry-After %q, want %q: %s", ref, resp.StatusCode, resp.Header.Get("Retry-After"), want, body)
		}
	}
	var nf *query.NotFoundError
	if _, err := c.Show(t.Context(), "later"); !errors.As(err, &nf) || nf.Ref != "later" || nf.Hint != "still being read" {
		t.Errorf("the client: %v", err)
	}
}
