package query_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

func TestNormalRefuses(t *testing.T) {
	now := time.Unix(1e9, 0)
	for field, r := range map[string]query.FindRequest{
		"limit":            {Limit: -1},
		"ef":               {EF: query.MaxEF + 1},
		"wait_ms":          {WaitMS: 1e9},
		"text":             {Text: strings.Repeat("x", query.MaxText+1)},
		"filters.since":    {Filters: query.Filters{Since: now, Until: now}},
		"filters.exit":     {Filters: query.Filters{Exit: "1e3"}},
		"filters.category": {Filters: query.Filters{Category: "unspecified"}},
	} {
		var re *query.RequestError
		if _, err := r.Normal(); !errors.As(err, &re) || re.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	var re *query.RequestError
	if _, err := (query.FindRequest{Text: "\xff"}).Normal(); !errors.As(err, &re) || re.Reason != "not UTF-8" {
		t.Errorf("not UTF-8: %v", err)
	}
	r, err := query.FindRequest{Text: "  x "}.Normal()
	if err != nil || r.Limit != query.DefaultLimit || r.Text != "x" {
		t.Errorf("got %+v %v", r, err)
	}
}

func TestAsOfText(t *testing.T) {
	for _, s := range []string{`""`, `"2026-01-02T03:04:05.000000006Z"`, `"recount.commands/0:7,recount.commands/1:8"`} {
		var a query.AsOf
		if err := json.Unmarshal([]byte(s), &a); err != nil {
			t.Fatal(err)
		}
		if b, err := json.Marshal(a); err != nil || string(b) != s {
			t.Errorf("%s came back as %s, %v", s, b, err)
		}
	}
	var a query.AsOf
	if err := a.UnmarshalText([]byte("yesterday")); err == nil {
		t.Error("yesterday: no error")
	}
	if a.UnmarshalText([]byte("a/0:1")) != nil || a.Offsets[schemas.TopicPartition{Topic: "a"}] != 1 {
		t.Errorf("got %+v", a)
	}
}
