package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func all(*recountv1.Record) bool { return true }

// apply stores each record's offset under its own key.
func apply(t *testing.T, d *store.DB, b schemas.Batch) error {
	t.Helper()
	tx, err := d.Begin(t.Context(), b, all)
	if err != nil || tx == nil {
		return err
	}
	for _, r := range tx.New {
		key := append([]byte{store.FirstKind}, tx.Shard()...)
		check(t, tx.Set(fmt.Appendf(key, "%08d", r.Origin.Offset), []byte(r.GetIntent().GetCommand())))
	}
	return tx.Commit()
}

func batches(t *testing.T) []schemas.Batch {
	t.Helper()
	sh := projtest.Generate(1, 1, 2000)[0]
	var all []schemas.Batch
	for at := int64(0); at < sh.Next; at += 50 {
		all = append(all, sh.Batch(at, min(at+50, sh.Next)))
	}
	return all
}

// TestViewsAmongCommits checks that a view's watermark agrees with its rows, even if it is opened
// while a batch is committed.
func TestViewsAmongCommits(t *testing.T) {
	d := open(t, vfs.NewMem())
	defer func() { check(t, d.Close()) }()
	all := batches(t)
	written := make(chan error)
	go func() {
		var err error
		for _, b := range all {
			err = errors.Join(err, apply(t, d, b))
		}
		written <- err
	}()
	tp := all[0].TP()
	for going := true; going; {
		select {
		case err := <-written:
			check(t, err)
			going = false
		default:
		}
		v, err := d.View()
		check(t, err)
		it, err := v.Iter([]byte{store.FirstKind}, []byte{store.FirstKind + 1})
		check(t, err)
		want := int64(0)
		if it.Last() {
			last, err := strconv.ParseInt(string(it.Key()[len(it.Key())-8:]), 10, 64)
			check(t, err)
			i := slices.IndexFunc(all, func(b schemas.Batch) bool { return last < b.Next })
			want = all[i].Next
		}
		check(t, it.Close())
		got, err := v.Watermark()
		check(t, err)
		if got[tp] != want {
			t.Fatalf("the view has rows up to %d, its watermark says %d", want, got[tp])
		}
		v.Close()
	}
}

func TestBatchThatCannotBe(t *testing.T) {
	d, err := store.Open(t.TempDir(), store.Options{Name: "p"})
	check(t, err)
	defer func() { check(t, d.Close()) }()
	rec := func(topic string, offset int64) *recountv1.Record {
		return &recountv1.Record{Origin: &recountv1.Position{Topic: topic, Offset: offset}, EventId: make([]byte, 16)}
	}
	for name, b := range map[string]schemas.Batch{
		"no topic":                    {Next: 1},
		"NUL in the topic":            {Topic: "a\x00b", Next: 1},
		"negative partition":          {Topic: "a", Partition: -1, Next: 1},
		"record of another partition": {Topic: "a", Partition: 1, Next: 1, Records: []*recountv1.Record{rec("a", 0)}},
		"record beyond next":          {Topic: "a", Next: 1, Records: []*recountv1.Record{rec("a", 1)}},
		"records out of order":        {Topic: "a", Next: 9, Records: []*recountv1.Record{rec("a", 3), rec("a", 2)}},
		"no origin":                   {Topic: "a", Next: 9, Records: []*recountv1.Record{{}}},
	} {
		if err := apply(t, d, b); !errors.Is(err, schemas.ErrFatal) {
			t.Errorf("%s: got %v, want a fatal error", name, err)
		}
	}
	if w := d.Watermark(); len(w) > 0 {
		t.Errorf("watermark: got %s, want none", w)
	}
}

func TestInUse(t *testing.T) {
	dir := t.TempDir()
	d, err := store.Open(dir, store.Options{Name: "p"})
	check(t, err)
	_, err = store.Open(dir, store.Options{Name: "p"})
	if !errors.Is(err, schemas.ErrFatal) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "in use") {
		t.Errorf("second open: got %v, want a fatal error that names the directory and says in use", err)
	}
	check(t, d.Close())
}

func TestReadOnlyDirectory(t *testing.T) {
	readOnly := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			return syscall.EROFS
		}
		return nil
	}))
	_, err := store.Open("state", store.Options{Name: "p", FS: readOnly})
	if !errors.Is(err, schemas.ErrFatal) || !strings.Contains(fmt.Sprint(err), "cannot be written") {
		t.Errorf("got %v, want a fatal error that says what is wrong", err)
	}
}

// TestDamage flips a byte of each file, one after the other, truncates the file, and removes it.
// Each time it opens, reads and writes the store. That may succeed, if the file or the byte did not
// matter, or end in an error that names the directory and the fix. It never panics and never yields
// values other than those stored.
func TestDamage(t *testing.T) {
	bs := batches(t)
	mem := vfs.NewMem()
	d := open(t, mem)
	for _, b := range bs {
		check(t, apply(t, d, b))
	}
	stored := contents(t, d)
	check(t, d.Close())
	files := read(t, mem)
	harms := map[string]func(b []byte) []byte{
		"cut in half": func(b []byte) []byte { return b[:len(b)/2] },
		"emptied":     func([]byte) []byte { return []byte{} },
		"removed":     func([]byte) []byte { return nil },
		"zeroed":      func(b []byte) []byte { return make([]byte, len(b)) },
	}
	for _, at := range []float64{0, 0.1, 0.5, 0.9, 1} {
		harms[fmt.Sprintf("flipped at %v", at)] = func(b []byte) []byte {
			if len(b) > 0 {
				b[int(at*float64(len(b)-1))] ^= 0x55
			}
			return b
		}
	}
	failed := 0
	for f := range files {
		for name, harm := range harms {
			hurt := maps.Clone(files)
			hurt[f] = harm(bytes.Clone(files[f]))
			if err := useAll(t, write(t, hurt), bs, stored); err != nil {
				failed++
				if !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "recount rebuild --projection p") || !errors.Is(err, schemas.ErrFatal) {
					t.Errorf("%s %s: got %v, want a fatal error that names the directory and the way out", f, name, err)
				}
			}
		}
	}
	if failed < len(files) {
		t.Errorf("%d of %d damaged stores were found to be so: the damage does not reach", failed, len(files)*len(harms))
	}
}

// useAll opens the store, reads all of it and applies everything again.
func useAll(t *testing.T, fs vfs.FS, bs []schemas.Batch, want map[string]string) error {
	t.Helper()
	d, err := store.Open(dir, options(fs))
	if err != nil {
		return err
	}
	err = d.Dump(t.Context(), func(k, v []byte) error {
		// Next may be an earlier offset if the end of the WAL was lost.
		if w, ok := want[string(k)]; k[0] >= store.FirstKind && (!ok || w != string(v)) {
			t.Errorf("key %q: got %q, want %q, %v", k, v, w, ok)
		}
		return nil
	})
	for _, b := range bs {
		if err == nil {
			err = apply(t, d, b)
		}
	}
	if err == nil {
		err = d.Flush()
	}
	if closing := d.Close(); err == nil {
		err = closing
	}
	return err
}

// TestWritesFail lets every write from the n-th on fail, as on a full disk, for growing n. No call
// hangs or panics, a store that cannot continue reports a fatal error, and opening it again finds a
// complete state on which the log can continue.
func TestWritesFail(t *testing.T) {
	bs := batches(t)
	mem := vfs.NewMem()
	d := open(t, mem)
	for _, b := range bs {
		check(t, apply(t, d, b))
	}
	want := contents(t, d)
	check(t, d.Close())

	step := int32(29)
	if projtest.Soak() {
		step = 1
	}
	gaveUp := 0
	for n, through := int32(1), false; !through; n += step {
		mem := vfs.NewMem()
		var writes atomic.Int32
		d, err := store.Open(dir, options(errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind.ReadOrWrite() == errorfs.OpIsWrite && writes.Add(1) >= n {
				return syscall.ENOSPC
			}
			return nil
		}))))
		if err == nil {
			for i := 0; err == nil && i < len(bs); i++ {
				err = apply(t, d, bs[i])
			}
			if err == nil {
				err = d.Flush()
			}
			if d.Failed() != nil {
				gaveUp++
				later := schemas.Batch{Topic: bs[0].Topic, Next: bs[len(bs)-1].Next + 1}
				if err := apply(t, d, later); !errors.Is(err, schemas.ErrFatal) {
					t.Fatalf("write %d: apply to a failed store: got %v, want a fatal error", n, err)
				}
			}
			closing := d.Close()
			if through = writes.Load() < n; through && (err != nil || closing != nil) {
				t.Fatalf("no write failed, but: %v, %v", err, closing)
			}
		}
		// The process ends; the disk has room again.
		again := open(t, write(t, read(t, mem)))
		for _, b := range bs {
			check(t, apply(t, again, b))
		}
		if got := contents(t, again); !maps.Equal(got, want) {
			t.Fatalf("write %d: the state found, and led on, differs", n)
		}
		check(t, again.Close())
	}
	if gaveUp == 0 {
		t.Error("no store ever gave up: the failures do not reach")
	}
}

const dir = "the/state"

func options(fs vfs.FS) store.Options {
	return store.Options{Name: "p", FS: fs, Logger: quiet, MemTableBytes: 64 << 10}
}

func open(t *testing.T, fs vfs.FS) *store.DB {
	t.Helper()
	d, err := store.Open(dir, options(fs))
	check(t, err)
	return d
}

func contents(t *testing.T, d *store.DB) map[string]string {
	t.Helper()
	all := map[string]string{}
	check(t, d.Dump(t.Context(), func(k, v []byte) error {
		all[string(k)] = string(v)
		return nil
	}))
	return all
}

// read returns the content of the store's files without the lock file, which belongs to the
// process.
func read(t *testing.T, fs *vfs.MemFS) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	names, err := fs.List(dir)
	if err != nil {
		return files // the directory could not be created
	}
	for _, name := range names {
		if name == "LOCK" {
			continue
		}
		f, err := fs.Open(fs.PathJoin(dir, name))
		check(t, err)
		b, err := io.ReadAll(f)
		check(t, errors.Join(err, f.Close()))
		files[name] = b
	}
	return files
}

// write returns a file system with the given files; a nil content means that the file is missing.
func write(t *testing.T, files map[string][]byte) *vfs.MemFS {
	t.Helper()
	fs := vfs.NewMem()
	check(t, fs.MkdirAll(dir, 0o777))
	for name, b := range files {
		if b == nil {
			continue
		}
		f, err := fs.Create(fs.PathJoin(dir, name), vfs.WriteCategoryUnspecified)
		check(t, err)
		_, err = f.Write(b)
		check(t, errors.Join(err, f.Close()))
	}
	return fs
}

// TestTenantsMayUseOneID checks that events of two tenants with the same id are distinct events.
func TestTenantsMayUseOneID(t *testing.T) {
	d, err := store.Open(t.TempDir(), store.Options{Name: "p", Logger: quiet})
	check(t, err)
	defer func() { check(t, d.Close()) }()
	event := schemas.EventID{7}
	b := schemas.Batch{Topic: "recount.agents", Next: 4}
	for i, tenant := range []string{"a", "b", "a", "b"} {
		id := schemas.EventObjectID(tenant, "/src", "ada", event)
		b.Records = append(b.Records, &recountv1.Record{
			Origin: &recountv1.Position{Topic: b.Topic, Offset: int64(i)}, EventId: event[:],
			Body: &recountv1.Record_Objects{Objects: &recountv1.ObjectBatch{Objects: []*recountv1.Object{{
				Id: id[:], Tenant: tenant, Workspace: "/src", Agent: "ada", Versioned: i >= 2,
			}}}},
		})
	}
	tx, err := d.Begin(t.Context(), b, all)
	check(t, err)
	if len(tx.New) != 2 || tx.New[0] != b.Records[0] || tx.New[1] != b.Records[1] {
		t.Errorf("new of one id from two tenants, twice: got %v", tx.New)
	}
	check(t, tx.Commit())
	v, err := d.View()
	check(t, err)
	defer v.Close()
	for tenant, want := range map[string]int64{"a": 0, "b": 1} {
		if got, ok, err := v.Seen(b.TP(), schemas.EventObjectID(tenant, "/src", "ada", event)); err != nil || !ok || got != want {
			t.Errorf("%s's event: got %d, %v, %v, want %d", tenant, got, ok, err, want)
		}
	}
	b.Records, b.Next = b.Records[:1], 5
	b.Records[0].Origin.Offset = 4
	again, err := d.Begin(t.Context(), b, all)
	check(t, err)
	if len(again.New) != 0 {
		t.Errorf("new of an event applied before: got %v", again.New)
	}
	again.Discard()
}
