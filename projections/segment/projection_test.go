package segment

import (
	"log/slog"
	"testing"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/projections/sealed/sealedtest"
)

// quiet is for tests whose checkpoints are unusable on purpose.
var quiet = slog.New(slog.DiscardHandler)

// TestProjection runs the suite with segments so small that a log of a few hundred records seals
// several, with checkpoints in between.
func TestProjection(t *testing.T) {
	all := map[string]Options{
		"ByRows":  {SealRows: 48, CheckpointRows: 13},
		"ByBytes": {SealBytes: 60_000, CheckpointRows: -1},
	}
	if projtest.Soak() {
		all["Hot"] = Options{}
	}
	for name, opts := range all {
		t.Run(name, func(t *testing.T) {
			opts.Logger, opts.disk = quiet, sealedtest.NoSync{}
			projtest.Run(t, projtest.Config{
				Kind: Kind(opts),
				Read: func(t *testing.T, p projections.Projection) { readEverything(t, p.(*Projection)) },
			})
		})
	}
}

// readEverything uses every way of reading and checks that they agree with each other while batches
// are applied.
func readEverything(t *testing.T, p *Projection) {
	n := 0
	last := int64(-1 << 63)
	err := p.Scan(t.Context(), Filter{}, OldestFirst, func(v *View) bool {
		if v.UnixNano() < last {
			t.Errorf("scan: %d after %d", v.UnixNano(), last)
		}
		last = v.UnixNano()
		if n++; n%17 == 0 {
			row := v.Row()
			got, ok, err := p.Lookup(t.Context(), row.ID)
			if err != nil || !ok || got.Command != row.Command {
				t.Errorf("lookup %s: got %q, %t, %v; want %q", row.ID, got.Command, ok, err, row.Command)
			}
			if _, err := v.Embedding(); err != nil {
				t.Error(err)
			}
			got, ok, err = p.At(t.Context(), row.Position)
			if err != nil || !ok || got.ID != row.ID {
				t.Errorf("at %s: got %s, %t, %v; want %s", row.Position, got.ID, ok, err, row.ID)
			}
		}
		return true
	})
	if err != nil {
		t.Error(err)
	}
	total := 0
	for _, s := range p.Stats() {
		total += s.Rows()
	}
	if total < n {
		t.Errorf("%d rows, and %d were scanned before", total, n)
	}
}
