package spool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func entry(n int) Entry {
	return Entry{
		ID: NewID(), Type: "command.executed", Source: "test", Time: time.Unix(int64(n), 0).UTC(),
		Data: json.RawMessage(fmt.Sprintf(`{"command":"echo %d"}`, n)),
	}
}

// drained empties a spool and returns what each entry says, in order.
func drained(t *testing.T, dir string) (said []string) {
	t.Helper()
	n, err := NewDrainer(dir).Drain(func(es []Entry) error {
		for _, e := range es {
			said = append(said, string(e.Data))
		}
		return nil
	})
	if err != nil || n != len(said) {
		t.Fatalf("drained %d, said %d: %v", n, len(said), err)
	}
	return said
}

func said(numbers ...int) (all []string) {
	for _, n := range numbers {
		all = append(all, fmt.Sprintf(`{"command":"echo %d"}`, n))
	}
	return all
}

func add(t *testing.T, dir string, numbers ...int) {
	t.Helper()
	for _, n := range numbers {
		if err := Append(dir, entry(n)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestInOrderAndOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data", "spool")
	if got := drained(t, dir); got != nil || !Empty(dir) {
		t.Errorf("of no spool: %v", got)
	}
	add(t, dir, 1, 2, 3)
	if s := Inspect(dir); s.Waiting != 3 || s.Fault != nil || Empty(dir) {
		t.Errorf("%+v", s)
	}
	if d := cmp.Diff(drained(t, dir), said(1, 2, 3)); d != "" {
		t.Error(d)
	}
	if got := drained(t, dir); got != nil || !Empty(dir) {
		t.Errorf("the second time: %v", got)
	}
	for _, path := range []string{dir, filepath.Dir(dir)} {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v %v", path, st.Mode(), err)
		}
	}
}

// TestStaysUntilTaken checks that what the log does not take stays, before later entries.
func TestStaysUntilTaken(t *testing.T) {
	dir := t.TempDir()
	add(t, dir, 1, 2)
	full := errors.New("the disk is full")
	if n, err := NewDrainer(dir).Drain(func([]Entry) error { return full }); n != 0 || !errors.Is(err, full) {
		t.Fatal(n, err)
	}
	add(t, dir, 3)
	if s := Inspect(dir); s.Waiting != 3 {
		t.Errorf("%+v", s)
	}
	if d := cmp.Diff(drained(t, dir), said(1, 2, 3)); d != "" {
		t.Error(d)
	}
}

// TestOrderOfWhatWasTaken checks that entries from several failed drains are passed in the order in
// which they were taken, also with more than nine files.
func TestOrderOfWhatWasTaken(t *testing.T) {
	dir := t.TempDir()
	var all []int
	for n := range 12 {
		add(t, dir, n)
		all = append(all, n)
		if _, err := NewDrainer(dir).Drain(func([]Entry) error { return syscall.EIO }); !errors.Is(err, syscall.EIO) {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(drained(t, dir), said(all...)); d != "" {
		t.Error(d)
	}
}

// TestOneDrainerAtATime checks that a second drainer does nothing while one drains.
func TestOneDrainerAtATime(t *testing.T) {
	dir := t.TempDir()
	add(t, dir, 1)
	n, err := NewDrainer(dir).Drain(func([]Entry) error {
		n, err := NewDrainer(dir).Drain(func(es []Entry) error {
			t.Errorf("a second drainer is handed %d entries", len(es))
			return nil
		})
		if n != 0 || err != nil {
			t.Errorf("a second drainer: %d, %v", n, err)
		}
		return nil
	})
	if n != 1 || err != nil {
		t.Errorf("the first: %d, %v", n, err)
	}
}

// TestBatchesAreBounded checks that batches are limited by number and size, and that a larger entry
// is passed alone.
func TestBatchesAreBounded(t *testing.T) {
	large := func(n, size int) Entry {
		e := entry(n)
		e.Data = json.RawMessage(`"` + strings.Repeat("x", size) + `"`)
		return e
	}
	var many, big []Entry
	for n := range 2*maxBatch + 1 {
		many = append(many, entry(n))
	}
	for n := range 5 {
		big = append(big, large(n, maxBatchBytes/2-1000))
	}
	for name, c := range map[string]struct {
		entries []Entry
		want    []int
	}{
		"many":        {many, []int{maxBatch, maxBatch, 1}},
		"big":         {big, []int{2, 2, 1}},
		"one too big": {[]Entry{entry(1), large(2, maxBatchBytes+1), entry(3)}, []int{1, 1, 1}},
	} {
		dir := t.TempDir()
		if err := Append(dir, c.entries...); err != nil {
			t.Fatal(err)
		}
		var got []int
		if _, err := NewDrainer(dir).Drain(func(es []Entry) error { got = append(got, len(es)); return nil }); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: batches of %v, want %v; %v", name, got, c.want, err)
		}
	}
}

// TestRefused checks that an entry that the log can never take is set aside with the reason, and
// that the others pass.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	add(t, dir, 1, 2, 3, 4)
	var took []string
	n, err := NewDrainer(dir).Drain(func(es []Entry) error {
		for i, e := range es {
			if strings.Contains(string(e.Data), "echo 2") || strings.Contains(string(e.Data), "echo 4") {
				return &Refused{i, errors.New("too\nlong")}
			}
		}
		for _, e := range es {
			took = append(took, string(e.Data))
		}
		return nil
	})
	if err != nil || n != 2 {
		t.Fatal(n, err)
	}
	if d := cmp.Diff(took, said(1, 3)); d != "" {
		t.Error(d)
	}
	b, err := os.ReadFile(filepath.Join(dir, refusedFile))
	if err != nil || !strings.Contains(string(b), "# too long\nrs1 ") || Inspect(dir).Refused != 2 {
		t.Errorf("%s %v %+v", b, err, Inspect(dir))
	}
}

// TestRetry checks that another reader is shown what one refused, once, also after a crash in between.
func TestRetry(t *testing.T) {
	dir := t.TempDir()
	add(t, dir, 1, 2, 3)
	d := NewDrainer(dir)
	var took []string
	knows := "1" // the entries that the reader knows
	drain := func() {
		t.Helper()
		took = nil
		if _, err := d.Drain(func(es []Entry) error {
			for i, e := range es {
				if !strings.ContainsAny(string(e.Data), knows) {
					return &Refused{i, errors.New("unknown field")}
				}
			}
			for _, e := range es {
				took = append(took, string(e.Data))
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	retry := func(reader string) {
		t.Helper()
		if err := d.Retry(func() string { return reader }); err != nil {
			t.Fatal(err)
		}
		drain()
	}
	expect := func(when string, want []string, refused int) {
		t.Helper()
		if diff := cmp.Diff(took, want); diff != "" || Inspect(dir).Refused != refused || Inspect(dir).Damaged != 0 {
			t.Errorf("%s: %s; %+v", when, diff, Inspect(dir))
		}
	}
	drain()
	expect("an old server", said(1), 2)
	knows = "12"
	add(t, dir, 1)
	retry("newer")
	expect("a newer one", append(said(2), said(1)...), 1)
	drain()
	retry("newer")
	expect("the same again", nil, 1)
	knows = "123"
	retry("newest")
	expect("the newest", said(3), 0)
	retry("oldest")
	expect("nothing is refused", nil, 0)
}

// TestDamage checks that a damaged byte or a cut anywhere in a file loses at most the entry at that
// place, and that the bytes are kept.
func TestDamage(t *testing.T) {
	var whole []byte
	for n := range 3 {
		var err error
		if whole, err = appendFrame(whole, entry(n)); err != nil {
			t.Fatal(err)
		}
	}
	written := said(0, 1, 2, 9)
	try := func(name string, b []byte, atLeast int) {
		t.Helper()
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, newFile), b, 0o600); err != nil {
			t.Fatal(err)
		}
		add(t, dir, 9)
		got := drained(t, dir)
		if len(got) < atLeast+1 || got[len(got)-1] != said(9)[0] {
			t.Errorf("%s: got %v", name, got)
		}
		for _, s := range got {
			if !slices.Contains(written, s) {
				t.Errorf("%s: got %s, which nobody wrote", name, s)
			}
		}
		if len(got) < 4 && len(bytes.Trim(b, "\n")) > 0 && atLeast > 0 && Inspect(dir).Damaged == 0 && len(b) == len(whole) {
			t.Errorf("%s: nothing set aside", name)
		}
	}
	for at := 0; at < len(whole); at += 5 { // in steps, because each is synced
		flipped := bytes.Clone(whole)
		flipped[at] ^= 1 << (at % 8)
		try("flipped "+strconv.Itoa(at), flipped, 2)
		try("cut "+strconv.Itoa(at), whole[:at], 3*at/len(whole)-1)
	}
	try("zeros", append(bytes.Clone(whole), make([]byte, 4096)...), 3)
}

// TestKills kills writer processes and drainers at random moments and restarts them: everything
// that a writer reported as written must be there, in the writer's order.
func TestKills(t *testing.T) {
	if os.Getenv("SPOOL_WRITER") != "" {
		for n := 0; ; n++ {
			e := entry(n)
			e.Source = os.Getenv("SPOOL_WRITER")
			if err := Append(os.Getenv("SPOOL_DIR"), e); err != nil {
				fmt.Println("error", err)
				os.Exit(1)
			}
			fmt.Println(e.ID)
		}
	}
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	got := map[string]int{} // how often, by id
	order := map[string][]time.Time{}
	stop, done := make(chan struct{}), make(chan error)
	rounds := 0
	drain := func() error {
		// Every third drain dies before its last batch is removed.
		rounds++
		_, err := NewDrainer(dir).Drain(func(es []Entry) error {
			mu.Lock()
			defer mu.Unlock()
			for _, e := range es {
				if got[e.ID]++; got[e.ID] == 1 {
					order[e.Source] = append(order[e.Source], e.Time)
				}
			}
			if rounds%3 == 0 {
				return syscall.EIO
			}
			return nil
		})
		if errors.Is(err, syscall.EIO) {
			return nil
		}
		return err
	}
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
				if err := drain(); err != nil {
					done <- err
					return
				}
			}
		}
	}()
	var told []string
	for round := range 3 {
		var writers []*exec.Cmd
		var outs []*bytes.Buffer
		for w := range 4 {
			cmd := exec.Command(self, "-test.run=^TestKills$")
			var out bytes.Buffer
			cmd.Env = append(os.Environ(), "SPOOL_DIR="+dir, fmt.Sprintf("SPOOL_WRITER=%d-%d", round, w))
			cmd.Stdout = &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			writers, outs = append(writers, cmd), append(outs, &out)
		}
		// Wait until the spool has seen enough of this round, not for a fixed time.
		for enough := false; !enough; {
			mu.Lock()
			enough = len(got) > 400*(round+1)
			mu.Unlock()
		}
		for i, cmd := range writers {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // killed
			lines := strings.Split(outs[i].String(), "\n")
			told = append(told, lines[:len(lines)-1]...)
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for !Empty(dir) {
		if err := drain(); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range told {
		if got[id] == 0 {
			t.Errorf("%s is lost", id)
		}
	}
	for w, times := range order {
		for i := 1; i < len(times); i++ {
			if !times[i].After(times[i-1]) {
				t.Fatalf("writer %s: out of order at %d", w, i)
			}
		}
	}
	if s := Inspect(dir); s.Lost > 0 || s.Refused > 0 {
		t.Errorf("%+v", s)
	}
	t.Logf("%d written, %d drained", len(told), len(got))
}

// TestStoppedWriter checks that a writer that was stopped while holding its lock blocks nobody, and
// that what it writes later is not lost.
func TestStoppedWriter(t *testing.T) {
	dir := t.TempDir()
	add(t, dir, 1)
	path := filepath.Join(dir, newFile)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := flock(f, syscall.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(drained(t, dir), said(1)); d != "" {
		t.Error(d)
	}
	add(t, dir, 2)
	frame, err := appendFrame(nil, entry(3))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(frame); err != nil {
		t.Fatal(err)
	}
	f.Close()
	// Entry 1 again, with the same id.
	if d := cmp.Diff(drained(t, dir), said(1, 3, 2)); d != "" {
		t.Error(d)
	}
}

// TestFileTakenFromAWriter checks that a writer that opened the file before a drainer took it does
// not write into the removed file: it opens the file again, whether a new one exists or not.
func TestFileTakenFromAWriter(t *testing.T) {
	dir := t.TempDir()
	add(t, dir, 1)
	path := filepath.Join(dir, newFile)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if d := cmp.Diff(drained(t, dir), said(1)); d != "" {
		t.Error(d)
	}
	late, err := appendFrame(nil, entry(2))
	if err != nil {
		t.Fatal(err)
	}
	if done, err := writeTo(f, path, late); done || err != nil {
		t.Errorf("with no file there: %v, %v", done, err)
	}
	add(t, dir, 3)
	if done, err := writeTo(f, path, late); done || err != nil {
		t.Errorf("with another file there: %v, %v", done, err)
	}
	if d := cmp.Diff(drained(t, dir), said(3)); d != "" {
		t.Error(d)
	}
}

func TestUnwritable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Append(filepath.Join(file, "spool"), entry(1)); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("got %v", err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, newFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Append(dir, entry(1)); err == nil {
		t.Error("appended to a folder")
	}
	if err := Append(dir, entry(2), entry(3)); err == nil {
		t.Error("appended to a folder")
	}
	if s := Inspect(dir); s.Lost != 3 || s.Fault == nil || s.LastLost.IsZero() {
		t.Errorf("%+v", s)
	}
}

// TestFull checks that on a full disk an entry that does not fit is reported as lost, and that
// earlier entries are kept.
func TestFull(t *testing.T) {
	var limit syscall.Rlimit
	if os.Getenv("SPOOL_FULL") != "" {
		dir := os.Getenv("SPOOL_DIR")
		limit = syscall.Rlimit{Cur: 600, Max: 600}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
		for n := range 20 {
			if err := Append(dir, entry(n)); err != nil {
				fmt.Println(n, "lost:", err)
			}
		}
		return
	}
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestFull$")
	cmd.Env = append(os.Environ(), "SPOOL_DIR="+dir, "SPOOL_FULL=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := Inspect(dir)
	if s.Waiting < 1 || s.Lost < 1 || int64(bytes.Count(out, []byte("lost:"))) != s.Lost {
		t.Errorf("%+v\n%s", s, out)
	}
	got := drained(t, dir)
	if len(got)+int(s.Lost) != 20 || got[0] != said(0)[0] || Inspect(dir).Damaged == 0 {
		t.Errorf("%d lost; got %v; %+v", s.Lost, got, Inspect(dir))
	}
}

func TestRemotes(t *testing.T) {
	data := t.TempDir()
	const url = "https://recount.example.com:7171"
	if err := AppendRemote(data, url, entry(1)); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Remotes(data), []string{url}); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(drained(t, RemoteDir(data, url)), said(1)); d != "" {
		t.Error(d)
	}
	if got := drained(t, Dir(data)); got != nil {
		t.Errorf("for the directory's own log: %v", got)
	}
}

func FuzzParse(f *testing.F) {
	b, err := appendFrame(nil, entry(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(append([]byte("rs1 3 00000000 {}"), b...))
	f.Fuzz(func(t *testing.T, b []byte) {
		entries, damaged := parse(b)
		for _, e := range entries {
			if e.ID == "" {
				t.Fatal("an entry without an id")
			}
		}
		if len(entries)+len(damaged) == 0 && len(bytes.Trim(b, "\n")) > 0 {
			t.Fatal("bytes are gone")
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		if err := Append(dir, entry(1)); err != nil {
			b.Fatal(err)
		}
	}
}
