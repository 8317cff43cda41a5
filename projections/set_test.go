package projections_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// notes is a minimal projection: the commands, by position, in a file that Flush writes. It refuses
// the command "refuse <name>".
type notes struct {
	name, dir   string
	checkpoints []bool // the arguments of Checkpoints, in order

	mu     sync.Mutex
	closed bool
	Offset map[string]int64
	Lines  map[string]string
}

func kind(name string, version int) projections.Definition {
	return projections.Definition{Name: name, Version: version, Open: func(dir string) (projections.Projection, error) {
		p := &notes{name: name, dir: dir, Offset: map[string]int64{}, Lines: map[string]string{}}
		b, err := os.ReadFile(filepath.Join(dir, "notes"))
		if errors.Is(err, fs.ErrNotExist) {
			return p, nil
		}
		if err != nil {
			return nil, err
		}
		return p, json.Unmarshal(b, p)
	}}
}

func (p *notes) use() func() {
	p.mu.Lock()
	if p.closed {
		panic("used after Close")
	}
	return p.mu.Unlock
}

func (p *notes) Name() string { return p.name }

func (p *notes) Checkpoints(on bool) { p.checkpoints = append(p.checkpoints, on) }

func (p *notes) Next(tp schemas.TopicPartition) int64 {
	defer p.use()()
	return p.Offset[tp.String()]
}

func (p *notes) Watermark() schemas.Watermark {
	defer p.use()()
	w := schemas.Watermark{}
	for tp, next := range p.Offset {
		pos, err := schemas.ParsePosition(fmt.Sprintf("%s/%d", tp, next))
		if err != nil {
			panic(err)
		}
		w[pos.TP()] = next
	}
	return w
}

func (p *notes) Apply(_ context.Context, b schemas.Batch) error {
	defer p.use()()
	tp := b.TP().String()
	for _, r := range b.Records {
		if r.GetIntent().GetCommand() == "refuse "+p.name {
			return projections.Poison(schemas.PositionOf(r.Origin), "refused")
		}
	}
	for _, r := range b.Records {
		if r.Origin.Offset >= p.Offset[tp] {
			p.Lines[fmt.Sprintf("%s/%06d", tp, r.Origin.Offset)] = r.GetIntent().GetCommand()
		}
	}
	p.Offset[tp] = max(p.Offset[tp], b.Next)
	return nil
}

func (p *notes) Dump(_ context.Context, yield func(k, v []byte) error) error {
	unlock := p.use()
	lines := maps.Clone(p.Lines)
	unlock()
	for _, k := range slices.Sorted(maps.Keys(lines)) {
		if err := yield([]byte(k), []byte(lines[k])); err != nil {
			return err
		}
	}
	return nil
}

func (p *notes) Flush() error {
	defer p.use()()
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.dir, "notes"), b, 0o666)
}

func (p *notes) Close() error {
	defer p.use()()
	p.closed = true
	return nil
}

var tp0 = schemas.TopicPartition{Topic: "recount.commands", Partition: 0}

// batch returns a batch with one command at each offset, from the given offset on.
func batch(from int64, commands ...string) schemas.Batch {
	b := schemas.Batch{Topic: tp0.Topic, Partition: tp0.Partition, Next: from + int64(len(commands))}
	for i, c := range commands {
		b.Records = append(b.Records, &recountv1.Record{
			Origin: schemas.Position{Topic: tp0.Topic, Offset: from + int64(i)}.Proto(),
			Body:   &recountv1.Record_Intent{Intent: &recountv1.Intent{Command: c}},
		})
	}
	return b
}

func open(t *testing.T, dir string, kinds ...projections.Definition) *projections.Set {
	t.Helper()
	s, err := projections.Open(dir, projections.Options{}, kinds...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { check(t, s.Close()) })
	return s
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// lines returns the content of the projection.
func lines(t *testing.T, s *projections.Set, name string) []string {
	t.Helper()
	p, release, err := s.Acquire(name)
	check(t, err)
	defer release()
	var got []string
	check(t, p.Dump(t.Context(), func(_, v []byte) error {
		got = append(got, string(v))
		return nil
	}))
	return got
}

// folder lists a projection's folder.
func folder(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	check(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func diff(t *testing.T, got, want any) {
	t.Helper()
	if d := cmp.Diff(got, want); d != "" {
		t.Errorf("got (-), want (+):\n%s", d)
	}
}

func TestSetKeepsStateAndOffsets(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, kind("a", 1), kind("b", 1))
	check(t, s.Apply(t.Context(), batch(0, "ls", "pwd")))
	check(t, s.Flush())
	check(t, s.Apply(t.Context(), batch(2, "lost")))
	check(t, s.Close())

	s = open(t, dir, kind("a", 1), kind("b", 1))
	diff(t, s.Next(tp0), int64(2))
	diff(t, s.Watermark().String(), "recount.commands/0:2")
	diff(t, lines(t, s, "a"), []string{"ls", "pwd"})

	// A projection that is new to the node starts at zero, which lowers Next of the set.
	check(t, s.Close())
	s = open(t, dir, kind("a", 1), kind("b", 1), kind("c", 1))
	diff(t, s.Next(tp0), int64(0))
	diff(t, s.Watermark(), schemas.Watermark{})
	check(t, s.Apply(t.Context(), batch(0, "ls", "pwd", "make")))
	for _, name := range s.Names() {
		diff(t, lines(t, s, name), []string{"ls", "pwd", "make"})
	}
}

func TestVersions(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, kind("a", 2))
	check(t, s.Apply(t.Context(), batch(0, "ls")))
	check(t, s.Flush())
	check(t, s.Close())

	_, err := projections.Open(dir, projections.Options{}, kind("a", 1))
	if !errors.Is(err, schemas.ErrFatal) || !strings.Contains(fmt.Sprint(err), "newer recount") || !strings.Contains(fmt.Sprint(err), "recount rebuild --projection a") {
		t.Errorf("state of a newer version: got %v, want a fatal error that names the way out", err)
	}
	s = open(t, dir, kind("a", 3))
	if got := lines(t, s, "a"); got != nil {
		t.Errorf("state of an older version: got %q, want it to start at zero", got)
	}
	diff(t, s.Next(tp0), int64(0))
	diff(t, folder(t, filepath.Join(dir, "a")), []string{"CURRENT", "gen-000002"})
}

// State that was made with other settings starts at zero; with the same settings it is kept.
func TestParams(t *testing.T) {
	with := func(params string) projections.Definition {
		k := kind("a", 2)
		k.Params = params
		return k
	}
	dir := t.TempDir()
	s := open(t, dir, kind("a", 2))
	check(t, s.Apply(t.Context(), batch(0, "ls")))
	check(t, s.Flush())
	check(t, s.Close())
	for _, tc := range []struct {
		params string
		kept   bool
	}{{"", true}, {"m=16, wide", false}, {"m=16, wide", true}, {"wide m=16,", true}, {"m=8, wide", false}, {"", false}, {"", true}} {
		s := open(t, dir, with(tc.params))
		if kept := s.Next(tp0) == 1; kept != tc.kept {
			t.Errorf("with %q: kept is %t, want %t", tc.params, kept, tc.kept)
		}
		check(t, s.Apply(t.Context(), batch(0, "ls")))
		check(t, s.Flush())
		check(t, s.Close())
	}
}

func TestRebuild(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, kind("a", 1))
	check(t, s.Apply(t.Context(), batch(0, "ls", "pwd")))
	old, release, err := s.Acquire("a")
	check(t, err)

	rb, err := s.Begin(t.Context(), "a")
	check(t, err)
	if _, err := s.Begin(t.Context(), "a"); err == nil {
		t.Error("a second rebuild of a projection began")
	}
	check(t, rb.Apply(t.Context(), batch(0, "ls")))
	var behind *projections.BehindError
	if err := rb.Commit(t.Context()); !errors.As(err, &behind) || behind.Want[tp0] != 2 || behind.Have[tp0] != 1 {
		t.Fatalf("commit of a rebuild at 1 over a state at 2: got %v", err)
	}
	diff(t, lines(t, s, "a"), []string{"ls", "pwd"})
	check(t, rb.Apply(t.Context(), batch(1, "pwd rebuilt")))
	check(t, rb.Commit(t.Context()))
	diff(t, lines(t, s, "a"), []string{"ls", "pwd rebuilt"})
	rebuilt, leave, err := s.Acquire("a")
	check(t, err)
	diff(t, rebuilt.(*notes).checkpoints, []bool{false, true})
	leave()

	// A reader of the old generation can continue; the generation is removed afterwards.
	n := 0
	check(t, old.Dump(t.Context(), func(_, _ []byte) error { n++; return nil }))
	diff(t, n, 2)
	diff(t, folder(t, filepath.Join(dir, "a")), []string{"CURRENT", "gen-000001", "gen-000002"})
	release()
	diff(t, folder(t, filepath.Join(dir, "a")), []string{"CURRENT", "gen-000002"})

	check(t, s.Apply(t.Context(), batch(2, "make")))
	check(t, s.Flush())
	check(t, s.Close())
	s = open(t, dir, kind("a", 1))
	diff(t, lines(t, s, "a"), []string{"ls", "pwd rebuilt", "make"})
}

func TestRebuildGivenUp(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, kind("a", 1))
	check(t, s.Apply(t.Context(), batch(0, "ls")))
	rb, err := s.Begin(t.Context(), "a")
	check(t, err)
	check(t, rb.Abort())
	check(t, rb.Abort())
	if err := rb.Apply(t.Context(), batch(0, "ls")); !errors.Is(err, projections.ErrClosed) {
		t.Errorf("apply after abort: got %v, want ErrClosed", err)
	}
	diff(t, folder(t, filepath.Join(dir, "a")), []string{"CURRENT", "gen-000001"})

	// Closing the set aborts a running rebuild.
	rb, err = s.Begin(t.Context(), "a")
	check(t, err)
	check(t, s.Close())
	if err := rb.Commit(t.Context()); !errors.Is(err, projections.ErrClosed) {
		t.Errorf("commit after close: got %v, want ErrClosed", err)
	}
	diff(t, folder(t, filepath.Join(dir, "a")), []string{"CURRENT", "gen-000001"})
}

// TestLeftovers opens what crashes at each step of a rebuild, or of the first start, leave behind.
func TestLeftovers(t *testing.T) {
	for name, leave := range map[string]func(t *testing.T, home string){
		"a generation half made": func(t *testing.T, home string) {
			check(t, os.Mkdir(filepath.Join(home, "gen-000002"), 0o777))
		},
		"a generation not switched to": func(t *testing.T, home string) {
			check(t, os.Mkdir(filepath.Join(home, "gen-000007"), 0o777))
			check(t, os.WriteFile(filepath.Join(home, "gen-000007", "VERSION"), []byte("a 1\n"), 0o666))
			check(t, os.WriteFile(filepath.Join(home, "gen-000007", "notes"), []byte("{"), 0o666))
		},
		"CURRENT written, not renamed": func(t *testing.T, home string) {
			check(t, os.WriteFile(filepath.Join(home, "CURRENT.tmp"), []byte("gen-0"), 0o666))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir, kind("a", 1))
			check(t, s.Apply(t.Context(), batch(0, "ls")))
			check(t, s.Flush())
			check(t, s.Close())
			leave(t, filepath.Join(dir, "a"))
			s = open(t, dir, kind("a", 1))
			diff(t, lines(t, s, "a"), []string{"ls"})
			diff(t, folder(t, filepath.Join(dir, "a")), []string{"CURRENT", "gen-000001"})
		})
	}
}

func TestDamage(t *testing.T) {
	for name, harm := range map[string]func(t *testing.T, home string){
		"CURRENT is nonsense": func(t *testing.T, home string) {
			check(t, os.WriteFile(filepath.Join(home, "CURRENT"), []byte("../../etc\n"), 0o666))
		},
		"CURRENT names what is not there": func(t *testing.T, home string) {
			check(t, os.WriteFile(filepath.Join(home, "CURRENT"), []byte("gen-000009\n"), 0o666))
		},
		"no VERSION": func(t *testing.T, home string) {
			check(t, os.Remove(filepath.Join(home, "gen-000001", "VERSION")))
		},
		"VERSION is of another projection": func(t *testing.T, home string) {
			check(t, os.WriteFile(filepath.Join(home, "gen-000001", "VERSION"), []byte("b 1\n"), 0o666))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir, kind("a", 1))
			check(t, s.Apply(t.Context(), batch(0, "ls")))
			check(t, s.Close())
			harm(t, filepath.Join(dir, "a"))
			_, err := projections.Open(dir, projections.Options{}, kind("a", 1))
			if !errors.Is(err, schemas.ErrFatal) || !strings.Contains(fmt.Sprint(err), "recount rebuild --projection a") {
				t.Fatalf("open: got %v, want a fatal error that names the way out", err)
			}
		})
	}
}

func TestOneOpenerADirectory(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, kind("a", 1))
	_, err := projections.Open(dir, projections.Options{}, kind("a", 1))
	if !errors.Is(err, schemas.ErrFatal) || !strings.Contains(fmt.Sprint(err), "in use") {
		t.Errorf("second open: got %v, want a fatal error that says in use", err)
	}
	check(t, s.Close())
	open(t, dir, kind("a", 1))
}

func TestRejection(t *testing.T) {
	type rejected struct{ Projection, Position string }
	var got []rejected
	fail := errors.New("log away")
	down := true
	o := projections.Options{Reject: func(_ context.Context, projection string, r *recountv1.Record, why *projections.RecordError) error {
		if down {
			return fail
		}
		got = append(got, rejected{projection, why.Position.String()})
		return nil
	}}
	s, err := projections.Open(t.TempDir(), o, kind("a", 1), kind("b", 1))
	check(t, err)
	defer func() { check(t, s.Close()) }()
	b := batch(0, "ls", "refuse b", "refuse a", "pwd")
	if err := s.Apply(t.Context(), b); !errors.Is(err, fail) {
		t.Fatalf("apply while rejecting fails: got %v", err)
	}
	diff(t, s.Next(tp0), int64(0)) // not moved past a record that was not rejected
	down = false
	check(t, s.Apply(t.Context(), b))
	diff(t, got, []rejected{{"a", "recount.commands/0/2"}, {"b", "recount.commands/0/1"}})

	// Each projection refuses a record for itself only.
	diff(t, lines(t, s, "a"), []string{"ls", "refuse b", "pwd"})
	diff(t, lines(t, s, "b"), []string{"ls", "refuse a", "pwd"})
	diff(t, len(b.Records), 4) // the caller's batch is unchanged

	// A rebuild comes to the same state and rejects nothing a second time.
	rb, err := s.Begin(t.Context(), "b")
	check(t, err)
	check(t, rb.Apply(t.Context(), b))
	check(t, rb.Commit(t.Context()))
	diff(t, lines(t, s, "b"), []string{"ls", "refuse a", "pwd"})
	diff(t, len(got), 2)

	// Without Reject the caller gets the error.
	s2 := open(t, t.TempDir(), kind("a", 1))
	var re *projections.RecordError
	if err := s2.Apply(t.Context(), b); !errors.As(err, &re) || re.Position.Offset != 2 || !errors.Is(err, schemas.ErrPoison) {
		t.Errorf("apply without Reject: got %v, want a RecordError at offset 2", err)
	}
}

func TestWait(t *testing.T) {
	s := open(t, t.TempDir(), kind("a", 1))
	want := schemas.Watermark{tp0: 2}
	done := make(chan error, 1)
	go func() { done <- s.Wait(t.Context(), want) }()
	check(t, s.Apply(t.Context(), batch(0, "ls")))
	select {
	case err := <-done:
		t.Fatalf("wait for 2 returned at 1: %v", err)
	default:
	}
	check(t, s.Apply(t.Context(), batch(1, "pwd")))
	check(t, <-done)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Wait(ctx, schemas.Watermark{tp0: 3}); !errors.Is(err, context.Canceled) {
		t.Errorf("wait with a context that ended: got %v", err)
	}
	go func() { done <- s.Wait(t.Context(), schemas.Watermark{tp0: 3}) }()
	check(t, s.Close())
	if err := <-done; !errors.Is(err, projections.ErrClosed) {
		t.Errorf("wait on a set that closes: got %v, want ErrClosed", err)
	}
}

// TestSwapUnderLoad rebuilds repeatedly while batches are applied and readers come and go. notes
// panics if it is used after Close.
func TestSwapUnderLoad(t *testing.T) {
	s := open(t, t.TempDir(), kind("a", 1), kind("b", 1))
	const n = 300
	ctx := t.Context()
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for s.Next(tp0) < n {
				p, release, err := s.Acquire("a")
				if err != nil {
					t.Error(err)
					return
				}
				w := p.Watermark()[tp0]
				var got int64
				if err := p.Dump(ctx, func(_, _ []byte) error { got++; return nil }); err != nil || got < w {
					t.Errorf("read %d rows at watermark %d: %v", got, w, err)
				}
				release()
				s.Watermark()
			}
		})
	}
	wg.Go(func() {
		for s.Next(tp0) < n {
			rb, err := s.Begin(t.Context(), "a")
			if err != nil {
				t.Error(err)
				return
			}
			for {
				for at := rb.Next(tp0); at < s.Next(tp0); at++ {
					if err := rb.Apply(ctx, batch(at, fmt.Sprint(at))); err != nil {
						t.Error(err)
						return
					}
				}
				err := rb.Commit(ctx)
				var behind *projections.BehindError
				if err == nil {
					break
				}
				if !errors.As(err, &behind) {
					t.Error(err)
					return
				}
			}
		}
	})
	for at := range int64(n) {
		check(t, s.Apply(ctx, batch(at, fmt.Sprint(at))))
	}
	wg.Wait()
	diff(t, lines(t, s, "a"), lines(t, s, "b"))
}

// A generation that a rebuild has replaced stays open until its last reader has released it.
func TestReplacedStateStaysForItsReaders(t *testing.T) {
	s := open(t, t.TempDir(), kind("a", 1))
	ctx := t.Context()
	check(t, s.Apply(ctx, batch(0, "ls")))
	first, leaveFirst, err := s.Acquire("a")
	check(t, err)
	second, leaveSecond, err := s.Acquire("a")
	check(t, err)
	rb, err := s.Begin(ctx, "a")
	check(t, err)
	check(t, rb.Apply(ctx, batch(0, "ls")))
	check(t, rb.Commit(ctx))
	rows := func(p projections.Projection) (n int) {
		t.Helper()
		check(t, p.Dump(ctx, func(_, _ []byte) error { n++; return nil }))
		return n
	}
	want := rows(first)
	leaveFirst()
	if second.(*notes).closed {
		t.Error("the replaced state was closed when the first of two readers left")
		second.(*notes).closed = false // or the set would wait for its reader for ever
	}
	if got := rows(second); got != want || want == 0 {
		t.Errorf("the second reader has %d rows after the first left, want %d", got, want)
	}
	leaveSecond()
	if closed := second.(*notes).closed; !closed {
		t.Error("the replaced state is open after its last reader left")
	}
}

func TestHoldKeepsBatchesBack(t *testing.T) {
	s := open(t, t.TempDir(), kind("a", 1))
	check(t, s.Apply(t.Context(), batch(0, "ls")))
	p, release, err := s.AcquireExclusive("a")
	check(t, err)
	applied := make(chan error, 1)
	go func() { applied <- s.Apply(t.Context(), batch(1, "pwd")) }()
	for range 100 {
		if p.Next(tp0) != 1 {
			t.Fatal("a batch was applied to a projection that is held")
		}
	}
	release()
	check(t, <-applied)
	diff(t, lines(t, s, "a"), []string{"ls", "pwd"})
}

func TestCompare(t *testing.T) {
	s := open(t, t.TempDir(), kind("a", 1))
	check(t, s.Apply(t.Context(), batch(0, "ls", "pwd", "make", "true")))
	other := open(t, t.TempDir(), kind("a", 1))
	check(t, other.Apply(t.Context(), batch(0, "ls", "pwD")))
	check(t, other.Apply(t.Context(), batch(3, "true", "false")))

	p, release, err := s.Acquire("a")
	check(t, err)
	q, release2, err := other.Acquire("a")
	check(t, err)
	got, err := projections.Compare(t.Context(), p, q, 10)
	check(t, err)
	var text []string
	for _, d := range got {
		text = append(text, d.String())
	}
	diff(t, text, []string{
		`key "recount.commands/0/000001": "pwd", want "pwD"`,
		`key "recount.commands/0/000002": "make", want none`,
		`key "recount.commands/0/000004": missing, want "false"`,
	})
	got, err = projections.Compare(t.Context(), p, q, 1)
	check(t, err)
	diff(t, len(got), 1)
	got, err = projections.Compare(t.Context(), p, p, 1)
	check(t, err)
	diff(t, len(got), 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := projections.Compare(ctx, brokenDump{p}, q, 1); err == nil || !strings.Contains(err.Error(), "unreadable") {
		t.Errorf("compare with a state that cannot be read: got %v", err)
	}
	release()
	release2()
}

type brokenDump struct{ projections.Projection }

func (brokenDump) Dump(context.Context, func(k, v []byte) error) error {
	return errors.New("unreadable")
}
