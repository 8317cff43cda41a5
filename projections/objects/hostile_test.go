package objects

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/recountdb/recount/internal/racing"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestRefused checks that the error for a record that cannot be applied names the record and the
// problem, and that nothing of it is stored.
func TestRefused(t *testing.T) {
	for want, change := range map[string]func(b *recountv1.ObjectBatch){
		"0 objects, want 1 to 65535":                               func(b *recountv1.ObjectBatch) { b.Objects = nil },
		"object 0: id of 3 bytes, want 16":                         func(b *recountv1.ObjectBatch) { b.Objects[0].Id = []byte("abc") },
		"object 0: type 256":                                       func(b *recountv1.ObjectBatch) { b.Objects[0].Type = 256 },
		"object 0: kind of memory -1":                              func(b *recountv1.ObjectBatch) { b.Objects[0].Memory = -1 },
		"object 0: visibility 256":                                 func(b *recountv1.ObjectBatch) { b.Objects[0].Visibility = 256 },
		"objects 0 and 1 have one id":                              func(b *recountv1.ObjectBatch) { b.Objects = append(b.Objects, b.Objects[0]) },
		"edge 2: leads to an id of 4 bytes, want 16":               func(b *recountv1.ObjectBatch) { b.Edges[2].EventId = []byte("abcd") },
		"edge 2: leads to 2 things, want 1":                        func(b *recountv1.ObjectBatch) { b.Edges[2].Entity = "tool:x" },
		"edge 0: leads to 0 things, want 1":                        func(b *recountv1.ObjectBatch) { b.Edges[0].Entity = "" },
		"edge 1: leads from 6162, which is no object of its event": func(b *recountv1.ObjectBatch) { b.Edges[1].From = []byte("ab") },
		"contains invalid UTF-8":                                   func(b *recountv1.ObjectBatch) { b.Objects[0].Text = "a\xffb" },
	} {
		x := open(t)
		must(t, x.Apply(t.Context(), messages(0, 3)))
		bad := messages(3, 3)
		change(bad.Records[1].GetObjects())
		err := x.Apply(t.Context(), bad)
		if !errors.Is(err, schemas.ErrPoison) || !strings.Contains(err.Error(), "recount.agents/0/4") || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got %v, want a poison error at recount.agents/0/4: %s", err, want)
		}
		bad.Records = append(bad.Records[:1:1], bad.Records[2])
		must(t, x.Apply(t.Context(), bad))
		v := view(t, x)
		if all, err := v.Latest(t.Context(), Filter{Session: "long"}, 10); err != nil || len(all) != 5 {
			t.Errorf("%s: then got %v, %v, want the five others", want, all, err)
		}
	}
}

// TestDamage checks that a changed, truncated or missing value is reported by whatever reads it,
// together with the fix, and that nothing panics.
func TestDamage(t *testing.T) {
	first := schemas.ObjectRef{Position: schemas.Position{Topic: defaultTopic}}
	opened := func(x *Objects) error {
		v, err := x.View()
		if err == nil {
			err = v.Close()
		}
		return err
	}
	read := func(x *Objects) error {
		v, err := x.View()
		if err != nil {
			return err
		}
		defer v.Close()
		s, err := v.Get(first)
		if err == nil {
			_, err = v.Text(s)
		}
		return err
	}
	for name, c := range map[string]struct {
		kind   byte
		change func([]byte) []byte
		ask    func(*Objects) error
	}{
		"an event is cut":         {kindEvent, func(b []byte) []byte { return b[:len(b)/2] }, read},
		"an event has more":       {kindEvent, func(b []byte) []byte { return append(b, 0) }, read},
		"an event is empty":       {kindEvent, func([]byte) []byte { return []byte{} }, read},
		"an event is gone":        {kindEvent, func([]byte) []byte { return nil }, read},
		"a piece is cut":          {kindPiece, func(b []byte) []byte { return b[:1] }, read},
		"a piece is gone":         {kindPiece, func([]byte) []byte { return nil }, read},
		"a block is cut":          {kindBlock, func(b []byte) []byte { return b[:len(b)-1] }, opened},
		"a block is gone":         {kindBlock, func([]byte) []byte { return nil }, opened},
		"a block names nobody":    {kindBlock, func(b []byte) []byte { b[len(b)-1] = 0x7f; return b }, opened},
		"links are cut":           {kindLinks, func(b []byte) []byte { return b[:len(b)-1] }, opened},
		"links are gone":          {kindLinks, func([]byte) []byte { return nil }, opened},
		"links are of one less":   {kindLinks, func(b []byte) []byte { return b[:len(b)/perLinkBlock] }, opened},
		"links are of more":       {kindLinks, func(b []byte) []byte { return slices.Concat(b, b[:len(b)/perLinkBlock]) }, opened},
		"a link is none":          {kindLinks, func(b []byte) []byte { b[len(b)-16-4-1] = 0; return b }, opened},
		"a link has no name":      {kindLinks, func(b []byte) []byte { b[len(b)-16-4-1] = 0x7f; return b }, opened},
		"an audience is cut":      {kindAudience, func(b []byte) []byte { return b[:1] }, opened},
		"an audience is gone":     {kindAudience, func([]byte) []byte { return nil }, opened},
		"a name is gone":          {kindName, func([]byte) []byte { return nil }, opened},
		"the counts are cut":      {kindStatistic, func(b []byte) []byte { return b[:1] }, opened},
		"the counts are not so":   {kindStatistic, func(b []byte) []byte { b[3]++; return b }, opened},
		"the counts are not here": {kindStatistic, func([]byte) []byte { return nil }, opened},
	} {
		t.Run(name, func(t *testing.T) {
			fs := vfs.NewMem()
			x, err := Open("objects", store.Options{FS: fs})
			must(t, err)
			b := messages(0, 200)
			b.Records[0].GetObjects().Objects[0].Text = strings.Repeat("long", pieceBytes)
			must(t, x.Apply(t.Context(), b))
			must(t, x.Close())
			tamper(t, fs, c.kind, c.change)
			x, err = Open("objects", store.Options{FS: fs})
			must(t, err)
			defer x.Close()
			err = c.ask(x)
			if !errors.Is(err, schemas.ErrFatal) || !strings.Contains(err.Error(), "recount rebuild --projection objects") {
				t.Errorf("got %v, want an error of class fatal that says how to mend it", err)
			}
		})
	}
}

// tamper changes the first value of a kind; if change returns nil it is deleted.
func tamper(t *testing.T, fs vfs.FS, kind byte, change func([]byte) []byte) {
	t.Helper()
	c := *pebble.DefaultComparer
	c.Name, c.Split = "recount."+Name, prefix
	db, err := pebble.Open("objects", &pebble.Options{FS: fs, Comparer: &c, FormatMajorVersion: pebble.FormatTableFormatV6, Logger: silent{}})
	must(t, err)
	defer func() { must(t, db.Close()) }()
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte{kind}, UpperBound: []byte{kind + 1}})
	must(t, err)
	if !it.First() {
		t.Fatalf("nothing of kind %#x", kind)
	}
	key := append([]byte(nil), it.Key()...)
	value := change(append([]byte(nil), it.Value()...))
	must(t, it.Close())
	if value == nil {
		must(t, db.Delete(key, pebble.Sync))
	} else {
		must(t, db.Set(key, value, pebble.Sync))
	}
}

func FuzzDecode(f *testing.F) {
	r := message("s", 1)
	row, err := appendEvent(nil, r, []int{0, 0, 0, 0})
	must(f, err)
	f.Add(row)
	f.Add(appendAudience(nil, audience{Audience: schemas.Audience{Tenant: "t", Visibility: 3, Workspace: "w"}, first: 7}))
	f.Add(stats{1, 2, 3, 4, 5}.encode(nil))
	f.Add(appendWhen(nil, -5, appendShard(nil, schemas.TopicPartition{Topic: "other.agents", Partition: 3}), 9, 2))
	full := newTable(schemas.TopicPartition{Topic: defaultTopic})
	full.addName("")
	full.addAudience(schemas.Audience{}, schemas.AudienceID{}, 0)
	full.add(row0)
	f.Add(full.encodeBlock(nil, 0, 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		if e, err := decodeEvent(b); err == nil {
			for i := range e.objects {
				_, _, _ = e.object(uint32(i))
				_, _ = e.edgesFrom(uint32(i))
			}
		}
		_, _ = decodeAudience(b)
		_, _ = decodeStats(b)
		if w, err := cutWhen(b); err == nil {
			again, err := cutWhen(appendWhen(nil, w.time, appendShard(nil, w.ref.TP()), w.ref.Offset, w.ref.Index))
			if err != nil || again != w {
				t.Errorf("%x: got %+v, %v, want %+v", b, again, err, w)
			}
		}
		x := newTable(schemas.TopicPartition{Topic: defaultTopic})
		x.addName("")
		x.addAudience(schemas.Audience{}, schemas.AudienceID{}, 0)
		if x.decodeBlock(b) == nil {
			y := newTable(x.tp)
			y.addName("")
			y.addAudience(schemas.Audience{}, schemas.AudienceID{}, 0)
			if err := y.decodeBlock(x.encodeBlock(nil, 0, x.n.Load())); err != nil || y.n.Load() != x.n.Load() {
				t.Errorf("%x: %d rows came back as %d, %v", b, x.n.Load(), y.n.Load(), err)
			}
		}
	})
}

var row0 = row{offset: 5, time: -3, importance: 0.5, index: 1, typ: 2, memory: 0x81}

// TestHeadsOfLists checks that the caches of lists never show in a view: neither later rows in an
// older view, nor an earlier list in a newer view, even if it was read between tell and the commit
// of a batch.
func TestHeadsOfLists(t *testing.T) {
	x := open(t)
	must(t, x.Apply(t.Context(), messages(0, 2)))
	cause := eventID(7, 1) // the cause of the next message
	led := func(v *View) int {
		t.Helper()
		edges, err := v.To(cause, Bound{})
		must(t, err)
		made, err := v.ByEvent(cause, Bound{})
		must(t, err)
		beside, err := v.SameAs(made[0], Bound{})
		must(t, err)
		if len(beside) != len(edges)+1 {
			t.Errorf("%d edges lead to the event, and %d say the same by what is kept beside its object, want one more", len(edges), len(beside))
		}
		return len(edges)
	}
	old := view(t, x)
	if n := led(old); n != 0 {
		t.Fatalf("before there is one, %d edges lead to it", n)
	}
	next := messages(2, 1)
	next.Records[0].GetObjects().Objects[0].ContentHash = message("long", 1).GetObjects().Objects[0].ContentHash
	must(t, x.Apply(t.Context(), next))
	for range 2 {
		if now, before := led(view(t, x)), led(old); now != 1 || before != 0 {
			t.Errorf("%d edges lead there in the newer view, %d in the older; want 1, 0", now, before)
		}
	}

	list := listTo(kindTo, cause).key
	batch := x.heads.tell([]listKey{list})
	between := view(t, x)
	led(between)
	if _, _, ok := x.heads.get(list); ok {
		t.Error("the head of a list is kept that a batch under way adds to")
	}
	x.heads.settle(batch)
	led(between)
	if _, _, ok := x.heads.get(list); ok {
		t.Error("the head is kept that a view read before the batch was there")
	}
	led(view(t, x))
	if _, _, ok := x.heads.get(list); !ok {
		t.Error("the head that a view of now read is not kept")
	}
}

// TestLongLists checks that a list longer than its head is complete and in order within any bound.
func TestLongLists(t *testing.T) {
	x := open(t)
	const n = 3*maxHead + 5
	must(t, x.Apply(t.Context(), messages(0, n)))
	who := []schemas.AudienceID{audienceOf(message("long", 0).GetObjects().Objects[0]).ID()}
	v := view(t, x)
	for range 2 {
		for name, tc := range map[string]struct {
			b    Bound
			want []int64 // the first and the last offset, from the newest on
			n    int
		}{
			"all":     {Bound{}, []int64{n - 1, 0}, n},
			"limited": {Bound{Limit: maxHead + 7}, []int64{n - 1, n - maxHead - 7}, maxHead + 7},
			"as of":   {Bound{At: At{Time: message("long", 40).TimeUnixNano}}, []int64{40, 0}, 41},
			"below":   {Bound{At: At{Below: schemas.Watermark{{Topic: defaultTopic}: 9}}}, []int64{8, 0}, 9},
		} {
			edges, err := v.Entity(who, "tool:bash", tc.b)
			must(t, err)
			if len(edges) != tc.n || edges[0].Ref.Offset != tc.want[0] || edges[len(edges)-1].Ref.Offset != tc.want[1] {
				t.Errorf("%s: %d edges, want %d from %v", name, len(edges), tc.n, tc.want)
			}
			for i := 1; i < len(edges); i++ {
				if edges[i].Ref.Offset != edges[i-1].Ref.Offset-1 {
					t.Fatalf("%s: %s after %s", name, edges[i].Ref, edges[i-1].Ref)
				}
			}
		}
	}
	for _, nobody := range [][]schemas.AudienceID{nil, {}} {
		if edges, err := v.Entity(nobody, "session:long", Bound{}); err != nil || len(edges) > 0 {
			t.Errorf("who belongs to no audience sees %d members of a session, %v", len(edges), err)
		}
	}
}

// TestViewsWhileApplying checks that a view contains all of each event it contains, and nothing of
// others.
func TestViewsWhileApplying(t *testing.T) {
	last := int64(3000)
	if racing.On {
		last = 1000
	}
	x := open(t)
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		wg.Go(func() {
			for {
				v, err := x.View()
				if err != nil {
					t.Error(err)
					return
				}
				next := v.Watermark()[schemas.TopicPartition{Topic: defaultTopic}]
				refs, err := v.Latest(t.Context(), Filter{Session: "long"}, 3)
				if err != nil || len(refs) != int(min(next, 3)) || next > 0 && refs[0].Offset != next-1 {
					t.Errorf("at %d: got %v, %v", next, refs, err)
				}
				for _, ref := range refs {
					made, err := v.ByEvent(eventID(7, ref.Offset), Bound{})
					if err != nil || len(made) != 1 {
						t.Errorf("event at %s: got %v, %v", ref, made, err)
					}
					nodes, err := v.MadeBy(eventID(7, ref.Offset), Bound{})
					if err != nil || len(nodes) != 1 || nodes[0].Ref() != ref || len(nodes[0].Links(nil)) == 0 {
						t.Errorf("event at %s: got %v in memory, %v", ref, nodes, err)
					}
					led, err := v.LinksTo(eventID(7, ref.Offset), Bound{})
					if err != nil || len(led) > 0 != (ref.Offset+1 < next) {
						t.Errorf("event at %s of %d: %d edges lead there, %v", ref, next, len(led), err)
					}
				}
				if _, ok := v.Attributes(schemas.ObjectRef{Position: schemas.Position{Topic: defaultTopic, Offset: next}}); ok {
					t.Errorf("a view up to %d knows of what is there", next)
				}
				if err := v.Close(); err != nil {
					t.Error(err)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for from := int64(0); from < last; from += 10 {
		must(t, x.Apply(t.Context(), messages(from, 10)))
	}
	close(done)
	wg.Wait()
}

// silent discards Pebble's log messages.
type silent struct{}

func (silent) Infof(string, ...any)  {}
func (silent) Errorf(string, ...any) {}
func (silent) Fatalf(format string, args ...any) {
	panic(fmt.Sprintf(format, args...))
}
