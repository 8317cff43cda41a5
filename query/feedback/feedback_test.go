package feedback_test

import (
	"errors"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/projections"
	store "github.com/recountdb/recount/projections/feedback"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/feedback"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// world is a projection that feedback is applied to.
type world struct {
	t    *testing.T
	set  *projections.Set
	next int64
}

var start = time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)

func newWorld(t *testing.T) *world {
	set, err := projections.Open(t.TempDir(), projections.Options{}, store.Kind)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	return &world{t: t, set: set}
}

// give applies feedback that was given some days after the start.
func (w *world) give(days int, g *recountv1.FeedbackGiven) {
	w.t.Helper()
	g.OccurredAt = timestamppb.New(start.AddDate(0, 0, days))
	id := schemas.NewCanon("test").Int(w.next).ID()
	at := schemas.Position{Topic: "recount.facts", Offset: w.next}
	w.next++
	b := schemas.Batch{Topic: at.Topic, Next: w.next, Records: []*recountv1.Record{{Origin: at.Proto(), EventId: id[:], Body: &recountv1.Record_FeedbackGiven{FeedbackGiven: g}}}}
	if err := w.set.Apply(w.t.Context(), b); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) ask(p schemas.Principal, r feedback.Request) feedback.Response {
	w.t.Helper()
	resp, err := feedback.Ask(w.t.Context(), feedback.Asked{Set: w.set, Principal: p}, r)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp
}

func file(path string) *recountv1.FeedbackSubject {
	return &recountv1.FeedbackSubject{Kind: recountv1.FeedbackSubjectKind_FEEDBACK_SUBJECT_KIND_FILE, Repository: "shop", Name: path}
}

var (
	operator = schemas.Principal{Operator: true}
	cart     = feedback.Request{Subjects: []string{"file:cart.go"}, Repository: "shop"}
)

func TestLastVoteOfASessionCounts(t *testing.T) {
	w := newWorld(t)
	if got := w.ask(operator, cart); got.Status != query.StatusEmpty || got.Subjects[0].Score != 0 {
		t.Errorf("before any vote: %+v", got)
	}
	vote := func(session string, useful bool) {
		w.give(0, &recountv1.FeedbackGiven{Session: session, Useful: useful, Task: "round totals", Subjects: []*recountv1.FeedbackSubject{file("cart.go")}})
	}
	vote("s1", true)
	one := w.ask(operator, cart).Subjects[0]
	vote("s1", true)
	if again := w.ask(operator, cart).Subjects[0]; again.Score != one.Score || again.Useful != 1 {
		t.Errorf("the same session twice: %+v, once: %+v", again, one)
	}
	vote("s2", true)
	two := w.ask(operator, cart).Subjects[0]
	if two.Useful != 2 || two.Score <= one.Score || one.Score <= 0 || two.Score >= 1 {
		t.Errorf("two sessions: %+v, one: %+v", two, one)
	}
	vote("s1", false)
	if got := w.ask(operator, cart).Subjects[0]; got.Useful != 1 || got.Useless != 1 || got.Score != 0 {
		t.Errorf("one for and one against: %+v", got)
	}
}

func TestVotesDecayAtTheTimeOfTheNewest(t *testing.T) {
	w := newWorld(t)
	w.give(0, &recountv1.FeedbackGiven{Session: "s1", Useful: true, Subjects: []*recountv1.FeedbackSubject{file("cart.go")}})
	fresh := w.ask(operator, cart).Subjects[0].Score
	if again := w.ask(operator, cart).Subjects[0].Score; again != fresh {
		t.Errorf("the same state: %v, then %v", fresh, again)
	}
	w.give(30, &recountv1.FeedbackGiven{Session: "s2", Useful: true, Subjects: []*recountv1.FeedbackSubject{file("other.go")}})
	if old := w.ask(operator, cart).Subjects[0].Score; old != 1.0/3 || fresh != 0.5 {
		t.Errorf("after one half life: %v, fresh: %v; want 1/3 and 1/2", old, fresh)
	}
}

func TestOthersDoNotSeeIt(t *testing.T) {
	w := newWorld(t)
	task := "round totals of the cart"
	w.give(0, &recountv1.FeedbackGiven{Tenant: "acme", Workspace: "/a", Session: "s1", Task: task, Useful: true, Subjects: []*recountv1.FeedbackSubject{file("cart.go")}})
	for who, p := range map[string]schemas.Principal{
		"the operator, of the default tenant": operator,
		"another tenant":                      {Tenant: "evil", Workspaces: []string{"*"}},
		"another workspace":                   {Tenant: "acme", Workspaces: []string{"/b"}},
		"nobody":                              {},
	} {
		if got := w.ask(p, cart); got.Status != query.StatusEmpty || got.Subjects[0].Useful != 0 {
			t.Errorf("%s sees %+v", who, got.Subjects)
		}
		if got := w.ask(p, feedback.Request{Task: task}); len(got.Subjects) != 0 {
			t.Errorf("%s sees for the task %+v", who, got.Subjects)
		}
	}
	member := schemas.Principal{Tenant: "acme", Workspaces: []string{"/a"}}
	if got := w.ask(member, cart); got.Subjects[0].Useful != 1 {
		t.Errorf("a member sees %+v", got.Subjects)
	}
	if got := w.ask(member, feedback.Request{Task: task}); len(got.Subjects) != 1 {
		t.Errorf("a member sees for the task %+v", got.Subjects)
	}
}

func TestATaskWithSimilarWordsFindsWhatWasUseful(t *testing.T) {
	w := newWorld(t)
	give := func(session, task string, useful bool, paths ...string) {
		var of []*recountv1.FeedbackSubject
		for _, p := range paths {
			of = append(of, file(p))
		}
		w.give(0, &recountv1.FeedbackGiven{Session: session, Task: task, Useful: useful, Subjects: of})
	}
	give("s1", "round totals of the cart to cents", true, "cart.go", "money.go")
	give("s2", "send a mail when an order ships", true, "mail.go")
	give("s3", "round totals of invoices", false, "legacy.go")
	got := w.ask(operator, feedback.Request{Task: "cart totals round to whole cents", Repository: "shop"}).Subjects
	if len(got) != 3 || got[0].Subject != "file:cart.go" || got[1].Subject != "file:money.go" || got[2].Subject != "file:legacy.go" {
		t.Fatalf("got %+v", got)
	}
	if got[0].ForTask <= 0 || got[2].ForTask >= 0 {
		t.Errorf("useful %v and useless %v", got[0].ForTask, got[2].ForTask)
	}
	if got := w.ask(operator, feedback.Request{Task: "cart totals", Repository: "other"}).Subjects; len(got) != 0 {
		t.Errorf("of another repository: %+v", got)
	}
}

func TestRefuses(t *testing.T) {
	w := newWorld(t)
	for why, r := range map[string]feedback.Request{
		"nothing":               {},
		"both":                  {Subjects: []string{"file:a"}, Task: "x", Repository: "shop"},
		"no kind":               {Subjects: []string{"cart.go"}, Repository: "shop"},
		"no repository":         {Subjects: []string{"file:cart.go"}},
		"an object without id":  {Subjects: []string{"object:x"}},
		"a name that is empty":  {Subjects: []string{"symbol:"}, Repository: "shop"},
		"a task of a megabyte":  {Task: string(make([]byte, 1<<20))},
		"a limit that is wrong": {Task: "x", Limit: -1},
	} {
		_, err := feedback.Ask(t.Context(), feedback.Asked{Set: w.set, Principal: operator}, r)
		var refused *query.RequestError
		if !errors.As(err, &refused) {
			t.Errorf("%s: %v, want a RequestError", why, err)
		}
	}
	if _, err := (feedback.Given{Repository: "shop"}).Event("test"); err == nil {
		t.Error("feedback without subjects was accepted")
	}
}
