package node

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

// TestWithheld checks that while events are being erased no answer and no error names any of them,
// including those that the projections no longer hold, until all are gone; and that other answers
// are given.
func TestWithheld(t *testing.T) {
	first := schemas.Position{Topic: "recount.commands", Partition: 1, Offset: 7}
	second := schemas.Position{Topic: "recount.agents", Partition: 0, Offset: 3}
	other := schemas.Position{Topic: "recount.commands", Partition: 1, Offset: 70}
	id := schemas.EventID{1, 2, 3}
	n := &Node{}
	early := n.discreet()
	n.hide(map[schemas.Position]schemas.EventID{first: id})
	n.hide(map[schemas.Position]schemas.EventID{second: {}})

	mind := func(when string, given func(any, error) error, withheld bool) {
		t.Helper()
		plain := errors.New("no space left")
		for name, c := range map[string]struct {
			answer any
			err    error
			refuse bool
		}{
			"the position":           {answer: map[string]any{"at": first}, refuse: withheld},
			"the position of both":   {answer: []string{second.String(), other.String()}, refuse: withheld},
			"the id":                 {answer: id, refuse: withheld},
			"the id in capitals":     {answer: strings.ToUpper(id.String()), refuse: withheld},
			"another position":       {answer: other},
			"an error with the id":   {err: fmt.Errorf("%s: not found", id), refuse: withheld},
			"one with the position":  {err: fmt.Errorf("%s: not found", first), refuse: withheld},
			"one of another":         {err: fmt.Errorf("%s: not found", other)},
			"one that lists several": {err: &query.AmbiguousError{Prefix: "4e12"}, refuse: withheld},
			"one that names nothing": {err: plain},
		} {
			switch err := given(c.answer, c.err); {
			case c.refuse != errors.Is(err, api.ErrUnavailable):
				t.Errorf("%s, %s: got %v", when, name, err)
			case !c.refuse && !errors.Is(err, c.err):
				t.Errorf("%s, %s: got %v, want %v", when, name, err, c.err)
			}
		}
	}
	mind("asked before", early, true)
	mind("meanwhile", n.discreet(), true)
	sums := func(when string, refuse bool, topics ...string) {
		t.Helper()
		if err := n.summing(topics...); (err != nil) != refuse || err != nil && !errors.Is(err, api.ErrUnavailable) {
			t.Errorf("%s: a sum of %v: %v", when, topics, err)
		}
	}
	sums("meanwhile", true, schemas.TopicCommands)
	sums("meanwhile", true, schemas.TopicSpans, schemas.TopicAgents)
	sums("meanwhile", false, schemas.TopicSpans)

	n.release(func(at schemas.Position) bool { return at == first })
	mind("half released", n.discreet(), true)
	sums("half released", false, schemas.TopicCommands)
	sums("half released", true, schemas.TopicAgents)

	late := n.discreet()
	n.release(func(schemas.Position) bool { return true })
	mind("released, and asked before", late, true)
	mind("released", n.discreet(), false)
	sums("released", false, schemas.TopicAgents)

	n.hide(map[schemas.Position]schemas.EventID{other: {}})
	if err := n.discreet()(first, nil); err != nil {
		t.Errorf("what was released before is withheld by the next: %v", err)
	}
}
