package broker_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker"
)

// refusing is a file system on which some calls fail.
type refusing struct {
	err   error
	match func(errorfs.Op) bool
}

func (r refusing) String() string { return "refusing" }

func (r refusing) MaybeError(op errorfs.Op) error {
	if r.match(op) {
		return &os.PathError{Op: "open", Path: op.Path, Err: r.err}
	}
	return nil
}

func opens(part string) func(errorfs.Op) bool {
	return func(op errorfs.Op) bool {
		return op.Kind == errorfs.OpOpen && strings.Contains(op.Path, part)
	}
}

// openWithin opens a log, and fails the test if that panics or takes long.
func openWithin(t *testing.T, dir string, opts broker.Options) (b *broker.Broker, err error) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		b, err = broker.Open(dir, opts)
	}()
	select {
	case <-done:
	case <-time.After(patience):
		panic("open does not return")
	}
	return b, err
}

// oneLine checks that an error is a single line that contains the given texts.
func oneLine(t *testing.T, err error, says ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("opened without a word")
	}
	for _, want := range says {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
	if text := err.Error(); strings.ContainsAny(text, "\n\r") || strings.Contains(text, "goroutine") {
		t.Errorf("error is not one line: %q", text)
	}
}

// newest returns the last of the files whose path contains part.
func newest(t testing.TB, dir, part string) string {
	t.Helper()
	found := files(t, dir, part)
	return found[len(found)-1]
}

func flip(part string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		edit(t, newest(t, dir, part), func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
	}
}

func empty(part string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		edit(t, newest(t, dir, part), func([]byte) []byte { return nil })
	}
}

func remove(part string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		if err := os.Remove(newest(t, dir, part)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUnreadableStore checks that if any file of the store is missing, damaged or unreadable, the
// error of opening names it and says what to do, in one line.
func TestUnreadableStore(t *testing.T) {
	const restore = "restore it from a backup"
	whole := sealedImage(t)
	for _, tc := range []struct {
		name   string
		damage func(*testing.T, string)
		fs     errorfs.Injector
		want   error
		says   []string
	}{
		{"blob file removed", remove(".blob"), nil, broker.ErrDamaged, []string{".blob", "missing", restore}},
		{"blob file empty", empty(".blob"), nil, broker.ErrDamaged, []string{".blob", "0 bytes", restore}},
		{"table removed", remove(".sst"), nil, broker.ErrDamaged, []string{".sst", restore}},
		{"table empty", empty(".sst"), nil, broker.ErrDamaged, []string{".sst", restore}},
		{"manifest flipped", flip("/MANIFEST-"), nil, broker.ErrDamaged, []string{"MANIFEST-", restore}},
		{"manifest empty", empty("/MANIFEST-"), nil, broker.ErrDamaged, []string{"MANIFEST-", restore}},
		{"manifest removed", remove("/MANIFEST-"), nil, broker.ErrDamaged, []string{"MANIFEST-", restore}},
		{"options flipped", func(t *testing.T, dir string) {
			edit(t, newest(t, dir, "OPTIONS-"), func(b []byte) []byte { return append([]byte("[[[\n"), b...) })
		}, nil, broker.ErrDamaged, []string{"OPTIONS-", restore}},
		{"marker of the manifest removed", remove("marker.manifest"), nil, broker.ErrDamaged, []string{"marker.manifest", restore}},
		{"older WAL flipped", func(t *testing.T, dir string) {
			older := newest(t, dir, ".log") // one before it may only wait for its removal
			data, err := os.ReadFile(older)
			if err != nil {
				t.Fatal(err)
			}
			// A later file makes this one an older one.
			later := filepath.Join(filepath.Dir(older), "900000.log")
			if err := os.WriteFile(later, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			data[wholeOf(data)/2] ^= 1
			if err := os.WriteFile(older, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}, nil, broker.ErrDamaged, []string{".log", restore}},
		{"oldest WAL removed", remove(".log"), nil, broker.ErrLoss, []string{"restore"}},
		{"blob file of another user", nil, refusing{syscall.EACCES, opens(".blob")}, syscall.EACCES, []string{".blob", "permission"}},
		{"table of another user", nil, refusing{syscall.EACCES, opens(".sst")}, syscall.EACCES, []string{".sst", "permission"}},
		{"manifest of another user", nil, refusing{syscall.EACCES, opens("MANIFEST")}, syscall.EACCES, []string{"MANIFEST", "permission"}},
		{"disk that cannot be read", nil, refusing{syscall.EIO, opens("MANIFEST")}, syscall.EIO, []string{"MANIFEST", restore}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "log")
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			opts := broker.Options{}
			if tc.damage != nil {
				tc.damage(t, dir)
			}
			if tc.fs != nil {
				opts.FS = errorfs.Wrap(vfs.Default, tc.fs)
			}
			b, err := openWithin(t, dir, opts)
			if err == nil {
				b.Close()
			}
			oneLine(t, err, append(tc.says, dir)...)
			t.Log(err)
			if tc.want != nil && !errors.Is(err, tc.want) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
		})
	}
}

// wholeOf returns where the data of a preallocated file ends.
func wholeOf(data []byte) int {
	for len(data) > 0 && data[len(data)-1] == 0 {
		data = data[:len(data)-1]
	}
	return len(data)
}

// TestFullDiskAtOpening checks that a full disk at opening is an error that says so, whichever
// write fails first, and that nothing is lost.
func TestFullDiskAtOpening(t *testing.T) {
	whole := sealedImage(t)
	for after := int64(0); ; after++ {
		mem := vfs.NewCrashableMem()
		if _, err := vfs.Clone(vfs.Default, mem, whole, "log", vfs.CloneSync); err != nil {
			t.Fatal(err)
		}
		if root, err := mem.OpenDir("/"); err != nil || root.Sync() != nil {
			t.Fatalf("sync the root: %v", err)
		}
		inj := &failing{}
		inj.left.Store(after)
		b, err := openWithin(t, "log", broker.Options{FS: errorfs.Wrap(mem, inj)})
		if err == nil {
			b.Close()
			if inj.left.Load() >= 0 {
				break // no write of the opening was refused
			}
			continue
		}
		oneLine(t, err, "log", "no space left", "free some")
		if !errors.Is(err, syscall.ENOSPC) || errors.Is(err, broker.ErrDamaged) {
			t.Errorf("full after %d writes: %v", after, err)
		}
		again, err := openWithin(t, "log", broker.Options{FS: mem.CrashClone(vfs.CrashCloneCfg{})})
		if err != nil {
			t.Fatalf("full after %d writes, and then not: %v", after, err)
		}
		if got := drain(t, again, "log"); len(got) != 400 {
			t.Errorf("full after %d writes, and then not: %d records", after, len(got))
		}
		again.Close()
	}
}

// TestBlobFileThatGoesWhileOpen checks that if a blob file disappears or is damaged after opening,
// readers of that part get an error, others do not, and Close returns.
func TestBlobFileThatGoesWhileOpen(t *testing.T) {
	for name, damage := range map[string]func(*testing.T, string){
		"removed": remove(".blob"), "empty": empty(".blob"), "flipped": flip(".blob"),
		"flipped at the end": func(t *testing.T, dir string) {
			edit(t, newest(t, dir, ".blob"), func(b []byte) []byte { b[len(b)-20] ^= 1; return b })
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := sealedImage(t)
			b, err := broker.Open(dir, broker.Options{})
			if err != nil {
				t.Fatal(err)
			}
			createTopic(t, b, "other", 1)
			if _, err := b.Append(testContext(t), "other", 0, broker.Record{Value: []byte("kept")}); err != nil {
				t.Fatal(err)
			}
			file := strings.TrimSuffix(filepath.Base(newest(t, dir, ".blob")), ".blob")
			damage(t, dir)
			var d []broker.Damage
			for range 3 {
				if d, err = b.Check(testContext(t)); err != nil || len(d) != 1 || d[0].Topic != "log" || !strings.Contains(d[0].What, file) {
					t.Errorf("check: %v, %v", d, err)
				}
			}
			if got := consume(t, b, "other", 1); string(got[0].Value) != "kept" {
				t.Errorf("the other topic: %v", got)
			}
			const unknownServerError = -1
			if code := fetchCode(t, b, "log", d[0].Offset); code != unknownServerError {
				t.Errorf("fetch of what is damaged: error code %d", code)
			}
			if err := b.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
}

// fetchCode returns the error code of a fetch.
func fetchCode(t *testing.T, b *broker.Broker, topic string, offset int64) int16 {
	t.Helper()
	resp := ask(t, dialRaw(t, b), fetchRequest(topic, offset), 11).(*kmsg.FetchResponse)
	return resp.Topics[0].Partitions[0].ErrorCode
}
