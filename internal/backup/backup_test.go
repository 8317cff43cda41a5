package backup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func quiet(int64) {}

// write writes a file with a given modification time.
func write(t *testing.T, path, content string, at time.Time) {
	t.Helper()
	check(t, os.WriteFile(path, []byte(content), 0o600))
	check(t, os.Chtimes(path, at, at))
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// copied makes a copy of some files in dir, and returns the number of bytes copied.
func copied(t *testing.T, dir, src string, names ...string) int64 {
	t.Helper()
	w, err := Begin(dir, "a log")
	check(t, err)
	for _, name := range names {
		check(t, w.Add(t.Context(), name, filepath.Join(src, name), quiet))
	}
	_, err = w.Finish(noon, "ends")
	check(t, errors.Join(err, w.Close()))
	return w.Copied
}

func objects(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, objectsDir))
	check(t, err)
	return len(entries)
}

// restored returns the contents of a copy, by path.
func restored(t *testing.T, dir string) map[string]string {
	t.Helper()
	to := t.TempDir()
	m, err := Extract(t.Context(), dir, to, quiet)
	check(t, err)
	all := map[string]string{}
	for _, f := range m.Files {
		b, err := os.ReadFile(filepath.Join(to, f.Path))
		check(t, err)
		all[f.Path] = string(b)
	}
	return all
}

// TestOnlyWhatIsNewIsCopied checks that a second copy adds what is new or changed and drops what
// was removed.
func TestOnlyWhatIsNewIsCopied(t *testing.T) {
	src, dir := t.TempDir(), filepath.Join(t.TempDir(), "backup")
	write(t, filepath.Join(src, "same"), "same", noon)
	write(t, filepath.Join(src, "changed"), "before", noon)
	write(t, filepath.Join(src, "gone"), "gone", noon)
	if n := copied(t, dir, src, "same", "changed", "gone"); n != 14 {
		t.Errorf("%d bytes copied at first", n)
	}
	write(t, filepath.Join(src, "changed"), "behind", noon.Add(time.Second)) // of the same length
	if n := copied(t, dir, src, "same", "changed"); n != 6 {
		t.Errorf("%d bytes copied then, want those of what changed", n)
	}
	if got := restored(t, dir); len(got) != 2 || got["same"] != "same" || got["changed"] != "behind" {
		t.Errorf("restored %v", got)
	}
	if n := objects(t, dir); n != 2 {
		t.Errorf("%d objects are left, want 2", n)
	}
	// A listed content that was removed is copied again.
	m, err := Read(dir)
	check(t, err)
	check(t, os.Remove(object(dir, m.Files[slices.IndexFunc(m.Files, func(f File) bool { return f.Path == "same" })])))
	if n := copied(t, dir, src, "same", "changed"); n != 4 {
		t.Errorf("%d bytes copied where an object had gone", n)
	}
	if got := restored(t, dir); got["same"] != "same" {
		t.Errorf("restored %v", got)
	}
}

// TestAnUnfinishedCopyChangesNothing checks that an unfinished copy leaves the previous one
// unchanged.
func TestAnUnfinishedCopyChangesNothing(t *testing.T) {
	src, dir := t.TempDir(), filepath.Join(t.TempDir(), "backup")
	write(t, filepath.Join(src, "log"), "before", noon)
	copied(t, dir, src, "log")
	write(t, filepath.Join(src, "log"), "much later", noon.Add(time.Hour))
	w, err := Begin(dir, "a log")
	check(t, err)
	check(t, w.Add(t.Context(), "log", filepath.Join(src, "log"), quiet))
	check(t, w.Close()) // as in a crash
	if got := restored(t, dir); got["log"] != "before" {
		t.Errorf("restored %v", got)
	}
	if _, wrong, err := Verify(t.Context(), dir, quiet); err != nil || len(wrong) > 0 {
		t.Error(wrong, err)
	}
	copied(t, dir, src, "log")
	if n := objects(t, dir); n != 1 || restored(t, dir)["log"] != "much later" {
		t.Errorf("%d objects after the next, want 1", n)
	}
}

func TestFoldersThatAreRefused(t *testing.T) {
	src, dir := t.TempDir(), filepath.Join(t.TempDir(), "backup")
	write(t, filepath.Join(src, "log"), "x", noon)
	copied(t, dir, src, "log")
	if _, err := Begin(dir, "another log"); err == nil || !strings.Contains(err.Error(), "another log") {
		t.Errorf("of another log: %v", err)
	}
	w, err := Begin(dir, "a log")
	check(t, err)
	if _, err := Begin(dir, "a log"); err == nil || !strings.Contains(err.Error(), "is running") {
		t.Errorf("two at once: %v", err)
	}
	check(t, w.Close())
	if _, err := Begin(src, "a log"); err == nil || !strings.Contains(err.Error(), "contains log but no backup") {
		t.Errorf("a folder with other files: %v", err)
	}
	if _, _, err := Verify(t.Context(), t.TempDir(), quiet); !errors.Is(err, fs.ErrNotExist) && (err == nil || !strings.Contains(err.Error(), "not a finished backup")) {
		t.Errorf("of an empty folder: %v", err)
	}
}

// TestDamageIsNoticed checks that Verify reports any damage and that Extract does not restore it.
func TestDamageIsNoticed(t *testing.T) {
	src := t.TempDir()
	write(t, filepath.Join(src, "log"), "what was recorded", noon)
	for name, harm := range map[string]func(dir string, m Manifest) error{
		"a byte": func(dir string, m Manifest) error {
			return os.WriteFile(object(dir, m.Files[0]), []byte("what was recordeD"), 0o600)
		},
		"cut short": func(dir string, m Manifest) error { return os.Truncate(object(dir, m.Files[0]), 4) },
		"longer": func(dir string, m Manifest) error {
			return os.WriteFile(object(dir, m.Files[0]), []byte("what was recorded."), 0o600)
		},
		"missing": func(dir string, m Manifest) error { return os.Remove(object(dir, m.Files[0])) },
		"the manifest says another size": func(dir string, _ Manifest) error {
			path := filepath.Join(dir, manifestFile)
			b, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path, []byte(strings.Replace(string(b), `"size": 17`, `"size": 18`, 1)), 0o600))
		},
		"the manifest says another end": func(dir string, _ Manifest) error {
			path := filepath.Join(dir, manifestFile)
			b, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path, []byte(strings.Replace(string(b), `"ends"`, `"ens"`, 1)), 0o600))
		},
	} {
		dir := filepath.Join(t.TempDir(), "backup")
		copied(t, dir, src, "log")
		m, err := Read(dir)
		check(t, err)
		check(t, harm(dir, m))
		if _, wrong, err := Verify(t.Context(), dir, quiet); err == nil && len(wrong) == 0 {
			t.Errorf("%s: not noticed", name)
		}
		if _, err := Extract(t.Context(), dir, t.TempDir(), quiet); err == nil {
			t.Errorf("%s: extracted", name)
		}
	}
}

// TestPathsStayInside checks that a manifest, whose sum anybody can compute, cannot name paths
// outside the directory.
func TestPathsStayInside(t *testing.T) {
	src, dir := t.TempDir(), filepath.Join(t.TempDir(), "backup")
	write(t, filepath.Join(src, "log"), "x", noon)
	for _, path := range []string{"../log", "/log", "a/../../log", ""} {
		w, err := Begin(dir, "a log")
		check(t, err)
		check(t, w.Add(t.Context(), path, filepath.Join(src, "log"), quiet))
		_, err = w.Finish(noon, "")
		check(t, errors.Join(err, w.Close()))
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "has an invalid file entry") {
			t.Errorf("%q: %v", path, err)
		}
		check(t, os.RemoveAll(dir))
	}
}

// TestExtractOverwritesNothing checks that Extract does not overwrite files.
func TestExtractOverwritesNothing(t *testing.T) {
	src, dir, to := t.TempDir(), filepath.Join(t.TempDir(), "backup"), t.TempDir()
	write(t, filepath.Join(src, "log"), "x", noon)
	copied(t, dir, src, "log")
	write(t, filepath.Join(to, "log"), "mine", noon)
	if _, err := Extract(t.Context(), dir, to, quiet); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
}

// TestAddFails checks that a file that shrinks while it is copied is an error, and that an aborted
// copy leaves nothing.
func TestAddFails(t *testing.T) {
	src, dir := t.TempDir(), filepath.Join(t.TempDir(), "backup")
	path := filepath.Join(src, "log")
	write(t, path, strings.Repeat("x", 1<<20), noon)
	w, err := Begin(dir, "a log")
	check(t, err)
	defer w.Close()
	if err := w.Add(t.Context(), "log", path, func(int64) { check(t, os.Truncate(path, 100)) }); err == nil || !strings.Contains(err.Error(), "but had 1048576") {
		t.Errorf("shorter: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	write(t, path, strings.Repeat("x", 1<<20), noon)
	if err := w.Add(ctx, "log", path, func(int64) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if n := objects(t, dir); n != 0 {
		t.Errorf("%d objects are left", n)
	}
}
