package commands_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/commands/ask"
)

func TestNormalRefuses(t *testing.T) {
	now := time.Unix(1e9, 0)
	for field, r := range map[string]commands.FindRequest{
		"limit":            {Limit: -1},
		"ef":               {EF: ask.MaxEF + 1},
		"wait_ms":          {WaitMS: 1e9},
		"text":             {Text: strings.Repeat("x", query.MaxText+1)},
		"filters.since":    {Filters: commands.Filters{Since: now, Until: now}},
		"filters.exit":     {Filters: commands.Filters{Exit: "1e3"}},
		"filters.category": {Filters: commands.Filters{Category: "unspecified"}},
	} {
		var re *query.RequestError
		if _, err := r.Normal(); !errors.As(err, &re) || re.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	var re *query.RequestError
	if _, err := (commands.FindRequest{Text: "\xff"}).Normal(); !errors.As(err, &re) || re.Reason != "not UTF-8" {
		t.Errorf("not UTF-8: %v", err)
	}
	r, err := commands.FindRequest{Text: "  x "}.Normal()
	if err != nil || r.Limit != ask.DefaultLimit || r.Text != "x" {
		t.Errorf("got %+v %v", r, err)
	}
}
