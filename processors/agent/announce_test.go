package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const announcer = `"workspace":"/src/shop","agent":"claude","session":"s-1"`

// TestAnnouncedWorkEnds checks how long an announcement holds, and that its renewal, its end, and
// nothing else, are versions of the same object.
func TestAnnouncedWorkEnds(t *testing.T) {
	make := func(typ, rest string) *recountv1.Object {
		t.Helper()
		o, edges := made(t, typ, "{"+announcer+rest+"}")
		if !strings.Contains(lines(edges), "refers_to  "+attributeOf(o, "subject")+" 1 stated") {
			t.Errorf("edges\n%s", lines(edges))
		}
		return o
	}
	first := make(schemas.TypeWorkAnnounced, `,"text":"moving it","announcement":{"subject":"symbol:shop.Cart.Add"}`)
	if got := time.Duration(first.ValidUntilUnixNano - first.TimeUnixNano); got != schemas.DefaultAnnounced {
		t.Errorf("without an end it holds %s", got)
	}
	if first.Title != "working on shop.Cart.Add: moving it" || first.Text != "working on shop.Cart.Add\n\nmoving it" || first.Removed {
		t.Errorf("%q %q", first.Title, first.Text)
	}
	for name, c := range map[string]struct {
		typ, rest string
		same      bool
		lasts     time.Duration
	}{
		"renewed":                 {schemas.TypeWorkAnnounced, `,"valid_until":"2026-11-20T13:00:00Z","announcement":{"subject":" symbol:shop.Cart.Add "}`, true, 3 * time.Hour},
		"ended":                   {schemas.TypeWorkEnded, `,"announcement":{"subject":"symbol:shop.Cart.Add"}`, true, 0},
		"longer than the maximum": {schemas.TypeWorkAnnounced, `,"valid_until":"2036-11-20T10:00:00Z","announcement":{"subject":"symbol:shop.Cart.Add"}`, true, schemas.MaxAnnounced},
		"of another subject":      {schemas.TypeWorkAnnounced, `,"valid_until":"2026-11-20T11:00:00Z","announcement":{"subject":"file:src/cart.go"}`, false, time.Hour},
	} {
		o := make(c.typ, c.rest)
		if got := string(o.Id) == string(first.Id); got != c.same || !o.Versioned {
			t.Errorf("%s: the same object: %v", name, got)
		}
		if o.Removed != (c.typ == schemas.TypeWorkEnded) {
			t.Errorf("%s: removed %v", name, o.Removed)
		}
		if got := time.Duration(o.ValidUntilUnixNano - o.TimeUnixNano); c.lasts != 0 && got != c.lasts {
			t.Errorf("%s: holds %s, want %s", name, got, c.lasts)
		}
	}
	other, _ := made(t, schemas.TypeWorkAnnounced, `{"workspace":"/src/shop","agent":"claude","session":"s-2","announcement":{"subject":"symbol:shop.Cart.Add"}}`)
	if string(other.Id) == string(first.Id) {
		t.Error("two sessions share an announcement")
	}
}

func TestAnnouncementsThatNobodyCouldUseAreRefused(t *testing.T) {
	const from = `"occurred_at":"2026-11-20T10:00:00Z",`
	for payload, want := range map[string]string{
		`"announcement":{}`:                           "announcement.subject",
		`"announcement":{"subject":"shop.Cart"}`:      `want what the agent works on, such as "symbol:shop.Cart.Add"`,
		`"announcement":{"subject":"symbol: "}`:       "announcement.subject",
		`"announcement":{"subject":"symbol:a\u0000"}`: "announcement.subject: holds a NUL byte",

		from + `"valid_until":"2026-11-20T10:00:00Z","announcement":{"subject":"file:a.go"}`: "would never hold",
		from + `"valid_until":"2036-11-20T10:00:00Z","announcement":{"subject":"file:a.go"}`: "more than 30 days",
	} {
		_, err := objects(t, event(schemas.TypeWorkAnnounced, "e", "{"+payload+"}"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", payload, err, want)
		}
	}
}

// TestAStatementSaysHowItIsMeant checks the edge that lists decisions.
func TestAStatementSaysHowItIsMeant(t *testing.T) {
	o, edges := made(t, schemas.TypeMemoryStated, `{`+announcer+`,"text":"We keep Redis.","memory":{"form":" Decision"}}`)
	if attributeOf(o, "form") != "decision" || !strings.Contains(lines(edges), "other is kind:decision 1 stated") {
		t.Errorf("form %q, edges\n%s", attributeOf(o, "form"), lines(edges))
	}
}

func attributeOf(o *recountv1.Object, key string) string {
	for _, a := range o.Attributes {
		if a.Key == key {
			return a.Value
		}
	}
	return ""
}
