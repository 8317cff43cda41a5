package query_test

import (
	"encoding/json"
	"testing"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

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
