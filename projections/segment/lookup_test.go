package segment

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/projections/sealed/sealedtest"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// populated returns a projection with sealed and hot rows in three partitions, each reopened once,
// and the records that must be in it.
func populated(t *testing.T) (*Projection, []*recountv1.Record) {
	t.Helper()
	opts := Options{SealRows: 90}
	p := open(t, t.TempDir(), opts)
	var want []*recountv1.Record
	for _, sh := range projtest.Generate(21, 3, 400) {
		vary(&sh)
		feed(t, p, sh)
		for _, r := range sh.Records {
			if r.GetIntent() != nil {
				want = append(want, r)
			}
		}
	}
	closeOf(t, p)
	p = open(t, p.dir, opts)
	t.Cleanup(func() { closeOf(t, p) })
	for _, s := range p.Stats() {
		if s.Segments < 3 || s.HotRows == 0 {
			t.Fatalf("%+v: want several segments and hot rows", s)
		}
	}
	return p, want
}

// TestLookup finds every row by its id and by its position, as it was recorded.
func TestLookup(t *testing.T) {
	p, want := populated(t)
	for _, r := range want {
		pos, in := schemas.PositionOf(r.Origin), r.GetIntent()
		byID, ok, err := p.Lookup(t.Context(), schemas.EventID(r.EventId))
		if err != nil || !ok {
			t.Fatalf("lookup %x: %t, %v", r.EventId, ok, err)
		}
		byPos, ok, err := p.At(t.Context(), pos)
		if err != nil || !ok || byPos.ID != byID.ID {
			t.Fatalf("at %s: %s, %t, %v", pos, byPos.ID, ok, err)
		}
		if byID.Position != pos || byID.Command != in.Command || byID.Cwd != in.Cwd || byID.Time.UnixNano() != in.TimeUnixNano ||
			byID.EventTime.UnixNano() != r.TimeUnixNano || (byID.ExitCode == nil) != (in.ExitCode == nil) ||
			len(byID.Tokens) != len(in.Tokens) || !slices.Equal(byID.Programs, in.Programs) || !slices.Equal(byID.Parent[:len(in.ParentId)], in.ParentId) {
			t.Fatalf("at %s: got %+v, want %v", pos, byID, in)
		}
		err = p.ViewAt(t.Context(), []schemas.Position{pos}, func(_ int, v *View) error {
			e, err := v.Embedding()
			if !slices.Equal(e, in.Embedding) {
				t.Fatalf("at %s: another embedding", pos)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}

	none := []schemas.Position{
		{Topic: "recount.commands", Partition: 9},
		{Topic: "recount.commands", Partition: 0, Offset: 1 << 40},
		{Topic: "recount.commands", Partition: 0, Offset: -1},
	}
	pos := schemas.PositionOf(want[5].Origin)
	var seen []int
	err := p.ViewAt(t.Context(), append(none, pos), func(i int, _ *View) error { seen = append(seen, i); return nil })
	if err != nil || !slices.Equal(seen, []int{3}) {
		t.Errorf("positions without an intent: called for %v, %v; want only 3", seen, err)
	}
	if _, ok, err := p.Lookup(t.Context(), schemas.EventID{1}); ok || err != nil {
		t.Errorf("an id that is not there: %t, %v", ok, err)
	}
}

// TestFind resolves abbreviated ids as a search in a list of all ids would.
func TestFind(t *testing.T) {
	p, want := populated(t)
	var ids []string
	for _, r := range want {
		ids = append(ids, schemas.EventID(r.EventId).String())
	}
	slices.Sort(ids)
	for _, id := range ids {
		for _, prefix := range []string{id[:4], id[:7], strings.ToUpper(id[:13]), id} {
			var matching []string
			for _, other := range ids {
				if strings.HasPrefix(other, strings.ToLower(prefix)) {
					matching = append(matching, other)
				}
			}
			got, err := p.Find(t.Context(), prefix, 100)
			if err != nil || len(got) != len(matching) {
				t.Fatalf("find %s: %v, %v; want %v", prefix, got, err, matching)
			}
			for i, m := range got {
				if m.ID.String() != matching[i] {
					t.Fatalf("find %s: %v, want %v", prefix, got, matching)
				}
			}
		}
	}
	for prefix, reason := range map[string]string{
		"": "4 to 32", "abc": "4 to 32", "xyzw": "not hexadecimal", strings.Repeat("0", 33): "4 to 32",
	} {
		if _, err := p.Find(t.Context(), prefix, 1); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("find %q: got %v, want an error with %q", prefix, err, reason)
		}
	}
}

// TestAmbiguous looks up ids that share their beginning, in segments and hot rows, and an event
// that is in two partitions.
func TestAmbiguous(t *testing.T) {
	p := open(t, t.TempDir(), Options{SealRows: 2})
	defer closeOf(t, p)
	for partition := range int32(2) {
		b := schemas.Batch{Topic: "t", Partition: partition, Next: 5}
		for i := range byte(5) {
			id := schemas.EventID{0xab, 0xcd, i}
			b.Records = append(b.Records, &recountv1.Record{
				Origin:  &recountv1.Position{Topic: "t", Partition: partition, Offset: int64(i)},
				EventId: id[:], Body: &recountv1.Record_Intent{Intent: &recountv1.Intent{Command: "ls"}},
			})
		}
		if err := p.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	got, err := p.Find(t.Context(), "ab-cd", 3)
	if err != nil || len(got) != 3 || got[0].ID != got[1].ID || got[0].Position.Partition != 0 || got[1].Position.Partition != 1 || got[2].ID[2] != 1 {
		t.Errorf("got %v, %v; want the first id of both partitions and the second of the first", got, err)
	}
	row, ok, err := p.Lookup(t.Context(), schemas.EventID{0xab, 0xcd, 4})
	if err != nil || !ok || row.Position.Partition != 0 {
		t.Errorf("an event of two partitions: got %s, %t, %v; want the first", row.Position, ok, err)
	}
}

// TestScan compares filters and orders with the records themselves.
func TestScan(t *testing.T) {
	p, want := populated(t)
	below := schemas.Watermark{{Topic: "recount.commands", Partition: 1}: 300, {Topic: "recount.commands", Partition: 2}: 20}
	cases := map[string]struct {
		f    Filter
		want func(r *recountv1.Record, in *recountv1.Intent) bool
	}{
		"all": {Filter{}, func(*recountv1.Record, *recountv1.Intent) bool { return true }},
		"times, from the first nanosecond up to, not including, the last": {
			Filter{From: time.Unix(0, want[10].GetIntent().TimeUnixNano), To: time.Unix(0, want[300].GetIntent().TimeUnixNano)},
			func(_ *recountv1.Record, in *recountv1.Intent) bool {
				return in.TimeUnixNano >= want[10].GetIntent().TimeUnixNano && in.TimeUnixNano < want[300].GetIntent().TimeUnixNano
			},
		},
		"before 1970": {Filter{To: time.Unix(0, 0)}, func(_ *recountv1.Record, in *recountv1.Intent) bool { return in.TimeUnixNano < 0 }},
		"below": {Filter{Below: below}, func(r *recountv1.Record, _ *recountv1.Intent) bool {
			return r.Origin.Offset < below[schemas.PositionOf(r.Origin).TP()]
		}},
		"session": {Filter{Session: "s3", Author: "ada"}, func(_ *recountv1.Record, in *recountv1.Intent) bool { return in.Session == "s3" }},
		"template": {Filter{Template: want[3].GetIntent().Template}, func(_ *recountv1.Record, in *recountv1.Intent) bool {
			return in.Template == want[3].GetIntent().Template
		}},
		"cwd and below": {Filter{Cwd: "/src/app"}, func(_ *recountv1.Record, in *recountv1.Intent) bool {
			return in.Cwd == "/src/app" || strings.HasPrefix(in.Cwd, "/src/app/")
		}},
		"cwd root":  {Filter{Cwd: "/"}, func(_ *recountv1.Record, in *recountv1.Intent) bool { return in.Cwd != "" }},
		"program":   {Filter{Program: "git"}, func(_ *recountv1.Record, in *recountv1.Intent) bool { return slices.Contains(in.Programs, "git") }},
		"category":  {Filter{Categories: []recountv1.Category{2, 5}}, func(_ *recountv1.Record, in *recountv1.Intent) bool { return in.Category == 2 || in.Category == 5 }},
		"failed":    {Filter{Exit: failed}, func(_ *recountv1.Record, in *recountv1.Intent) bool { return in.GetExitCode() != 0 }},
		"succeeded": {Filter{Exit: succeeded}, func(_ *recountv1.Record, in *recountv1.Intent) bool { return in.ExitCode != nil && *in.ExitCode == 0 }},
		"unknown":   {Filter{Exit: unknown}, func(_ *recountv1.Record, in *recountv1.Intent) bool { return in.ExitCode == nil }},
		"exit": {Filter{Exit: func(code int32, known bool) bool { return !known || code == 2 }}, func(_ *recountv1.Record, in *recountv1.Intent) bool {
			return in.ExitCode == nil || *in.ExitCode == 2
		}},
		"resource, by its end": {Filter{Resource: "nginx/*.gz"}, func(_ *recountv1.Record, in *recountv1.Intent) bool {
			return slices.ContainsFunc(in.Resources, func(r *recountv1.Resource) bool { return r.Name == "/var/log/nginx/*.gz" })
		}},
		"resource of another kind": {Filter{Resource: "nginx/*.gz", ResourceKind: recountv1.ResourceKind_RESOURCE_KIND_URL}, func(*recountv1.Record, *recountv1.Intent) bool { return false }},
		"no such":                  {Filter{Program: "git", Host: "nowhere"}, func(*recountv1.Record, *recountv1.Intent) bool { return false }},
	}
	for name, c := range cases {
		var expected []*recountv1.Record
		for _, r := range want {
			if c.want(r, r.GetIntent()) {
				expected = append(expected, r)
			}
		}
		if (len(expected) == 0) != (name == "no such" || name == "resource of another kind") || len(expected) == len(want) && name != "all" {
			t.Fatalf("%s: %d of %d rows expected: the case tests nothing", name, len(expected), len(want))
		}
		slices.SortFunc(expected, func(a, b *recountv1.Record) int {
			if x, y := a.GetIntent().TimeUnixNano, b.GetIntent().TimeUnixNano; x != y {
				if x < y {
					return -1
				}
				return 1
			}
			if c := schemas.PositionOf(a.Origin).TP().Compare(schemas.PositionOf(b.Origin).TP()); c != 0 {
				return c
			}
			return int(a.Origin.Offset - b.Origin.Offset)
		})
		selected, err := p.Select(t.Context(), c.f, func(v *View) (bool, error) { return c.f.Match(v), nil })
		if err != nil {
			t.Fatalf("%s: select: %v", name, err)
		}
		listed := 0
		for tp, list := range selected.Offsets() {
			listed += len(list)
			if !slices.IsSorted(list) {
				t.Errorf("%s: %s: the offsets selected are not in order", name, tp)
			}
		}
		if selected.Len() != len(expected) || listed != len(expected) {
			t.Errorf("%s: select gives %d rows and lists %d, want %d", name, selected.Len(), listed, len(expected))
		}
		for _, r := range want {
			pos := schemas.PositionOf(r.Origin)
			if got := selected.Has(pos.TP(), pos.Offset); got != c.want(r, r.GetIntent()) {
				t.Errorf("%s: select has %s: %v", name, pos, got)
			}
		}
		if pos := schemas.PositionOf(want[0].Origin); selected.Has(pos.TP(), -1) || selected.Has(pos.TP(), 1<<40) || selected.Has(schemas.TopicPartition{}, 0) {
			t.Errorf("%s: select has what is nowhere", name)
		}
		for _, order := range []Order{OldestFirst, NewestFirst} {
			var got []schemas.Position
			if err := p.Scan(t.Context(), c.f, order, func(v *View) bool {
				if !c.f.Match(v) {
					t.Errorf("%s: Match disagrees", name)
				}
				got = append(got, v.Position())
				return true
			}); err != nil {
				t.Fatal(err)
			}
			positions := make([]schemas.Position, len(expected))
			for i, r := range expected {
				positions[i] = schemas.PositionOf(r.Origin)
			}
			if order == NewestFirst {
				slices.Reverse(positions)
			}
			if !slices.Equal(got, positions) {
				t.Errorf("%s, order %d: got %d rows, want %d, or in another order", name, order, len(got), len(positions))
			}
		}
	}
	n := 0
	if err := p.Scan(t.Context(), Filter{}, NewestFirst, func(*View) bool { n++; return n < 7 }); err != nil || n != 7 {
		t.Errorf("a scan that is ended: %d rows, %v; want 7", n, err)
	}
}

// TestKnownAfterSealing delivers every event again to a projection that was closed and opened, so
// that only the files have their ids.
func TestKnownAfterSealing(t *testing.T) {
	sh := family(50)
	opts := Options{SealRows: 10}
	p := open(t, t.TempDir(), opts)
	feed(t, p, sh)
	closeOf(t, p)
	p = open(t, p.dir, opts)
	defer closeOf(t, p)
	b := schemas.Batch{Topic: sh.TP.Topic, Partition: sh.TP.Partition, Next: 2 * sh.Next}
	for i, r := range sh.Records {
		b.Records = append(b.Records, &recountv1.Record{
			Origin:  schemas.Position{Topic: sh.TP.Topic, Partition: sh.TP.Partition, Offset: sh.Next + int64(i)}.Proto(),
			EventId: r.EventId, Body: r.Body,
		})
	}
	if err := p.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if s := p.Stats()[0]; s.Rows() != 50 || s.Segments != 5 || s.Next != 100 {
		t.Errorf("got %+v, want 50 rows in 5 segments and next at 100", s)
	}
}

// TestTimesWithoutRows checks that a file of events that made no row, such as outcomes, has no part in
// the times of a shard.
func TestTimesWithoutRows(t *testing.T) {
	sh := family(1)
	p := open(t, t.TempDir(), Options{})
	if err := p.Apply(t.Context(), schemas.Batch{Topic: sh.TP.Topic, Partition: sh.TP.Partition, Next: 1}); err != nil {
		t.Fatal(err)
	}
	closeOf(t, p)
	p = open(t, p.dir, Options{})
	defer closeOf(t, p)
	b := schemas.Batch{Topic: sh.TP.Topic, Partition: sh.TP.Partition, Next: 2}
	r := sh.Records[0]
	b.Records = append(b.Records, &recountv1.Record{
		Origin: schemas.Position{Topic: sh.TP.Topic, Partition: sh.TP.Partition, Offset: 1}.Proto(), EventId: r.EventId, Body: r.Body,
	})
	if err := p.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if s := p.Stats()[0]; s.Rows() != 1 || s.MinTime != s.MaxTime {
		t.Errorf("one row, and the times of two: %+v", s)
	}
}

// TestCloseWhileReading closes while scans read mapped memory. Each scan completes normally; a
// later call returns ErrClosed.
func TestCloseWhileReading(t *testing.T) {
	for range 8 {
		p := open(t, t.TempDir(), Options{SealRows: 30})
		feed(t, p, family(200))
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				n := 0
				err := p.Scan(t.Context(), Filter{}, NewestFirst, func(v *View) bool {
					n += len(v.Row().Command)
					return true
				})
				if err != nil && !errors.Is(err, ErrClosed) || err == nil && n == 0 {
					t.Errorf("scan: %d bytes, %v", n, err)
				}
			})
		}
		closeOf(t, p)
		wg.Wait()
		if _, _, err := p.Lookup(t.Context(), schemas.EventID{1}); !errors.Is(err, ErrClosed) {
			t.Errorf("lookup after close: %v", err)
		}
		if err := p.Apply(t.Context(), schemas.Batch{Topic: "t", Next: 1}); !errors.Is(err, ErrClosed) {
			t.Errorf("apply after close: %v", err)
		}
		closeOf(t, p) // a second Close
	}
}

// TestRefused checks that a record that can never be applied is named as poison, and that a batch
// that no log can produce is reported as a bug of the caller.
func TestRefused(t *testing.T) {
	for reason, change := range map[string]func(*recountv1.Record){
		"16 bytes, not all zero": func(r *recountv1.Record) { r.EventId = make([]byte, 16) },
		"parent id: 3 bytes":     func(r *recountv1.Record) { r.GetIntent().ParentId = []byte("abc") },
		"embedding: 7 values":    func(r *recountv1.Record) { r.GetIntent().Embedding = make([]float32, 7) },
		"not UTF-8":              func(r *recountv1.Record) { r.GetIntent().Tokens[0].Text = "\xff" },
	} {
		p := open(t, t.TempDir(), Options{})
		sh := family(5)
		change(sh.Records[3])
		err := p.Apply(t.Context(), sh.Batch(0, 5))
		if !errors.Is(err, schemas.ErrPoison) || !strings.Contains(err.Error(), reason) || !strings.Contains(err.Error(), "recount.commands/1/3") {
			t.Errorf("got %v, want poison at recount.commands/1/3 with %q", err, reason)
		}
		if got := p.Watermark(); len(got) > 0 {
			t.Errorf("%s: watermark %s, want none", reason, got)
		}
		closeOf(t, p)
	}
	for name, b := range map[string]schemas.Batch{
		"offset at next":     {Topic: "recount.commands", Partition: 1, Next: 3, Records: family(5).Records},
		"another partition":  {Topic: "recount.commands", Partition: 2, Next: 9, Records: family(5).Records},
		"topic of two parts": {Topic: "../x", Next: 3},
	} {
		p := open(t, t.TempDir(), Options{})
		if err := p.Apply(t.Context(), b); !errors.Is(err, schemas.ErrFatal) {
			t.Errorf("%s: got %v, want an error of class fatal", name, err)
		}
		closeOf(t, p)
	}
}

// TestCheckpointIsOnlyAShortcut checks that without the checkpoint, or with another shard's, the
// rows are read from the log again and give the same state.
func TestCheckpointIsOnlyAShortcut(t *testing.T) {
	sh := family(25)
	opts := Options{SealRows: 10}
	want := open(t, t.TempDir(), opts)
	feed(t, want, sh)
	defer closeOf(t, want)
	if err := want.Flush(); err != nil {
		t.Fatal(err)
	}
	dir := sealed.ShardDir(sh.TP)
	tail, err := os.ReadFile(filepath.Join(want.dir, dir, tailName))
	if err != nil {
		t.Fatal(err)
	}
	other := open(t, t.TempDir(), opts)
	feed(t, other, projtest.Generate(1, 1, 25)[0])
	closeOf(t, other)
	foreign, err := os.ReadFile(filepath.Join(other.dir, "recount.commands-0", tailName))
	if err != nil {
		t.Fatal(err)
	}
	// Earlier programs wrote what a sealed segment would be.
	rest := open(t, t.TempDir(), Options{SealRows: 5})
	feed(t, rest, projtest.Shard{TP: sh.TP, Records: sh.Records[20:], Next: sh.Next})
	closeOf(t, rest)
	older, err := os.ReadFile(filepath.Join(rest.dir, dir, segmentName(0)))
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint16(older[46:], 0) // flags
	binary.LittleEndian.PutUint64(older[16:], 2)
	binary.LittleEndian.PutUint64(older[48:], 20)
	reseal(older)
	for name, c := range map[string]struct {
		tail []byte
		next int64
	}{"intact": {tail, 25}, "cut": {tail[:len(tail)-1], 20}, "empty": {nil, 20}, "foreign": {foreign, 20}, "older": {older, 20}} {
		p := open(t, t.TempDir(), opts)
		feed(t, p, sh)
		closeOf(t, p)
		if err := os.WriteFile(filepath.Join(p.dir, dir, tailName), c.tail, 0o644); err != nil {
			t.Fatal(err)
		}
		p = open(t, p.dir, opts)
		if got := p.Next(sh.TP); got != c.next {
			t.Errorf("%s: next is %d, want %d", name, got, c.next)
		}
		feed(t, p, sh)
		sealedtest.Same(t, name, p, want)
		closeOf(t, p)
	}
}

// TestCheckpointsPause checks that a rebuild saves nothing that a crash would discard.
func TestCheckpointsPause(t *testing.T) {
	sh := family(25)
	p := open(t, t.TempDir(), Options{CheckpointRows: 5})
	defer closeOf(t, p)
	saved := func() bool {
		_, err := os.Stat(filepath.Join(p.dir, sealed.ShardDir(sh.TP), tailName))
		return err == nil
	}
	for _, step := range []struct {
		on   bool
		next int64
		want bool
	}{{false, 10, false}, {true, 20, true}} {
		p.Checkpoints(step.on)
		if err := p.Apply(t.Context(), sh.Batch(p.Next(sh.TP), step.next)); err != nil {
			t.Fatal(err)
		}
		if got := saved(); got != step.want {
			t.Errorf("checkpoints %v: saved %v", step.on, got)
		}
	}
}

// failed, succeeded and unknown select rows by how their commands ended.
func failed(code int32, known bool) bool    { return known && code != 0 }
func succeeded(code int32, known bool) bool { return known && code == 0 }
func unknown(_ int32, known bool) bool      { return !known }
