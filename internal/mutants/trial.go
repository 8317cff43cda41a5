package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxTestTime limits one run of a test; those on the list take seconds.
const maxTestTime = 2 * time.Minute

// verdict is the result for a fault.
type verdict string

const (
	noticed  verdict = "noticed"
	survived verdict = "SURVIVED"
	unusable verdict = "UNUSABLE" // the fault or its test does not work
)

// suite is the compiled tests of a package, including the faults that they must detect.
type suite struct {
	pkg    string
	faults []numbered
	dir    string // the package's directory, in which its tests run
	choice string // the file that selects the active fault
	binary string
	err    error            // why it was not built
	alone  map[int]string   // by number: the test binaries with a fault that could not be woven in
	broken map[int]error    // by number: why a fault is not in the binary
	passes map[string]error // by test: whether it passes without a fault
	built  time.Duration
}

// build compiles the suites of all faults, in order, one ahead of the receiver. The returned
// function waits until it has stopped, which it does early when nothing is received any more.
func build(ctx context.Context, root, tmp string, faults []fault) (<-chan *suite, func()) {
	ctx, cancel := context.WithCancel(ctx)
	suites, done := make(chan *suite), make(chan struct{})
	var all []*suite
	for i, f := range faults {
		if i == 0 || faults[i-1].pkg != f.pkg {
			dir := filepath.Join(tmp, strconv.Itoa(len(all)))
			all = append(all, &suite{
				pkg: f.pkg, dir: filepath.Join(root, f.pkg), choice: filepath.Join(tmp, "selected"), binary: filepath.Join(dir, "sound.test"),
				alone: map[int]string{}, broken: map[int]error{}, passes: map[string]error{},
			})
		}
		s := all[len(all)-1]
		s.faults = append(s.faults, numbered{f, i + 1})
	}
	go func() {
		defer close(done)
		defer close(suites)
		for _, s := range all {
			began := time.Now()
			s.err = s.build(ctx, root)
			s.built = time.Since(began)
			select {
			case suites <- s:
			case <-ctx.Done():
				return
			}
		}
	}()
	return suites, func() { cancel(); <-done }
}

// place matches the location of a compiler error.
var place = regexp.MustCompile(`(?m)^([^\s:]+\.go):([0-9]+):[0-9]+: .*$`)

// build compiles the tests with all faults woven in, except those that do not compile.
func (s *suite) build(ctx context.Context, root string) error {
	for {
		overlay, files := map[string]string{}, map[string]woven{}
		for _, f := range s.faults {
			if _, known := files[f.file]; known || s.broken[f.number] != nil || s.alone[f.number] != "" {
				continue
			}
			w, err := s.weave(ctx, root, f.file)
			if err != nil {
				return err
			}
			files[f.file] = w
			overlay[filepath.Join(root, f.file)] = w.source
			overlay[filepath.Join(root, filepath.Dir(f.file), "recount_fault.go")] = selector(w.pkg, s.choice)
		}
		out, err := compile(ctx, root, s.pkg, s.binary, overlay)
		if err == nil {
			return nil
		}
		found := 0
		for _, m := range place.FindAllStringSubmatch(out, -1) {
			for file, w := range files {
				line, _ := strconv.Atoi(m[2])
				if n := w.lineAt(line); n > 0 && filepath.Base(file) == filepath.Base(m[1]) && s.broken[n] == nil {
					s.broken[n] = fmt.Errorf("does not compile: %s", m[0])
					found++
				}
			}
		}
		if found == 0 || ctx.Err() != nil {
			return fmt.Errorf("does not compile: %w\n%s", err, tail(out))
		}
	}
}

// weave inserts the faults of a file into it, as far as possible. The others are compiled
// separately.
func (s *suite) weave(ctx context.Context, root, file string) (woven, error) {
	source, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return woven{}, err
	}
	var of []numbered
	for _, f := range s.faults {
		if f.file != file || s.broken[f.number] != nil || s.alone[f.number] != "" {
			continue
		}
		_, err := weave(string(source), []numbered{f})
		switch {
		case errors.Is(err, errNoFunction):
			faulty, err := f.apply(string(source))
			if err != nil {
				return woven{}, err
			}
			binary := filepath.Join(filepath.Dir(s.binary), fmt.Sprintf("%d.test", f.number))
			if out, err := compile(ctx, root, s.pkg, binary, map[string]string{filepath.Join(root, file): faulty}); err != nil {
				s.broken[f.number] = fmt.Errorf("does not compile: %w\n%s", err, tail(out))
			} else {
				s.alone[f.number] = binary
			}
		case err != nil:
			s.broken[f.number] = err
		default:
			of = append(of, f)
		}
	}
	return weave(string(source), of)
}

// compile builds a package's test binary with replaced contents of files and without debugging
// information, and returns the compiler's output.
func compile(ctx context.Context, root, pkg, binary string, contents map[string]string) (string, error) {
	dir := binary + ".files"
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for file, content := range contents {
		at := filepath.Join(dir, strconv.Itoa(len(replace)), filepath.Base(file))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(content), 0o600)); err != nil {
			return "", err
		}
		replace[file] = at
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, b, 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", binary, pkg)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// try runs the fault's test without the fault, unless that was done, and with it.
func (s *suite) try(ctx context.Context, f numbered) (verdict, string) {
	if err := errors.Join(s.err, s.broken[f.number]); err != nil {
		return unusable, err.Error()
	}
	if _, known := s.passes[f.test]; !known {
		s.passes[f.test] = s.sound(ctx, f.test)
	}
	if err := s.passes[f.test]; err != nil {
		return unusable, err.Error()
	}
	binary, number := s.binary, f.number
	if alone := s.alone[f.number]; alone != "" {
		binary, number = alone, 0
		defer os.Remove(alone)
	}
	out, err := s.run(ctx, binary, number, f.test)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return survived, ""
	case !errors.As(err, &exit):
		return unusable, err.Error()
	case strings.Contains(out, "panic: test timed out"):
		return unusable, "the test does not end with the fault in it:\n" + tail(out)
	}
	return noticed, ""
}

// sound runs a test without a fault, and returns why its result is not conclusive.
func (s *suite) sound(ctx context.Context, test string) error {
	out, err := s.run(ctx, s.binary, 0, test)
	switch {
	case err != nil:
		return fmt.Errorf("fails without the fault: %w\n%s", err, tail(out))
	case strings.Contains(out, "no tests to run"):
		return errors.New("no test matches")
	}
	return nil
}

// run runs a test as go test would, with one active fault, or none.
func (s *suite) run(ctx context.Context, binary string, number int, test string) (string, error) {
	if err := os.WriteFile(s.choice, []byte(strconv.Itoa(number)), 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, binary, "-test.paniconexit0", "-test.timeout", maxTestTime.String(), "-test.run", "^("+test+")$")
	cmd.Dir = s.dir
	cmd.WaitDelay = time.Second // a child of a killed test may hold its output
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// remove removes the compiled files.
func (s *suite) remove() error { return os.RemoveAll(filepath.Dir(s.binary)) }

// tail returns the last lines of a test's output.
func tail(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}

// byPackage sorts the faults by the package whose tests must detect them.
func byPackage(faults []fault) {
	slices.SortStableFunc(faults, func(a, b fault) int { return strings.Compare(a.pkg, b.pkg) })
}
