package vector

import (
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/projections/vector/index"
)

// The values of Options.Backend.
const (
	// BackendFlat is our own index (package flat).
	BackendFlat = "flat"
	// BackendCoder is coder/hnsw (package coder), for comparison.
	BackendCoder = "coder"
)

// Options configure a projection. The zero value suits nearly every use. State made with another
// Backend, M, EfConstruction or SealRows is rebuilt from the log.
type Options struct {
	// Backend is the vector index: "flat", the default, or "coder".
	Backend string
	// M is how many links a vector gets on each layer, and twice that on the lowest: 2 to 64, 0
	// means 16. More finds more, in more memory and time. Graphs of objects use half of M and of
	// EfConstruction; their walks keep four times Ef.
	M int
	// EfConstruction is how many candidates a vector's links are chosen from: 1 to 4096, 0 means
	// 200. More makes a better graph, more slowly.
	EfConstruction int
	// Ef is how many candidates a search keeps if its query sets none: 1 to 4096, 0 means 50. It
	// changes answers, never the state.
	Ef int
	// SealRows is the number of new runs of commands after which a shard's state is sealed into
	// files. Passages of objects are sealed after an eighth of it, since their vectors are in
	// memory until then. 0 means 65,536. Only tests need other values.
	SealRows int
	// CheckpointRows is the number of new vectors of a shard after which its unsealed state is
	// saved, so that the next Open need not read it from the log again. It changes only how fast
	// Open is, never the state. 0 means 8,192; negative means never (Flush and Close still save
	// it).
	CheckpointRows int
	// Logger reports checkpoints that could not be used or written. Nil means slog.Default().
	Logger *slog.Logger

	paused *atomic.Bool // set while checkpoints are off

	// Fields of tests.
	disk     sealed.Disk
	linkRows int  // see linkStep
	unlinked bool // nothing is linked unless a test links it
}

const maxSealRows = 1 << 24

// Validate returns an error that names an invalid option and its valid range.
func (o Options) Validate() error { return o.setDefaults() }

func (o *Options) setDefaults() error {
	if o.Backend == "" {
		o.Backend = BackendFlat
	}
	if o.SealRows == 0 {
		o.SealRows = 1 << 16
	}
	if o.CheckpointRows == 0 {
		o.CheckpointRows = 1 << 13
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.disk == nil {
		o.disk = sealed.OS{}
	}
	x, err := o.index().WithDefaults()
	if err != nil {
		return fmt.Errorf("vector: %w", err)
	}
	o.M, o.EfConstruction, o.Ef = x.M, x.EfConstruction, x.Ef
	if _, ok := backends[o.Backend]; !ok {
		return fmt.Errorf("vector: Backend %q: want %s or %s", o.Backend, BackendFlat, BackendCoder)
	}
	if o.linkRows == 0 {
		o.linkRows = linkStep
	}
	if o.SealRows < 0 || o.SealRows > maxSealRows {
		return fmt.Errorf("vector: SealRows %d: want 1 to %d", o.SealRows, maxSealRows)
	}
	return nil
}

// params returns the options that the state depends on, in the form that is stored with it.
func (o *Options) params() string {
	return fmt.Sprintf("%s,m=%d,ef_construction=%d,seal_rows=%d", o.Backend, o.M, o.EfConstruction, o.SealRows)
}

// objectRuns is the number of passages after which a step of objects is sealed, at the end of the
// event with the last of them.
func (o *Options) objectRuns() int { return max(1, o.SealRows/8) }

// stamp returns the params of options without defaults filled in. Open reports invalid options.
func (o Options) stamp() string {
	_ = o.setDefaults()
	return o.params()
}

func (o *Options) index() index.Options {
	return index.Options{Dim: dim, M: o.M, EfConstruction: o.EfConstruction, Ef: o.Ef}
}

// objects returns the options of graphs of objects: half the links, chosen from half the
// candidates, for a walk that keeps four times as many (decision 38).
func (o *Options) objects() index.Options {
	x := o.index()
	x.M, x.EfConstruction = max(2, x.M/2), max(1, x.EfConstruction/2)
	return x
}

// scans reports whether a search compares all of that many rows.
func (o *Options) scans(n int) bool {
	x, _ := o.index().WithDefaults() // checked by setDefaults
	return n <= x.ScanBelow
}
