package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// edges is an answer with a list of rows without nodes, as a difference of two revisions has.
func edges(from, to int) Payload {
	p := Payload{Question: "diff"}
	l := p.List("edges", "from", "site")
	for i := from; i < to; i++ {
		l.Join(nil, fmt.Sprintf("pkg.Caller%d", i), fmt.Sprintf("pkg/caller.go:%d", i))
	}
	return p
}

// TestRowsThatWereSentAreNotSentAgain asks for more of what was asked before.
func TestRowsThatWereSentAreNotSentAgain(t *testing.T) {
	s, r := NewSession(), newReceiver()
	send := func(p Payload) string {
		t.Helper()
		data, sent, err := s.Encode(p)
		if err != nil {
			t.Fatal(err)
		}
		sent()
		got, err := r.decode(data)
		if diff := cmp.Diff(p, got); diff != "" || err != nil {
			t.Fatalf("%v %s\n%s", err, diff, data)
		}
		return strings.TrimPrefix(string(data), Legend+"\n")
	}
	send(edges(10, 20))
	if got, want := send(edges(9, 21)), "# diff\n## edges &2 * from site\npkg.Caller9 pkg/caller.go:9\n&1:1-10\n.Caller20 :20\n"; got != want {
		t.Errorf("more of the same: got %q, want %q", got, want)
	}
	if got, want := send(edges(9, 21)), "# diff\n## edges &3 from site\n&2:1-12\n"; got != want {
		t.Errorf("the same: got %q, want %q", got, want)
	}
	if got := send(edges(10, 13)); strings.Contains(got, "&") {
		t.Errorf("three rows are repeated by their places: %q", got)
	}
	other := edges(10, 20)
	other.Lists[0].Columns[1] = "place"
	if got := send(other); strings.Contains(got, "&1:") || strings.Contains(got, "&3:") {
		t.Errorf("rows of other columns are repeated: %q", got)
	}
}

// TestRowsOfLostAnswersAreSent loses an answer, and sends two that were written before either was sent.
func TestRowsOfLostAnswersAreSent(t *testing.T) {
	s, r := NewSession(), newReceiver()
	if _, _, err := s.Encode(edges(0, 5)); err != nil { // it got lost
		t.Fatal(err)
	}
	first, firstSent, err := s.Encode(edges(0, 5))
	if err != nil {
		t.Fatal(err)
	}
	second, secondSent, err := s.Encode(edges(0, 6))
	if err != nil {
		t.Fatal(err)
	}
	secondSent()
	firstSent()
	for _, one := range []struct {
		data []byte
		want Payload
	}{{second, edges(0, 6)}, {first, edges(0, 5)}} {
		got, err := r.decode(one.data)
		if diff := cmp.Diff(one.want, got); diff != "" || err != nil {
			t.Errorf("%v %s\n%s", err, diff, one.data)
		}
	}
}

// TestRepeatedRowsAreBounded sends more lists than a session remembers.
func TestRepeatedRowsAreBounded(t *testing.T) {
	s, r := NewSession(), newReceiver()
	for i := range 3 * maxRepeated {
		p := edges(1000*i, 1000*i+100)
		data, sent, err := s.Encode(p)
		if err != nil {
			t.Fatal(err)
		}
		sent()
		if got, err := r.decode(data); err != nil || !cmp.Equal(p, got) {
			t.Fatalf("answer %d: %v", i, err)
		}
	}
	if s.rows.rows > maxRepeatedRows || len(s.rows.at) > maxRepeatedRows || len(s.rows.all) > maxRepeated || len(r.lists) > 2*maxRepeated+1 {
		t.Errorf("remembered: %d rows, %d places and %d lists; the receiver %d lists", s.rows.rows, len(s.rows.at), len(s.rows.all), len(r.lists))
	}
	// A short text cannot become a large payload.
	long := "# q\n## l a\n" + strings.Repeat("&96:1-100\n", MaxItems/200)
	if _, err := r.decode([]byte(long)); err == nil {
		t.Error("more rows than allowed: decoded")
	}
}

func TestRepeatedRowsOfNothing(t *testing.T) {
	for why, text := range map[string]string{
		"list that is not known": "# q\n## l from site\n&9:1-2\n", "row 0": "# q\n## l from site\n&1:0-2\n", "row after the last": "# q\n## l from site\n&1:1-6\n",
		"backwards": "# q\n## l from site\n&1:3-2\n", "other columns": "# q\n## l from\n&1:1-2\n", "no rows": "# q\n## l from site\n&1\n", "number twice": "# q\n## l &1\n", "before any list": "# q\n&1:1-2\n",
	} {
		s, r := NewSession(), newReceiver()
		data, _, err := s.Encode(edges(0, 5))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.decode(data); err != nil {
			t.Fatal(err)
		}
		if p, err := r.decode([]byte(text)); err == nil {
			t.Errorf("%s: decoded as %+v", why, p)
		}
	}
	if p, err := readers[Text]([]byte("# q\n## l &1\n")); err == nil {
		t.Errorf("a number of a list in no session: decoded as %+v", p)
	}
}
