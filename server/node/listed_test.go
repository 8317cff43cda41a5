package node_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/access"
)

// TestListed checks that a token of some workspaces gets lists and counts of one of them, and nothing
// that tells of others: neither a command, nor a count, nor whether a workspace exists.
func TestListed(t *testing.T) {
	cfg := config(t.TempDir())
	cfg.Kafka.Listen = "none"
	r := start(t, cfg)
	var events []schemas.Event
	for _, workspace := range []string{"/a", "/b", "/b", "/b", "/secret"} {
		events = append(events, schemas.Event{Type: schemas.TypeCommandExecuted, Payload: []byte(`{"command":"make ` + workspace + `","workspace":"` + workspace + `","session":"s","started_at":"2026-03-01T12:00:00Z","exit_code":1}`)})
	}
	if _, err := r.Node.Append(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	ends, err := r.Log().Ends(t.Context(), "recount.commands")
	if err != nil {
		t.Fatal(err)
	}
	r.waitFor(t, ends)
	one := schemas.Principal{Workspaces: []string{"/a"}, Grants: []string{schemas.GrantCommands}}
	two := schemas.Principal{Workspaces: []string{"/a", "/empty"}, Grants: []string{schemas.GrantCommands}}
	ask := func(p schemas.Principal, path string, request, response any) (string, error) {
		t.Helper()
		if err := r.Node.Answer(access.NewContext(t.Context(), p), path, request, response); err != nil {
			return "", err
		}
		text, err := json.Marshal(response)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "/b") || strings.Contains(string(text), "secret") || strings.Contains(string(text), "counts") || strings.Contains(string(text), `"hint"`) {
			t.Errorf("%s tells of others: %s", path, text)
		}
		return string(text), nil
	}
	in := func(workspace string) commands.Filters { return commands.Filters{Workspace: workspace} }
	var found commands.FindResponse
	for name, c := range map[string]struct {
		p    schemas.Principal
		in   string
		want int
	}{"its only workspace": {one, "", 1}, "by name": {one, "/a", 1}, "one of two": {two, "/a", 1}, "the other of two": {two, "/empty", 0}} {
		if _, err := ask(c.p, "find", commands.FindRequest{Filters: in(c.in)}, &found); err != nil || len(found.Hits) != c.want {
			t.Errorf("%s: %v, %+v", name, err, found.Hits)
		}
	}
	var line commands.TimelineResponse
	if _, err := ask(one, "timeline", commands.TimelineRequest{}, &line); err != nil || len(line.Times) != 1 {
		t.Errorf("%v, %+v", err, line)
	}
	var stats commands.StatisticsResponse
	if _, err := ask(one, "stats", commands.StatisticsRequest{}, &stats); err != nil || stats.Total.Runs != 1 {
		t.Errorf("%v, %+v", err, stats.Total)
	}
	var insights commands.InsightsResponse
	if _, err := ask(one, "insights", commands.InsightsRequest{}, &insights); err != nil || insights.Commands != 1 {
		t.Errorf("%v, %+v", err, insights)
	}
	var theirs, none *query.RequestError
	_, err = ask(one, "find", commands.FindRequest{Filters: in("/b")}, &found)
	_, err2 := ask(one, "find", commands.FindRequest{Filters: in("/x")}, &found)
	if !errors.As(err, &theirs) || !errors.As(err2, &none) || theirs.Reason != none.Reason {
		t.Errorf("a workspace of others and none: %v, %v", err, err2)
	}
	for name, refused := range map[string]func() error{
		"several and none named": func() error { _, err := ask(two, "find", commands.FindRequest{}, &found); return err },
		"a text":                 func() error { _, err := ask(one, "find", commands.FindRequest{Text: "make"}, &found); return err },
		"after a command": func() error {
			_, err := ask(one, "insights", commands.InsightsRequest{After: "recount.commands/0/0"}, &insights)
			return err
		},
		"why": func() error {
			_, err := ask(one, "why", commands.WhyRequest{Ref: "recount.commands/0/0"}, new(commands.WhyResponse))
			return err
		},
		"without the grant": func() error {
			_, err := ask(schemas.Principal{Workspaces: []string{"/a"}}, "find", commands.FindRequest{}, &found)
			return err
		},
	} {
		var bad *query.RequestError
		if err := refused(); !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
