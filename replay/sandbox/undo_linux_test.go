package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAStepIsTakenBack has a sandbox that ends in the middle of a step: what the step did is taken back, or all of it stays.
func TestAStepIsTakenBack(t *testing.T) {
	const before = `echo 1 >> log; echo 1 > new; mkdir own; echo 1 > own/f; rm gone; echo 1 > /tmp/t; echo 1 > ~/h; rm -r replaced; mkdir replaced; echo 1 > replaced/new`
	for name, c := range map[string]struct {
		step  string
		paths []string // what it is known to write
		back  bool
	}{
		"nothing":                        {"true", nil, true},
		"new files":                      {"echo 2 > x; mkdir -p y/z; echo 2 > y/z/f; ln -s x l; echo 2 > own/g; echo 2 > /tmp/u; echo 2 > ~/i", nil, true},
		"files of the directory":         {"echo 2 >> real; rm other; mv sub/f sub/g; chmod 700 sub", nil, true},
		"a directory of the directory":   {"rm -r sub; mkdir sub; echo 2 > sub/f", nil, true},
		"a file that it is known to add": {"echo 2 >> log; echo 2 > x", []string{"log"}, true},
		"one that it removes":            {"rm log new", []string{"log", "new"}, true},
		"one that it replaces":           {"rm log; mkdir log; sed -i s/1/2/ new", []string{"log", "new"}, true},
		"one below what it writes":       {"echo 2 > own/f", []string{"own"}, true},
		"one of /tmp":                    {"echo 2 > /tmp/t", []string{"/tmp/t"}, true},
		"a file that it is not known to": {"echo 2 >> log", nil, false},
		"one that is removed":            {"rm new", nil, false},
		"one that is renamed":            {"mv new newer", nil, false},
		"a directory that is renamed":    {"mv own owner", nil, false},
		"a directory that is replaced":   {"rm -r own; mkdir own; echo 1 > own/f", nil, false},
		"a directory's mode":             {"chmod 700 own", nil, false},
		"one that was removed":           {"echo 2 > gone", nil, false},
		"/tmp":                           {"echo 2 >> /tmp/t", nil, false},
		"the home":                       {"rm ~/h", nil, false},
		"it moves something along":       {"mkdir y; mv new y", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			for _, f := range []string{"log", "real", "other", "gone", "sub/f", "sub/g", "replaced/old"} {
				write(t, filepath.Join(o.Dir, f), "0\n")
			}
			s := open(t, o)
			if s.state.Copy {
				t.Skip("the view is a copy")
			}
			if r := s.sh(t, before); r.Exit != 0 {
				t.Fatalf("%+v", r)
			}
			const look = `find . /tmp ~ ! -type d -exec sh -c 'for f; do echo "$f"; stat -c %A "$f"; cat "$f"; done' sh {} + ; find . -printf '%p %m\n' | sort`
			was := s.sh(t, look).Output
			paths := []string{}
			for _, p := range c.paths {
				if !filepath.IsAbs(p) {
					p = filepath.Join(o.Dir, p)
				}
				paths = append(paths, p)
			}
			s.Begin("7", paths)
			if r := s.sh(t, c.step); r.Exit != 0 {
				t.Fatalf("%+v", r)
			}
			done := s.sh(t, look).Output
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, o)
			want, step := done, ""
			if c.back {
				want, step = was, "7"
			}
			if got := s.sh(t, look).Output; got != want || s.TakenBack() != step {
				t.Errorf("taken back: %q\n%s\nwant\n%s", s.TakenBack(), got, want)
			}
			if _, err := os.Lstat(filepath.Join(s.opt.State, "step")); err == nil {
				t.Error("it would be taken back again")
			}
		})
	}
}

// TestAStepThatEndedStays checks that nothing is taken back after End, nor after a crash of the machine.
func TestAStepThatEndedStays(t *testing.T) {
	for _, end := range []func(s *Sandbox){
		(*Sandbox).End,
		func(s *Sandbox) {
			_ = os.WriteFile(filepath.Join(s.opt.State, "step", "mark"), []byte(`{"step":"7","boot":"an`), 0o600)
		},
		func(s *Sandbox) {
			_ = os.WriteFile(filepath.Join(s.opt.State, "step", "mark"), []byte(`{"step":"7","boot":"another"}`), 0o600)
		},
	} {
		s := open(t, options(t))
		s.Begin("7", nil)
		s.sh(t, "echo 1 > f")
		end(s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, s.opt)
		if r := s.sh(t, "cat f"); r.Output != "1\n" || s.TakenBack() != "" {
			t.Errorf("%+v, %q", r, s.TakenBack())
		}
	}
}
