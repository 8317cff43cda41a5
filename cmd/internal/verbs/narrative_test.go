package verbs

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands/ask"
)

// canned answers find with hits that end as its codes say, newest first.
type canned struct{ codes []int32 }

func (c canned) Show(context.Context, string) (ask.ShowResponse, error) {
	return ask.ShowResponse{}, nil
}

func (c canned) Answer(_ context.Context, _ string, request, response any) error {
	var r ask.FindResponse
	for i, code := range c.codes[:min(len(c.codes), request.(ask.FindRequest).Limit)] {
		r.Hits = append(r.Hits, ask.Hit{Intent: ask.Intent{ExitCode: &code, Command: string(rune('a' + i))}})
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, response)
}

// TestNewestFailure checks that what ctrl-C ended is not taken for the newest failure.
func TestNewestFailure(t *testing.T) {
	for name, c := range map[string]struct {
		codes []int32
		want  string
	}{
		"none":             {nil, ""},
		"the newest":       {[]int32{1, 2}, "a"},
		"one before":       {[]int32{130, 130, 2}, "c"},
		"interrupted only": {[]int32{130}, ""},
	} {
		hit, err := newest(t.Context(), canned{c.codes}, ask.Filters{Exit: "fail"}, query.Moment{})
		if err != nil {
			t.Fatal(err)
		}
		if got := hit; (got == nil) != (c.want == "") || got != nil && got.Command != c.want {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// TestNoFailure tells of which time it is that no command failed.
func TestNoFailure(t *testing.T) {
	s := Subject{Getenv: func(string) string { return "" }}
	for want, asOf := range map[string]query.AsOf{"no command has failed;": {}, "no command had failed by then;": {Time: time.Unix(1767225600, 0)}} {
		if _, err := s.Ref(t.Context(), canned{}, nil, query.Moment{AsOf: asOf}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("as of %v: %v", asOf, err)
		}
	}
}
