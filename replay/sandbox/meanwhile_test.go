package sandbox

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestApplyLeavesWhatOthersDid has somebody change, between a run and its Apply, what the run only has in its layer since
// it changed something beside.
func TestApplyLeavesWhatOthersDid(t *testing.T) {
	for name, c := range map[string]struct {
		command   string
		meanwhile func(dir string) error
		want      string // what is not to be done by Apply; "" if it is refused
	}{
		"a directory is tightened": {
			"echo mine > sub/f", func(dir string) error { return os.Chmod(dir+"/sub", 0o700) }, "sub drwx------",
		},
		"a directory is tightened that the run changed": {
			"chmod 777 sub", func(dir string) error { return os.Chmod(dir+"/sub", 0o700) }, "",
		},
		"a directory is made with another mode": {
			"mkdir new; echo mine > new/f", func(dir string) error { return os.Mkdir(dir+"/new", 0o700) }, "",
		},
		"a file is removed": {
			"echo mine > f", func(dir string) error { return os.Remove(dir + "/f") }, "",
		},
		"a directory is removed": {
			"echo mine > sub/new", func(dir string) error { return os.RemoveAll(dir + "/sub") }, "",
		},
		"a directory is removed in which nothing is left of the run": {
			"echo x > sub/x; rm sub/x; echo mine > g", func(dir string) error { return os.RemoveAll(dir + "/sub") }, "g -rw-r--r--",
		},
		"both did the same": {
			"chmod 700 sub; rm f", func(dir string) error { return errors.Join(os.Chmod(dir+"/sub", 0o700), os.Remove(dir+"/f")) }, "sub drwx------",
		},
	} {
		t.Run(name, func(t *testing.T) {
			forBoth(t, func(t *testing.T, o Options) {
				write(t, filepath.Join(o.Dir, "f"), "old")
				write(t, filepath.Join(o.Dir, "sub/f"), "old")
				s := open(t, o)
				if r := s.sh(t, c.command); r.Exit != 0 {
					t.Fatalf("%+v", r)
				}
				if _, err := s.Changes(); err != nil { // as after each step
					t.Fatal(err)
				}
				if err := errors.Join(s.Close(), c.meanwhile(o.Dir)); err != nil {
					t.Fatal(err)
				}
				before := listing(t, o.Dir)
				_, err := open(t, o).Apply()
				after := listing(t, o.Dir)
				var conflict *ConflictError
				switch {
				case c.want != "" && (err != nil || !strings.Contains(after, c.want)):
					t.Errorf("%v\n%s", err, after)
				case c.want == "" && (!errors.As(err, &conflict) || after != before):
					t.Errorf("%v\n%s", err, after)
				}
			})
		})
	}
}

// TestApplyOfACopyLeavesWhatItDoesNotHave has files in the directory that a copy has not: a pipe, one that somebody else
// has added since, and the place of one that somebody else has removed.
func TestApplyOfACopyLeavesWhatItDoesNotHave(t *testing.T) {
	o := options(t)
	o.Copy = "a test asks for it"
	write(t, filepath.Join(o.Dir, "removed"), "old")
	if err := errors.Join(syscall.Mkfifo(filepath.Join(o.Dir, "pipe"), 0o600), os.Symlink("pipe", filepath.Join(o.Dir, "link"))); err != nil {
		t.Fatal(err)
	}
	s := open(t, o)
	s.sh(t, "echo mine > new")
	write(t, filepath.Join(o.Dir, "added"), "theirs")
	if err := errors.Join(os.Remove(filepath.Join(o.Dir, "removed")), os.Remove(filepath.Join(o.Dir, "link"))); err != nil {
		t.Fatal(err)
	}
	changes, err := s.Apply()
	if err != nil || describe(changes) != "added new" {
		t.Errorf("%s, %v", describe(changes), err)
	}
	for name, want := range map[string]bool{"pipe": true, "added": true, "removed": false, "link": false} {
		if _, err := os.Lstat(filepath.Join(o.Dir, name)); err == nil != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestApplyGoesOn stops an Apply half-way: what is there so far is told, and another one does the rest.
func TestApplyGoesOn(t *testing.T) {
	forBoth(t, func(t *testing.T, o Options) {
		write(t, filepath.Join(o.Dir, "edit"), "old")
		write(t, filepath.Join(o.Dir, "turns"), "old")
		s := open(t, o)
		s.sh(t, "echo mine > edit; mkdir new; echo mine > new/a; echo mine > new/b; rm turns; mkdir turns; echo mine > zz")
		block := filepath.Join(o.Dir, s.temporary("zz"), "x")
		write(t, block, "in the way")
		_, err := s.Apply()
		if err == nil || !strings.Contains(err.Error(), "3 of 6 changes are in the real directory") || !s.Partly() {
			t.Fatalf("%v", err)
		}
		if err := errors.Join(os.RemoveAll(filepath.Dir(block)), s.Close()); err != nil {
			t.Fatal(err)
		}
		s = open(t, o)
		if !s.Partly() {
			t.Error("it is forgotten that part of it was applied")
		}
		if _, err := s.Apply(); err != nil || s.Partly() {
			t.Fatal(err)
		}
		if got := s.sh(t, "cat edit new/a new/b zz; ls -d turns/").Output; got != "mine\nmine\nmine\nmine\nturns/\n" {
			t.Error(got)
		}
	})
}

// TestApplyOfWhatForbidsItself has commands change what the modes of directories and files forbid, before or after. Root
// may do all of it anyway.
func TestApplyOfWhatForbidsItself(t *testing.T) {
	forBoth(t, func(t *testing.T, o Options) {
		for _, d := range []string{"was", "gone"} {
			write(t, filepath.Join(o.Dir, d, "f"), "old")
			if err := os.Chmod(filepath.Join(o.Dir, d), 0o555); err != nil {
				t.Fatal(err)
			}
		}
		s := open(t, o)
		if r := s.sh(t, "chmod 755 was gone; echo mine > was/f; rm -r gone; mkdir d; echo mine > d/f; chmod 000 d/f d"); r.Exit != 0 {
			t.Fatalf("%+v", r)
		}
		for range 2 {
			if changes, err := s.Changes(); err != nil || describe(changes) != "added d, added d/f, removed gone, removed gone/f, changed was, changed was/f" {
				t.Fatalf("%s, %v", describe(changes), err)
			}
		}
		if _, err := s.Apply(); err != nil {
			t.Fatal(err)
		}
		d := filepath.Join(o.Dir, "d")
		if info, err := os.Lstat(d); err != nil || info.Mode() != fs.ModeDir {
			t.Errorf("d: %v, %v", info, err)
		}
		if err := errors.Join(os.Chmod(d, 0o700), os.Chmod(d+"/f", 0o600)); err != nil {
			t.Fatal(err)
		}
		if got := listing(t, o.Dir); !strings.Contains(got, `d/f -rw------- "mine\n"`) || !strings.Contains(got, `was/f -rw-r--r-- "mine\n"`) || strings.Contains(got, "gone") {
			t.Error(got)
		}
	})
}

// TestWhatAKilledApplyLeft has the file that Apply was about to put in its place when it was killed.
func TestWhatAKilledApplyLeft(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, o Options) error{
		"applied again": func(t *testing.T, o Options) error { _, err := open(t, o).Apply(); return err },
		"discarded":     func(t *testing.T, o Options) error { return open(t, o).Discard() },
		"removed":       func(_ *testing.T, o Options) error { return Remove(o.State) },
	} {
		t.Run(name, func(t *testing.T) {
			forBoth(t, func(t *testing.T, o Options) {
				write(t, filepath.Join(o.Dir, "sub/f"), "old")
				s := open(t, o)
				s.sh(t, "echo mine > sub/f")
				s.state.Applying = 1
				left := filepath.Join(o.Dir, s.temporary("sub/f"))
				write(t, left, "mi")
				if err := errors.Join(s.state.save(s.opt.State), s.Close(), end(t, o)); err != nil {
					t.Fatal(err)
				}
				if _, err := os.Lstat(left); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s is left: %v", left, err)
				}
			})
		})
	}
}

func TestRoomForChanges(t *testing.T) {
	file := &Entry{Mode: 0o644, Size: 3 << 20}
	changes := []Change{{Kind: Added, New: &Entry{Mode: fs.ModeDir | 0o755}}, {Kind: Added, New: file}, {Kind: Changed, Old: file, New: file}, {Kind: Removed, Old: file}}
	for _, c := range []struct {
		bytes, files int64
		want         string
	}{
		{6 << 20, 3, ""},
		{6<<20 - 1, 3, "the changes need 6 MiB, and 5 MiB are free"},
		{math.MaxInt64, 2, "the changes need 3 more files, and there is room for 2"},
		{math.MaxInt64, math.MaxInt64, ""},
	} {
		if got := lacks(changes, c.bytes, c.files); got != c.want {
			t.Errorf("%d bytes, %d files: %q, want %q", c.bytes, c.files, got, c.want)
		}
	}
	if files := freeFiles(t.TempDir()); files <= 0 {
		t.Errorf("%d files free", files)
	}
}

func TestSightsAreKept(t *testing.T) {
	dir := t.TempDir()
	s := Sandbox{opt: Options{State: dir}, seen: map[string]sight{}}
	first := []sight{{path: "new\nline\xff\"", there: true, mode: 0}, {path: "d", there: true, mode: fs.ModeDir | fs.ModeSticky | 0o755, late: true}}
	if err := s.see(first); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, seenFile), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`420 false "half`); err != nil { // of a crash
		t.Fatal(err)
	}
	if err := errors.Join(f.Close(), s.see([]sight{{path: "d"}, {path: "none"}})); err != nil {
		t.Fatal(err)
	}
	again, err := loadSeen(dir)
	if err != nil || len(again) != 3 {
		t.Fatalf("%v, %v", again, err)
	}
	for _, w := range append(first, sight{path: "none"}) {
		if again[w.path] != w {
			t.Errorf("%+v, want %+v", again[w.path], w)
		}
	}
}
