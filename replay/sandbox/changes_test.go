package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// forBoth runs a test over a sandbox with overlayfs and over one with a copy.
func forBoth(t *testing.T, test func(t *testing.T, o Options)) {
	t.Run("overlay", func(t *testing.T) { test(t, options(t)) })
	t.Run("copy", func(t *testing.T) {
		o := options(t)
		o.Copy = "a test asks for it"
		test(t, o)
	})
}

func describe(changes []Change) string {
	var out []string
	for _, c := range changes {
		out = append(out, c.Kind+" "+c.Path)
	}
	return strings.Join(out, ", ")
}

// listing describes a tree: paths, modes, links and contents.
func listing(t testing.TB, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		fmt.Fprintf(&out, "%s %s", rel, info.Mode())
		if info.Mode().IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&out, " %q", b)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			link, _ := os.Readlink(path)
			fmt.Fprintf(&out, " -> %s", link)
		}
		fmt.Fprintln(&out)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// prepare makes the tree that changes begins with.
func prepareTree(t testing.TB, dir string) {
	for _, f := range []string{"keep", "edit", "remove", "mode", "touch", "swap/a", "swap/b/c", "gone/x", "gone/y/z", "again/old", "again/same", "become/dir"} {
		write(t, filepath.Join(dir, f), "old "+f)
	}
	if err := os.Symlink("keep", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
}

const edits = `set -e
echo new > edit; rm remove; chmod 700 mode; touch touch
mkdir -p new/deep; echo n > new/deep/file; ln -s ../keep new/link; mkdir new/empty; chmod 3750 new/empty
rm -r gone; rm -r again; mkdir again; printf 'old again/same' > again/same; chmod 644 again/same; echo 1 > again/new
rm -r swap; echo flat > swap; rm link; ln -s edit link
rm -r become; ln -s new become; mv keep kept; cp kept keep; rm kept`

const wantEdits = "removed again/old, added again/new, changed become, removed become/dir, changed edit, removed gone, removed gone/x, removed gone/y, removed gone/y/z, changed link, changed mode, added new, added new/deep, added new/deep/file, added new/empty, added new/link, removed remove, changed swap, removed swap/a, removed swap/b, removed swap/b/c"

func TestChangesAndApply(t *testing.T) {
	forBoth(t, func(t *testing.T, o Options) {
		prepareTree(t, o.Dir)
		before := listing(t, o.Dir)
		s := open(t, o)
		if none, err := s.Changes(); err != nil || len(none) > 0 {
			t.Fatalf("before anything ran: %v, %v", describe(none), err)
		}
		if r := s.sh(t, edits); r.Exit != 0 {
			t.Fatalf("%+v", r)
		}
		inside := s.sh(t, "find . | sort").Output
		changes, err := s.Changes()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, c := range changes {
			got[c.Kind+" "+c.Path] = true
		}
		for _, want := range strings.Split(wantEdits, ", ") {
			if !got[want] {
				t.Errorf("no %s", want)
			}
			delete(got, want)
		}
		if len(got) > 0 {
			t.Errorf("also %v", got)
		}
		if now := listing(t, o.Dir); now != before {
			t.Errorf("the real directory changed before Apply:\n%s", now)
		}
		for range 2 { // the second time there is nothing to do
			if _, err := s.Apply(); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		o.Isolation = IsolationNone
		if outside := open(t, o).sh(t, "find . | sort").Output; outside != inside {
			t.Errorf("after Apply:\n%s\ninside it was\n%s", outside, inside)
		}
		info, err := os.Stat(filepath.Join(o.Dir, "new/empty"))
		if err != nil || info.Mode() != fs.ModeDir|fs.ModeSticky|fs.ModeSetgid|0o750 {
			t.Errorf("new/empty: %v, %v", info.Mode(), err)
		}
	})
}

// TestApplyReplacesLinks has a directory and a file that take the places of symbolic links: what those led to stays.
func TestApplyReplacesLinks(t *testing.T) {
	forBoth(t, func(t *testing.T, o Options) {
		write(t, filepath.Join(o.Dir, "real/f"), "theirs")
		for link, to := range map[string]string{"dir": "real", "file": "real/f"} {
			if err := os.Symlink(to, filepath.Join(o.Dir, link)); err != nil {
				t.Fatal(err)
			}
		}
		s := open(t, o)
		if r := s.sh(t, "rm dir file; mkdir -p dir/sub; echo mine > dir/f; echo mine > dir/sub/g; echo mine > file"); r.Exit != 0 {
			t.Fatalf("%+v", r)
		}
		if _, err := s.Apply(); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"real/f": "theirs", "dir/f": "mine\n", "dir/sub/g": "mine\n", "file": "mine\n"} {
			if got, err := os.ReadFile(filepath.Join(o.Dir, name)); err != nil || string(got) != want {
				t.Errorf("%s: %q, %v; want %q", name, got, err, want)
			}
		}
	})
}

func TestApplyRefusesWhatOthersChanged(t *testing.T) {
	for name, meanwhile := range map[string]func(dir string) error{
		"edited":   func(dir string) error { return os.WriteFile(dir+"/edit", []byte("theirs"), 0o644) },
		"removed":  func(dir string) error { return os.WriteFile(dir+"/remove", []byte("theirs"), 0o644) },
		"added":    func(dir string) error { return os.WriteFile(dir+"/new", []byte("theirs"), 0o644) },
		"replaced": func(dir string) error { _ = os.Remove(dir + "/mode"); return os.Mkdir(dir+"/mode", 0o755) },
		"link": func(dir string) error {
			_ = os.Rename(dir+"/sub", dir+"/elsewhere")
			return os.Symlink("/tmp", dir+"/sub")
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			for _, f := range []string{"edit", "remove", "mode", "sub/inner"} {
				write(t, filepath.Join(o.Dir, f), "old "+f)
			}
			s := open(t, o)
			if r := s.sh(t, "echo mine > edit; rm remove; echo mine > new; chmod 700 mode; echo mine > sub/inner; echo mine > sub/more"); r.Exit != 0 {
				t.Fatalf("%+v", r)
			}
			if err := meanwhile(o.Dir); err != nil {
				t.Fatal(err)
			}
			before := listing(t, o.Dir)
			var conflict *ConflictError
			if _, err := s.Apply(); !errors.As(err, &conflict) {
				t.Errorf("applied over it: %v", err)
			}
			if now := listing(t, o.Dir); now != before {
				t.Errorf("changed by a refused Apply:\n%s", now)
			}
		})
	}
}

func TestSpaceForChanges(t *testing.T) {
	file := func(size int64) *Entry { return &Entry{Mode: 0o644, Size: size} }
	for name, c := range map[string]struct {
		changes []Change
		want    int64
	}{
		"nothing":                 {nil, 0},
		"removed":                 {[]Change{{Kind: Removed, Old: file(100)}}, 0},
		"added, and its copy":     {[]Change{{Kind: Added, New: file(100)}}, 200},
		"smaller than it was":     {[]Change{{Kind: Changed, Old: file(100), New: file(40)}}, 40},
		"larger than it was":      {[]Change{{Kind: Changed, Old: file(40), New: file(100)}}, 160},
		"in place of a directory": {[]Change{{Kind: Changed, Old: &Entry{Mode: fs.ModeDir | 0o755}, New: file(10)}}, 20},
		"several":                 {[]Change{{Kind: Added, New: file(100)}, {Kind: Added, New: file(300)}}, 700},
		"a link takes no room":    {[]Change{{Kind: Added, New: &Entry{Mode: fs.ModeSymlink | 0o777, Link: "x"}}}, 0},
	} {
		if got := spaceFor(c.changes); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestResumeSeesEarlierWrites(t *testing.T) {
	forBoth(t, func(t *testing.T, o Options) {
		write(t, filepath.Join(o.Dir, "file"), "old")
		s := open(t, o)
		s.sh(t, "echo one > first; rm file; echo kept > /tmp/scratch; echo home > ~/h")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, o)
		if r := s.sh(t, "cat first /tmp/scratch ~/h; ls"); r.Output != "one\nkept\nhome\nfirst\n" {
			t.Errorf("%+v", r)
		}
		if c, err := s.Changes(); err != nil || describe(c) != "removed file, added first" {
			t.Errorf("%s, %v", describe(c), err)
		}
	})
}

// TestChangesOfWhatComesAndGoes looks at the changes while files are made, removed and replaced, as steps that run beside do.
func TestChangesOfWhatComesAndGoes(t *testing.T) {
	forBoth(t, func(t *testing.T, o Options) {
		for i := range 20 {
			write(t, filepath.Join(o.Dir, fmt.Sprint("old", i)), "old")
		}
		s := open(t, o)
		const until = `while ! test -e stop; do for i in 1 2 3 4 5 6 7 8; do echo $i > lock$i; mkdir d$i; echo $i > d$i/f; ln -s f d$i/l; done; rm -r lock? d?; echo $i > d1; ln -s x d2; rm d1 d2; done; rm stop`
		ended := make(chan error)
		go func() {
			_, err := s.Run(t.Context(), s.command(until))
			ended <- err
		}()
		for range 1000 {
			if _, err := s.Changes(); err != nil {
				t.Error(err)
				break
			}
		}
		s.sh(t, "touch stop")
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if changes, err := s.Changes(); err != nil || len(changes) > 0 {
			t.Errorf("%s, %v", describe(changes), err)
		}
	})
}
