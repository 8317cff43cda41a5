// Package projtest is the suite that every projection passes. A projection's
// test calls Run with its kind:
//
//	func TestProjection(t *testing.T) {
//		projtest.Run(t, projtest.Config{Kind: segment.Kind})
//	}
//
// The suite checks these properties:
//
//   - Live equals rebuilt: a state folded in small batches, with restarts in between, equals one
//     folded in a single run.
//   - A crash at any moment loses nothing but what the log still has: the state found is exactly
//     the one at its own watermark, and continuing from there gives the state that there would be
//     without the crash.
//   - Any batching, any batch delivered twice or overlapping, any event delivered twice at
//     different offsets, and any interleaving of partitions give the same state.
//   - Retention: a state begun after cuts, with the records that summarise the removed ones, is
//     the same however it is built, even after two cuts.
//   - Dump sees one state while batches are applied, in ascending order of keys.
//   - Root differs when the state does.
//   - A record that can never be applied is named in the error, and neither that record nor any
//     after it is applied.
//
// States are compared by Root, which covers all that Dump yields; the first keys that differ are
// shown. With RECOUNT_SOAK=1 the same properties are tried many more times.
package projtest

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/internal/racing"
	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Config configures the suite.
type Config struct {
	// Kind is the projection under test.
	Kind projections.Definition
	// Disks are the disks on which the state is crashed, by name. Default: Directory only. A
	// projection over a file system that can be faked adds one that loses what was not synced.
	Disks map[string]func(t *testing.T) Disk
	// Generate makes the log; default: the function Generate.
	Generate func(seed uint64, partitions, records int) []Shard
	// Records is the number of records of a partition; default 250. A projection that seals after
	// some number of records needs a few times that number.
	Records int
	// Crashes is how often each disk is crashed; default 12, 40 times as many in a soak.
	Crashes int
	// Change alters a record so that the state must differ, or returns false for a record that does
	// not matter to the projection. Default: it changes the command of an intent.
	Change func(r *recountv1.Record) bool
	// Summarise, if not nil, returns the records that replace those that retention removes, made
	// from the state of all records and the state without the removed ones. Kept fails the test
	// unless what must survive retention is the same in the states before and after it.
	Summarise func(t *testing.T, all, rest projections.Projection) []*recountv1.Record
	Kept      func(t *testing.T, before, after projections.Projection)
	// Read is called continuously while batches are applied, and reads as a query would; default:
	// none.
	Read func(t *testing.T, p projections.Projection)
}

const (
	partitions = 3
	soakFactor = 40
)

// Soak reports whether long runs are wanted.
func Soak() bool { return os.Getenv("RECOUNT_SOAK") != "" }

// Run runs the suite.
func Run(t *testing.T, c Config) {
	if c.Generate == nil {
		c.Generate = Generate
	}
	if c.Records == 0 {
		c.Records = 250
	}
	if c.Crashes == 0 {
		c.Crashes = 12
	}
	if c.Change == nil {
		c.Change = changeCommand
	}
	if c.Disks == nil {
		c.Disks = map[string]func(*testing.T) Disk{
			"directory": func(t *testing.T) Disk { return Directory(t, c.Kind) },
		}
	}
	s := &suite{Config: c, factor: 1}
	if Soak() {
		s.factor = soakFactor
	}
	t.Run("Empty", s.empty)
	t.Run("AnyBatching", s.anyBatching)
	t.Run("EventsDeliveredTwice", s.eventsTwice)
	t.Run("Restarts", s.restarts)
	for _, name := range slices.Sorted(maps.Keys(c.Disks)) {
		t.Run("Crashes/"+name, func(t *testing.T) { s.crashes(t, c.Disks[name]) })
	}
	t.Run("Retention", s.retention)
	t.Run("DumpSeesOneState", s.dumpSeesOneState)
	t.Run("PartitionsAtOnce", s.partitionsAtOnce)
	t.Run("RootTellsStatesApart", s.rootTellsApart)
	t.Run("Poison", s.poison)
	t.Run("Cancelled", s.cancelled)
}

type suite struct {
	Config
	factor int
}

// logs returns how many logs to try if the default is n. Under the race detector one log is enough:
// several show it no more.
func (s *suite) logs(n int) uint64 {
	if racing.On && s.factor == 1 {
		n = 1
	}
	return uint64(n * s.factor)
}

func changeCommand(r *recountv1.Record) bool {
	in := r.GetIntent()
	if in == nil {
		return false
	}
	in.Command += " changed"
	in.Template += " changed"
	in.ContentHash++
	return true
}

func (s *suite) open(t *testing.T, d Disk) projections.Projection {
	t.Helper()
	p, err := d.Open()
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return p
}

// fresh opens an empty projection that is closed when the test ends.
func (s *suite) fresh(t *testing.T) projections.Projection {
	t.Helper()
	p, err := s.Kind.Open(t.TempDir())
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { closeOf(t, p) })
	return p
}

func closeOf(t *testing.T, p projections.Projection) {
	t.Helper()
	if err := p.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// folded returns the reference state: partition by partition, up to a watermark, in batches of one
// size.
func (s *suite) folded(t *testing.T, shards []Shard, upTo schemas.Watermark) projections.Projection {
	t.Helper()
	p := s.fresh(t)
	const step = 64
	for _, sh := range shards {
		for from := int64(0); from < upTo[sh.TP]; from += step {
			apply(t, p, sh.Batch(from, min(from+step, upTo[sh.TP])))
		}
	}
	return p
}

func ends(shards []Shard) schemas.Watermark {
	w := schemas.Watermark{}
	for _, sh := range shards {
		if sh.Next > 0 {
			w[sh.TP] = sh.Next
		}
	}
	return w
}

func apply(t *testing.T, p projections.Projection, b schemas.Batch) {
	t.Helper()
	before := p.Next(b.TP())
	if err := p.Apply(t.Context(), b); err != nil {
		t.Fatalf("apply %s up to %d: %v", b.TP(), b.Next, err)
	}
	if got, want := p.Next(b.TP()), max(before, b.Next); got != want {
		t.Fatalf("next of %s after a batch up to %d: got %d, want %d", b.TP(), b.Next, got, want)
	}
}

// equal fails the test unless both states are the same.
func equal(t *testing.T, got, want projections.Projection) {
	t.Helper()
	if g, w := got.Watermark(), want.Watermark(); !maps.Equal(g, w) {
		t.Errorf("watermark: got %s, want %s", g, w)
	}
	if g, w := root(t, got), root(t, want); g != w {
		t.Errorf("root: got %s, want %s", g, w)
		diffs, err := projections.Compare(t.Context(), got, want, 5)
		if err != nil {
			t.Fatalf("compare: %v", err)
		}
		for _, d := range diffs {
			t.Errorf("state: %s", d)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}

func root(t *testing.T, p projections.Projection) schemas.Hash {
	t.Helper()
	h, err := projections.Root(t.Context(), p)
	if err != nil {
		t.Fatalf("root: %v", err)
	}
	return h
}

func (s *suite) empty(t *testing.T) {
	p := s.fresh(t)
	if got := p.Name(); got != s.Kind.Name {
		t.Errorf("name: got %q, want that of the kind, %q", got, s.Kind.Name)
	}
	tp := schemas.TopicPartition{Topic: "recount.commands", Partition: 2}
	if got := p.Next(tp); got != 0 {
		t.Errorf("next: got %d, want 0", got)
	}
	if got := p.Watermark(); len(got) != 0 {
		t.Errorf("watermark: got %s, want none", got)
	}
	equal(t, p, s.fresh(t))

	apply(t, p, schemas.Batch{Topic: tp.Topic, Partition: tp.Partition, Next: 7})
	if got, want := p.Watermark().String(), "recount.commands/2:7"; got != want {
		t.Errorf("watermark after a batch without records: got %s, want %s", got, want)
	}
	if err := p.Flush(); err != nil {
		t.Errorf("flush: %v", err)
	}
}

func (s *suite) anyBatching(t *testing.T) {
	for seed := range s.logs(4) {
		rng := rand.New(rand.NewPCG(seed, 1))
		shards := s.Generate(seed, partitions, s.Records)
		want := s.folded(t, shards, ends(shards))
		got := s.fresh(t)
		s.feed(t, got, shards, rng, nil)
		equal(t, got, want)
	}
}

// feed applies what is missing, in random batches of random partitions, some of which overlap or
// repeat what was applied. after, if not nil, is called after each batch; feed stops when it
// returns false.
func (s *suite) feed(t *testing.T, p projections.Projection, shards []Shard, rng *rand.Rand, after func() bool) {
	t.Helper()
	for {
		var open []Shard
		for _, sh := range shards {
			if p.Next(sh.TP) < sh.Next {
				open = append(open, sh)
			}
		}
		if len(open) == 0 {
			return
		}
		sh := pick(rng, open)
		from := p.Next(sh.TP)
		to := from + 1 + rng.Int64N(pick(rng, []int64{1, 5, 40, 200}))
		switch rng.IntN(4) {
		case 0:
			from = max(0, from-rng.Int64N(50)) // overlaps
		case 1:
			apply(t, p, sh.Batch(0, from/2)) // all of it was applied before
		}
		apply(t, p, sh.Batch(from, min(to, sh.Next)))
		if after != nil && !after() {
			return
		}
	}
}

func (s *suite) eventsTwice(t *testing.T) {
	for seed := range s.logs(3) {
		rng := rand.New(rand.NewPCG(seed, 2))
		shards := Redeliver(rng, s.Generate(seed, partitions, s.Records))
		firsts := Firsts(shards)
		want := s.folded(t, firsts, ends(firsts))
		got := s.fresh(t)
		s.feed(t, got, shards, rng, nil)
		equal(t, got, want)
	}
}

func (s *suite) restarts(t *testing.T) {
	for seed := range s.logs(2) {
		rng := rand.New(rand.NewPCG(seed, 3))
		shards := Redeliver(rng, s.Generate(seed, partitions, s.Records))
		want := s.folded(t, shards, ends(shards))
		disk := Directory(t, s.Kind)
		p := s.open(t, disk)
		for range 12 {
			s.feed(t, p, shards, rng, func() bool { return rng.IntN(5) > 0 })
			before := p.Watermark()
			if rng.IntN(2) == 0 {
				if err := p.Flush(); err != nil {
					t.Fatalf("flush: %v", err)
				}
			}
			closeOf(t, p)
			p = s.open(t, disk)
			if after := p.Watermark(); !before.Covers(after) {
				t.Fatalf("reopened at %s, closed at %s", after, before)
			}
		}
		s.feed(t, p, shards, rng, nil)
		equal(t, p, want)
		closeOf(t, p)
	}
}

func (s *suite) crashes(t *testing.T, newDisk func(*testing.T) Disk) {
	const perLog = 4 // crashes that one log sees, one after the other
	for seed := range s.logs((s.Crashes + perLog - 1) / perLog) {
		rng := rand.New(rand.NewPCG(seed, 4))
		shards := Redeliver(rng, s.Generate(seed, partitions, s.Records))
		want := s.folded(t, shards, ends(shards))
		disk := newDisk(t)
		p := s.open(t, disk)
		for range perLog {
			stop := 1 + rng.IntN(8)
			left := disk.Crash(rng, func() {
				s.feed(t, p, shards, rng, func() bool { stop--; return stop > 0 })
			})
			before := p.Watermark()
			closeOf(t, p)
			disk, p = left, s.open(t, left)
			found := p.Watermark()
			if !before.Covers(found) {
				t.Fatalf("found at %s after a crash at %s", found, before)
			}
			equal(t, p, s.folded(t, shards, found))
		}
		s.feed(t, p, shards, rng, nil)
		equal(t, p, want)
		closeOf(t, p)
	}
}

func (s *suite) rootTellsApart(t *testing.T) {
	shards := s.Generate(1, 1, s.Records)
	end := ends(shards)
	want := root(t, s.folded(t, shards, end))

	var matter []int
	for i, r := range shards[0].Records {
		if s.Change(proto.Clone(r).(*recountv1.Record)) {
			matter = append(matter, i)
		}
	}
	if len(matter) < 3 {
		t.Fatalf("%d records of the log matter to the projection, want some", len(matter))
	}
	for _, i := range []int{matter[0], matter[len(matter)/2], matter[len(matter)-1]} {
		changed := slices.Clone(shards[0].Records)
		changed[i] = proto.Clone(changed[i]).(*recountv1.Record)
		s.Change(changed[i])
		if root(t, s.folded(t, []Shard{{shards[0].TP, changed, shards[0].Next}}, end)) == want {
			t.Errorf("record %d changed, root did not", i)
		}
		without := slices.Delete(slices.Clone(shards[0].Records), i, i+1)
		if root(t, s.folded(t, []Shard{{shards[0].TP, without, shards[0].Next}}, end)) == want {
			t.Errorf("record %d left out, root did not change", i)
		}
	}
}

func (s *suite) poison(t *testing.T) {
	shards := s.Generate(5, 1, 40)
	sh := shards[0]
	bad := -1
	for i, r := range sh.Records {
		if i >= 10 && s.Change(proto.Clone(r).(*recountv1.Record)) {
			bad = i
			break
		}
	}
	if bad < 0 {
		t.Fatal("no record of the log matters to the projection")
	}
	good := sh.Records[bad]
	sh.Records = slices.Clone(sh.Records)
	sh.Records[bad] = proto.Clone(good).(*recountv1.Record)
	sh.Records[bad].EventId = []byte{1, 2, 3}

	p := s.fresh(t)
	start := sh.Records[5].Origin.Offset
	apply(t, p, sh.Batch(0, start))
	err := p.Apply(t.Context(), sh.Batch(start, sh.Next))
	if !errors.Is(err, schemas.ErrPoison) {
		t.Fatalf("apply an event id of 3 bytes: got %v, want an error of class poison", err)
	}
	var re *projections.RecordError
	if !errors.As(err, &re) || re.Position != schemas.PositionOf(good.Origin) {
		t.Fatalf("apply an event id of 3 bytes: got %v, want a RecordError that names %s", err, schemas.PositionOf(good.Origin))
	}
	reached := p.Next(sh.TP)
	if reached < start || reached > good.Origin.Offset {
		t.Errorf("next after a record that can never be applied: got %d, want from %d to %d", reached, start, good.Origin.Offset)
	}
	equal(t, p, s.folded(t, shards, schemas.Watermark{sh.TP: reached}))

	sh.Records = slices.Delete(sh.Records, bad, bad+1)
	apply(t, p, sh.Batch(reached, sh.Next))
	equal(t, p, s.folded(t, []Shard{sh}, ends([]Shard{sh})))
}

func (s *suite) cancelled(t *testing.T) {
	shards := s.Generate(6, 1, 60)
	sh := shards[0]
	p := s.fresh(t)
	apply(t, p, sh.Batch(0, sh.Next/2))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := p.Apply(ctx, sh.Batch(sh.Next/2, sh.Next))
	reached := p.Next(sh.TP)
	if err != nil && reached != sh.Next/2 {
		t.Errorf("apply failed (%v) and moved to %d", err, reached)
	}
	equal(t, p, s.folded(t, shards, schemas.Watermark{sh.TP: reached}))
	apply(t, p, sh.Batch(sh.Next/2, sh.Next))
	equal(t, p, s.folded(t, shards, ends(shards)))
}
