package replays

import (
	"fmt"
	"math/rand/v2"
	"testing"

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
			m := r.GetReplayStepEnded()
			if m == nil {
				return false
			}
			m.OutputTail += "."
			return true
		},
		Read: func(t *testing.T, p projections.Projection) {
			v, err := p.(*Replays).View()
			if err != nil {
				t.Error(err)
				return
			}
			defer v.Close()
			if err := v.Latest(func(b Begun) bool {
				if events, err := v.Run(b.Run); err != nil || len(events) == 0 {
					t.Errorf("run %s has %d events: %v", b.Run, len(events), err)
				}
				return true
			}); err != nil {
				t.Error(err)
			}
			if _, err := v.Of(command(0), 3); err != nil {
				t.Error(err)
			}
		},
	})
}

func command(n int) schemas.EventID { return schemas.NewCanon("replays/test").Int(int64(n)).ID() }

// generate makes shards of the events of a few runs, some without a plan or an end.
func generate(seed uint64, partitions, records int) []projtest.Shard {
	r := rand.New(rand.NewPCG(seed, 7))
	shards := make([]projtest.Shard, partitions)
	made := 0
	for p := range shards {
		shards[p].TP = schemas.TopicPartition{Topic: "recount.commands", Partition: int32(p)}
		for range records {
			made++
			id := schemas.NewCanon("replays/test/event").Int(int64(seed)).Int(int64(made)).ID()
			rec := &recountv1.Record{
				Origin:  schemas.Position{Topic: "recount.commands", Partition: int32(p), Offset: shards[p].Next}.Proto(),
				EventId: id[:],
			}
			at := &timestamppb.Timestamp{Seconds: 1_700_000_000 + r.Int64N(1000) - r.Int64N(2)*3_000_000_000}
			run, step, of := fmt.Sprintf("r%d", r.IntN(5)), uint32(r.IntN(4)), command(r.IntN(3)).String()
			switch r.IntN(6) {
			case 0: // a command
			case 1:
				rec.Body = &recountv1.Record_ReplayPlanned{ReplayPlanned: &recountv1.ReplayPlanned{Run: run, OccurredAt: at, PlanId: "ab"}}
			case 2:
				rec.Body = &recountv1.Record_ReplayEnded{ReplayEnded: &recountv1.ReplayEnded{Run: run, OccurredAt: at, State: recountv1.ReplayState_REPLAY_STATE_DONE}}
			case 3:
				if r.IntN(10) == 0 {
					of = "no id"
				}
				rec.Body = &recountv1.Record_ReplayStepStarted{ReplayStepStarted: &recountv1.ReplayStepStarted{Run: run, OccurredAt: at, Step: step, CommandEventId: of}}
			default:
				rec.Body = &recountv1.Record_ReplayStepEnded{ReplayStepEnded: &recountv1.ReplayStepEnded{Run: run, OccurredAt: at, Step: step, CommandEventId: of, State: recountv1.ReplayState_REPLAY_STATE_DONE}}
			}
			shards[p].Records = append(shards[p].Records, rec)
			shards[p].Next++
		}
	}
	return shards
}
