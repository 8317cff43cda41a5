package storage

import (
	"bytes"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// highwaterFile returns a file of two records: commit 1 ends log/0 at 10, commit 2 at 20.
func highwaterFile() (data []byte, second int) {
	rec := appendEnd(appendName(beginRecord(nil, 1), 1, "log"), logID{1, 0}, 10)
	data = bytes.Clone(endRecord(rec))
	second = len(data)
	return append(data, endRecord(appendEnd(beginRecord(nil, 2), logID{1, 0}, 20))...), second
}

// TestHighwaterEndsAtDamage changes each byte of the second record, and checks that the first
// record still counts and the second does not, whatever its bytes say.
func TestHighwaterEndsAtDamage(t *testing.T) {
	whole, second := highwaterFile()
	m := newMarks()
	if !m.fold(whole) || m.commit != 2 || m.ends[logID{1, 0}] != 20 {
		t.Fatalf("the whole file says %+v", m)
	}
	for at := second; at < len(whole); at++ {
		data := bytes.Clone(whole)
		data[at] ^= 1
		m := newMarks()
		if !m.fold(data) || m.commit != 1 || m.ends[logID{1, 0}] != 10 {
			t.Errorf("byte %d changed: commit %d, end %d; want 1, 10", at, m.commit, m.ends[logID{1, 0}])
		}
	}
}

// TestHighwaterSyncSurvivesPowerCut cuts the power right after a sync, and right after a new file
// was begun, and checks that everything recorded before is there.
func TestHighwaterSyncSurvivesPowerCut(t *testing.T) {
	for name, step := range map[string]func(h *highwater) error{"sync": (*highwater).sync, "rotate": (*highwater).rotate} {
		fs := vfs.NewCrashableMem()
		if err := fs.MkdirAll("log", 0o700); err != nil {
			t.Fatal(err)
		}
		if err := syncDir(fs, ""); err != nil {
			t.Fatal(err)
		}
		h, err := startHighwater(fs, "log", 0, newMarks())
		if err != nil {
			t.Fatal(err)
		}
		for commit := range uint64(3) {
			if err := h.record(commit+1, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := step(h); err != nil {
			t.Fatal(err)
		}
		m, _, found, err := readHighwater(fs.CrashClone(vfs.CrashCloneCfg{}), "log")
		if err != nil || !found || m.commit != 3 {
			t.Errorf("%s: after the power cut: commit %d, found %t, %v; want 3", name, m.commit, found, err)
		}
	}
}

func FuzzHighwater(f *testing.F) {
	rec := beginRecord(nil, 7)
	rec = appendName(rec, 1, "log")
	rec = appendEnd(rec, logID{1, 0}, 42)
	f.Add(endRecord(rec))
	f.Fuzz(func(t *testing.T, data []byte) {
		m := newMarks()
		m.fold(data)
		if len(data) >= 16 {
			data = bytes.Clone(data[:16+(len(data)-16)])
			m.fold(endRecord(data))
		}
	})
}
