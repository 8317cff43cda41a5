package render

import (
	"testing"

	"github.com/recountdb/recount/schemas"
)

// TestAbbreviate checks that ids are as short as possible while distinct, and never shorter than
// git's.
func TestAbbreviate(t *testing.T) {
	id := func(s string) schemas.EventID {
		x, err := schemas.ParseEventID(s)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	ids := map[schemas.EventID]string{
		id("01234567-89ab-8def-8123-456789abcdef"): "0123456",
		id("11111111-1111-8111-8111-111111111111"): "11111111-1111-8111-8111-111111111111",
		id("11111111-1111-8111-8111-111111111112"): "11111111-1111-8111-8111-111111111112",
		id("22222222-0111-8111-8111-111111111111"): "22222222-0",
		id("22222222-1111-8111-8111-111111111111"): "22222222-1",
		id("33333330-1111-8111-8111-111111111111"): "33333330",
		id("33333331-1111-8111-8111-111111111111"): "33333331",
		id("44444440-1111-7111-8111-111111111111"): "44444440-1111",
	}
	var all []schemas.EventID
	for i := range ids {
		all = append(all, i, i)
	}
	got := Abbreviate(all)
	for i, want := range ids {
		if got[i] != want {
			t.Errorf("%s: got %s, want %s", i, got[i], want)
		}
	}
}
