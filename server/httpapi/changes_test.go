package httpapi_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/httpapi"
)

// TestChanges checks the bytes of the stream of changes, and that the client reads them back.
func TestChanges(t *testing.T) {
	var asked api.ChangesRequest
	told := []api.Changed{
		{Follows: []string{"commands"}, Next: place(3)},
		{Topics: []string{"commands"}, Next: place(4)},
		{Next: place(4)},
	}
	f := &fake{changes: func(_ context.Context, r api.ChangesRequest, each func(api.Changed) error) error {
		asked = r
		for _, c := range told {
			if err := each(c); err != nil {
				return err
			}
		}
		return api.ErrUnavailable // the node stops
	}}
	srv, client := serve(t, f, httpapi.Options{Beat: time.Minute})
	resp, body := request(t, srv, "GET", "/v1/changes", nil, "Accept", "text/event-stream", "Last-Event-ID", "recount.commands/1:2")
	want := "retry: 2000\nevent: changed\nid: recount.commands/1:3\ndata: {\"follows\":[\"commands\"]}\n\n" +
		"event: changed\nid: recount.commands/1:4\ndata: {\"topics\":[\"commands\"]}\n\n" +
		":\nid: recount.commands/1:4\n\n"
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" || body != want {
		t.Errorf("got %d %v\n%s", resp.StatusCode, resp.Header, body)
	}
	if d := cmp.Diff(asked, api.ChangesRequest{From: place(2), Beat: time.Minute}); d != "" {
		t.Error(d)
	}
	var got []api.Changed
	err := client.Changes(t.Context(), api.ChangesRequest{From: place(1)}, func(c api.Changed) error {
		got = append(got, c)
		return nil
	})
	if d := cmp.Diff(got, told); d != "" || !errors.Is(err, api.ErrUnavailable) {
		t.Errorf("%v\n%s", err, d)
	}
	if d := cmp.Diff(asked, api.ChangesRequest{From: place(1), Beat: time.Minute}); d != "" {
		t.Error(d)
	}
	if resp, body := request(t, srv, "GET", "/v1/changes", nil, "Accept", "text/event-stream", "Last-Event-ID", "x"); resp.StatusCode != 422 || !strings.Contains(body, "header.Last-Event-ID") {
		t.Errorf("a last id of another kind: %d %s", resp.StatusCode, body)
	}
}
