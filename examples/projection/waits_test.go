package waits

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/processors/command"
	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/projections/store/storetest"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"

	"google.golang.org/protobuf/types/known/durationpb"
)

// TestProjection holds the projection to the contract: crashes, power cuts, batches in
// any size and order, events that come twice, and a rebuild that gives the same bytes.
func TestProjection(t *testing.T) {
	projtest.Run(t, projtest.Config{
		Kind: Kind,
		Disks: storetest.Disks(name, func(dir string, o store.Options) (projections.Projection, error) {
			return Open(dir, o)
		}),
		Read: func(t *testing.T, p projections.Projection) {
			if _, _, err := p.(*Waits).Longest(3); err != nil {
				t.Errorf("longest: %v", err)
			}
		},
	})
}

func TestLongest(t *testing.T) {
	w, err := Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for partition, commands := range [][]*recountv1.CommandExecuted{
		{ran("go test ./pipeline", time.Minute, 0), ran("go test ./query", 20*time.Second, 1), ran("ls", time.Millisecond, 0)},
		{ran("go test ./schemas", 10*time.Second, 0)},
	} {
		b := schemas.Batch{Topic: "recount.commands", Partition: int32(partition)}
		for _, c := range commands {
			at := schemas.Position{Topic: b.Topic, Partition: b.Partition, Offset: b.Next}
			id := schemas.NewCanon("example").String(at.String()).ID()
			r := &recountv1.Record{Origin: at.Proto(), EventId: id[:]}
			if err := command.Intent(schemas.Event{ID: id}, c, r); err != nil {
				t.Fatal(err)
			}
			b.Records = append(b.Records, r)
			b.Next++
		}
		if err := w.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	got, mark, err := w.Longest(1)
	if err != nil {
		t.Fatal(err)
	}
	want := []Row{{Template: "go test <path>", Runs: 3, Failures: 1, Took: 90 * time.Second}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got, want := mark.String(), "recount.commands/0:3,recount.commands/1:1"; got != want {
		t.Errorf("watermark %s, want %s", got, want)
	}
}

func ran(text string, took time.Duration, exit int32) *recountv1.CommandExecuted {
	return &recountv1.CommandExecuted{Command: text, Duration: durationpb.New(took), ExitCode: &exit}
}
