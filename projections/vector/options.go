package vector

import (
	"fmt"
	"log/slog"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/schemas"
)

const dim = schemas.EmbeddingDim

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
	// SealRows is the number of runs, commands or passages of objects, after which a shard's state is
	// sealed into a file, at the end of the event with the last of them. Their vectors are in memory
	// until then. 0 means 8,192. Only tests need other values.
	SealRows int
	// Logger reports checkpoints and links that could not be used or written. Nil means
	// slog.Default().
	Logger *slog.Logger

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
		o.SealRows = 1 << 13
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
	if o.Backend != BackendFlat && o.Backend != BackendCoder {
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

// stamp returns the params of options without defaults filled in. Open reports invalid options.
func (o Options) stamp() string {
	_ = o.setDefaults()
	return o.params()
}

func (o *Options) index() index.Options {
	return index.Options{Dim: dim, M: o.M, EfConstruction: o.EfConstruction, Ef: o.Ef}
}

// scans reports whether a search compares all of that many rows.
func (o *Options) scans(n int) bool {
	x, _ := o.index().WithDefaults() // checked by setDefaults
	return n <= x.ScanBelow
}
