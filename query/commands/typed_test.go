package commands_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/commands/ask"
	index "github.com/recountdb/recount/query/commands/history"
	"github.com/recountdb/recount/schemas"
)

// ran appends a command at a minute.
func (h *history) ran(partition int32, minute int, command, rest string) schemas.Position {
	if rest != "" {
		rest = "," + rest
	}
	return h.add(partition, minute, fmt.Sprintf(`{"command":%q,"started_at":%q%s}`, command, epoch.Add(time.Duration(minute)*time.Minute).Format(time.RFC3339), rest))
}

// searched returns the commands of an answer with their runs.
func searched(r commands.SearchResponse) []string {
	out := []string{}
	for _, h := range r.Hits {
		out = append(out, fmt.Sprintf("%d %s", h.Runs, h.Command))
	}
	return out
}

func TestSearch(t *testing.T) {
	h := newHistory(t)
	h.ran(0, 1, "docker image prune -af", `"exit_code":0,"cwd":"/src","session":"s1"`)
	h.ran(0, 2, "make test", `"exit_code":2,"cwd":"/src/app","session":"s1","author":"claude"`)
	h.ran(1, 3, "make   test", `"exit_code":0,"cwd":"/src/app","session":"s2"`)
	h.ran(0, 4, "git push", `"exit_code":1,"cwd":"/srcery","session":"s2","host":"web"`)
	h.ran(1, 5, "docker ps", `"cwd":"/src","session":"s2"`)
	s := h.sources()
	s.History = new(index.Index)
	for _, c := range []struct {
		name string
		r    commands.SearchRequest
		want []string
	}{
		{"nothing typed: the newest first, equal texts once", commands.SearchRequest{}, []string{"1 docker ps", "1 git push", "2 make   test", "1 docker image prune -af"}},
		{"words", commands.SearchRequest{Text: "prune dock", Mode: ask.ModeFuzzy}, []string{"1 docker image prune -af"}},
		{"letters", commands.SearchRequest{Text: "mktst", Mode: ask.ModeFuzzy}, []string{"2 make   test"}},
		{"exact", commands.SearchRequest{Text: "image prune", Mode: ask.ModeExact}, []string{"1 docker image prune -af"}},
		{"exact in another order", commands.SearchRequest{Text: "prune image", Mode: ask.ModeExact}, []string{}},
		{"meaning", commands.SearchRequest{Text: "remove unused images", Mode: ask.ModeMeaning, Limit: 1}, []string{"1 docker image prune -af"}},
		{"best finds by meaning too", commands.SearchRequest{Text: "remove unused images", Limit: 1}, []string{"1 docker image prune -af"}},
		{"best finds by letters too", commands.SearchRequest{Text: "mktst", Limit: 1}, []string{"2 make   test"}},
		{"a directory and below, runs counted in it", commands.SearchRequest{Filters: ask.Filters{Cwd: "/src"}}, []string{"1 docker ps", "2 make   test", "1 docker image prune -af"}},
		{"the newest run that passes", commands.SearchRequest{Filters: ask.Filters{Session: "s1"}}, []string{"1 make test", "1 docker image prune -af"}},
		{"failed", commands.SearchRequest{Filters: ask.Filters{Exit: "fail"}}, []string{"1 git push", "1 make test"}},
		{"worked, with words", commands.SearchRequest{Text: "make", Mode: ask.ModeFuzzy, Filters: ask.Filters{Exit: "ok"}}, []string{"1 make   test"}},
		{"an agent", commands.SearchRequest{Filters: ask.Filters{Author: "claude"}}, []string{"1 make test"}},
		{"people", commands.SearchRequest{People: true, Text: "make", Mode: ask.ModeFuzzy}, []string{"1 make   test"}},
		{"a host", commands.SearchRequest{Filters: ask.Filters{Host: "web"}}, []string{"1 git push"}},
		{"since", commands.SearchRequest{Filters: ask.Filters{Since: epoch.Add(4 * time.Minute)}}, []string{"1 docker ps", "1 git push"}},
		{"limited", commands.SearchRequest{Limit: 1}, []string{"1 docker ps"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := commands.Search(t.Context(), s, c.r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, searched(r)); diff != "" {
				t.Error(diff)
			}
			if r.Watermark.String() != "recount.commands/0:3,recount.commands/1:2" || len(r.Proof) == 0 {
				t.Errorf("at %s, proof %v", r.Watermark, r.Proof)
			}
			if (r.Status == query.StatusEmpty) != (len(c.want) == 0) || (r.Hint != "") != (len(c.want) == 0) {
				t.Errorf("status %s, hint %q", r.Status, r.Hint)
			}
		})
	}
}

// TestSearchFollows checks that the index takes in what arrives between questions: new commands,
// runs of known ones, and outcomes.
func TestSearchFollows(t *testing.T) {
	h := newHistory(t)
	s := h.sources()
	s.History = new(index.Index)
	ask1 := func(r commands.SearchRequest) commands.SearchResponse {
		t.Helper()
		a, err := commands.Search(t.Context(), s, r)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if r := ask1(commands.SearchRequest{}); r.Status != query.StatusEmpty || r.Hint != commands.NoneRecorded {
		t.Errorf("empty: %s %q", r.Status, r.Hint)
	}
	h.ran(0, 1, "make", "")
	failed := commands.SearchRequest{Filters: ask.Filters{Exit: "fail"}}
	if diff := cmp.Diff([]string{"1 make"}, searched(ask1(commands.SearchRequest{}))); diff != "" {
		t.Error(diff)
	}
	if r := ask1(failed); len(r.Hits) != 0 || r.Hint == "" {
		t.Errorf("failed: %v", searched(r))
	}
	first := ask1(commands.SearchRequest{}).Hits[0]
	h.add(0, 2, fmt.Sprintf(`{"command_event_id":%q,"exit_code":3,"observed_at":%q}`, first.ID, epoch.Add(2*time.Minute).Format(time.RFC3339)))
	h.ran(0, 3, "make", `"exit_code":0`)
	h.ran(1, 4, "ls", "")
	if diff := cmp.Diff([]string{"1 ls", "2 make"}, searched(ask1(commands.SearchRequest{}))); diff != "" {
		t.Error(diff)
	}
	if r := ask1(failed); len(r.Hits) != 1 || r.Hits[0].ExitCode == nil || *r.Hits[0].ExitCode != 3 || r.Hits[0].Runs != 1 {
		t.Errorf("failed: %+v", r.Hits)
	}
}

// TestSearchGivenUp checks that a question that is given up ends, and that the next one goes on.
func TestSearchGivenUp(t *testing.T) {
	h := newHistory(t)
	h.ran(0, 1, "make", "")
	s := h.sources()
	s.History = new(index.Index)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := commands.Search(ctx, s, commands.SearchRequest{Text: "m"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if r, err := commands.Search(t.Context(), s, commands.SearchRequest{Text: "m", Mode: ask.ModeFuzzy}); err != nil || len(r.Hits) != 1 {
		t.Errorf("%v, %v", searched(r), err)
	}
}

func TestSearchRefuses(t *testing.T) {
	for _, r := range []commands.SearchRequest{{Mode: "other"}, {Limit: -1}, {Limit: 1001}, {Text: "\xff"}, {Filters: ask.Filters{Exit: "no"}}} {
		var wrong *query.RequestError
		if _, err := commands.Search(t.Context(), commands.Sources{}, r); !errors.As(err, &wrong) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

func TestAround(t *testing.T) {
	h := newHistory(t)
	in := func(exit string) string {
		return `"exit_code":` + exit + `,"cwd":"/src","workspace":"/src","session":"s1","author":"ada","git_head":"abc"`
	}
	h.ran(0, 1, "cd /src", in("0"))
	h.ran(0, 2, "sed -i s/a/b/ Makefile", in("0"))
	failed := h.ran(0, 3, "make test", in(`2,"output_tail":"make: *** Makefile:1: missing separator"`))
	h.ran(0, 3, "ls", `"session":"other"`)
	h.ran(0, 4, "vim Makefile", in("0"))
	h.ran(0, 5, "make test", in("0"))
	names := func(all []commands.Intent) []string {
		out := []string{}
		for _, in := range all {
			out = append(out, in.Command)
		}
		return out
	}
	r, err := commands.Around(t.Context(), h.sources(), commands.AroundRequest{Ref: failed.String(), Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"cd /src", "sed -i s/a/b/ Makefile"}, names(r.Before)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"vim Makefile", "make test"}, names(r.After)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(ask.Record{Runs: 2, Looked: 2, OK: 1, Failed: 1}, r.Record); diff != "" {
		t.Error(diff)
	}
	if r.GitHead != "abc" || r.OutputTail != "make: *** Makefile:1: missing separator" {
		t.Errorf("head %q, output %q", r.GitHead, r.OutputTail)
	}
	if len(r.Causes) == 0 || r.Causes[0].Command != "sed -i s/a/b/ Makefile" || r.Causes[0].Why == "" {
		t.Errorf("causes %+v", r.Causes)
	}
	var fixes []string
	for _, f := range r.Fixes {
		fixes = append(fixes, f.Command+": "+f.Why)
	}
	if diff := cmp.Diff([]string{"vim Makefile: it changed /src/Makefile in between", "make test: it succeeded"}, fixes); diff != "" {
		t.Error(diff)
	}
	var missing *query.NotFoundError
	if _, err := commands.Around(t.Context(), h.sources(), commands.AroundRequest{Ref: "ffffffff"}); !errors.As(err, &missing) {
		t.Errorf("got %v", err)
	}
}
