package feedback

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/projections/store/storetest"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func TestProjection(t *testing.T) {
	projtest.Run(t, projtest.Config{
		Kind: Kind,
		Disks: storetest.Disks(Name, func(dir string, o store.Options) (projections.Projection, error) {
			return Open(dir, o)
		}),
		Generate: generate,
		Change: func(r *recountv1.Record) bool {
			g := r.GetFeedbackGiven()
			if g == nil {
				return false
			}
			g.Useful = !g.Useful
			return true
		},
		Read: func(t *testing.T, p projections.Projection) {
			v, err := p.(*Feedback).View("acme")
			if err != nil {
				t.Error(err)
				return
			}
			defer v.Close()
			if _, err := v.Votes(symbol("a"), 10); err != nil {
				t.Error(err)
			}
			if _, err := v.Tasks("cart", 10); err != nil {
				t.Error(err)
			}
		},
	})
}

func symbol(name string) *recountv1.FeedbackSubject {
	return &recountv1.FeedbackSubject{Kind: recountv1.FeedbackSubjectKind_FEEDBACK_SUBJECT_KIND_SYMBOL, Repository: "shop", Name: name, Path: name + ".go"}
}

// generate makes shards of feedback of several tenants, some of it repeated.
func generate(seed uint64, partitions, records int) []projtest.Shard {
	r := rand.New(rand.NewPCG(seed, 1))
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	shards := make([]projtest.Shard, partitions)
	made := 0
	for p := range shards {
		shards[p].TP = schemas.TopicPartition{Topic: "recount.facts", Partition: int32(p)}
		for range records {
			made++
			id := schemas.NewCanon("feedback/test").Int(int64(seed)).Int(int64(made)).ID()
			rec := &recountv1.Record{
				Origin:  schemas.Position{Topic: "recount.facts", Partition: int32(p), Offset: shards[p].Next}.Proto(),
				EventId: id[:],
			}
			at := &timestamppb.Timestamp{Seconds: 1_700_000_000 + r.Int64N(10_000_000) - r.Int64N(2)*3_000_000_000}
			task := pick("", "round totals of a cart", "total the cart twice", "ünicode täsk "+fmt.Sprint(made%7))
			subjects := []*recountv1.FeedbackSubject{symbol(pick("a", "b", "c")), symbol(pick("a", "d"))}
			switch r.IntN(5) {
			case 0: // an event that is nothing to the projection
			case 1:
				rec.Body = &recountv1.Record_ContextReturned{ContextReturned: &recountv1.ContextReturned{Tenant: pick("", "acme"), Session: pick("s1", "s2"), OccurredAt: at, Task: task, Subjects: subjects}}
			default:
				rec.Body = &recountv1.Record_FeedbackGiven{FeedbackGiven: &recountv1.FeedbackGiven{Tenant: pick("", "acme"), Workspace: pick("", "/src"), Agent: "claude", OccurredAt: at, Task: task, Useful: r.IntN(2) == 0, Subjects: subjects}}
			}
			shards[p].Records = append(shards[p].Records, rec)
			shards[p].Next++
		}
	}
	return shards
}

func TestWords(t *testing.T) {
	got := Words("Fix parseHTTP2Frame() in the cart: don't round(0.5) CartTotal, cart")
	want := []string{"fix", "parse", "http2", "frame", "parsehttp2frame", "cart", "don", "round", "total", "carttotal"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestVoteSurvives(t *testing.T) {
	v := Vote{Stand: Useful, Time: (&timestamppb.Timestamp{Seconds: -5, Nanos: 3}).AsTime(), Voter: schemas.EventID{1}, Task: schemas.EventID{2}, Workspace: "/src"}
	got, err := parseVote(v.append(nil))
	if diff := cmp.Diff(v, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	for n := range v.append(nil)[:30] {
		if _, err := parseVote(v.append(nil)[:n]); err == nil {
			t.Errorf("%d bytes of a vote were read", n)
		}
	}
}
