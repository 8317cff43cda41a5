package projections

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/recountdb/recount/projections/sealed"
)

// TestGenerationIsPublishedDurably checks what a power cut can leave of CURRENT and VERSION: each
// file is synced before it is renamed into place, and the rename is synced before anything relies
// on it.
func TestGenerationIsPublishedDurably(t *testing.T) {
	d := &recordingDisk{}
	h := generations{t.TempDir(), Definition{Name: "a", Version: 1, Open: func(string) (Projection, error) { return nil, nil }}, d, nil}
	if _, _, err := h.openLive(t.Context()); err != nil {
		t.Fatal(err)
	}
	gen := genPrefix + "000001"
	want := []string{
		"create VERSION.tmp", "sync VERSION.tmp", "rename VERSION", "sync folder " + gen,
		"create CURRENT.tmp", "sync CURRENT.tmp", "rename CURRENT", "sync folder " + filepath.Base(h.dir),
	}
	if !slices.Equal(d.steps, want) {
		t.Errorf("steps\n%q, want\n%q", d.steps, want)
	}
}

// recordingDisk records the order of the steps that durability depends on.
type recordingDisk struct {
	sealed.OS
	steps []string
}

func (d *recordingDisk) note(step, path string) {
	d.steps = append(d.steps, step+" "+filepath.Base(path))
}

func (d *recordingDisk) Create(name string) (sealed.File, error) {
	d.note("create", name)
	f, err := d.OS.Create(name)
	return recordedFile{f, d, name}, err
}

func (d *recordingDisk) Rename(from, to string) error {
	d.note("rename", to)
	return d.OS.Rename(from, to)
}

func (d *recordingDisk) SyncDir(dir string) error {
	d.note("sync folder", dir)
	return d.OS.SyncDir(dir)
}

type recordedFile struct {
	sealed.File
	d    *recordingDisk
	name string
}

func (f recordedFile) Sync() error {
	f.d.note("sync", f.name)
	return f.File.Sync()
}
