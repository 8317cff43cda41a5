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
	"strings"
	"time"
)

// maxTestTime bounds one run of a test; those on the list take seconds.
const maxTestTime = 2 * time.Minute

// verdict is what became of a fault.
type verdict string

const (
	noticed  verdict = "noticed"
	survived verdict = "SURVIVED"
	unusable verdict = "UNUSABLE" // the fault or its test does not work
)

// suite is the compiled tests of a package without a fault.
type suite struct {
	dir    string // the package's folder, in which its tests run
	binary string
	err    error            // why it was not built
	passes map[string]error // by test: whether it passes without a fault
}

// trial is a fault and the compiled tests that have it in them.
type trial struct {
	fault
	sound     *suite
	binary    string // removed after its run
	err       error  // why it was not built
	built     time.Duration
	ran       time.Duration
	lastSound string // a binary of the package before, which no trial needs any more
}

// build compiles the tests of every fault, in order, one ahead of what the receiver has
// taken. The function that it returns waits until it has stopped, which it does early
// when ctx ends or when trials are not received any more.
func build(ctx context.Context, root, tmp string, faults []fault) (<-chan *trial, func()) {
	ctx, cancel := context.WithCancel(ctx)
	trials, done := make(chan *trial), make(chan struct{})
	go func() {
		defer close(done)
		defer close(trials)
		var s *suite
		for i, f := range faults {
			began, t := time.Now(), &trial{fault: f, binary: filepath.Join(tmp, fmt.Sprintf("%d.test", i))}
			if i == 0 || faults[i-1].pkg != f.pkg {
				if s != nil {
					t.lastSound = s.binary
				}
				s = &suite{dir: filepath.Join(root, f.pkg), binary: filepath.Join(tmp, fmt.Sprintf("%d.sound.test", i)), passes: map[string]error{}}
				s.err = compile(ctx, root, f.pkg, s.binary)
			}
			t.sound = s
			t.err = buildFaulty(ctx, root, tmp, t)
			t.built = time.Since(began)
			select {
			case trials <- t:
			case <-ctx.Done():
				return
			}
		}
	}()
	return trials, func() { cancel(); <-done }
}

// buildFaulty compiles the tests of a trial with its fault in them.
func buildFaulty(ctx context.Context, root, tmp string, t *trial) error {
	at := filepath.Join(root, t.file)
	source, err := os.ReadFile(at)
	if err != nil {
		return err
	}
	faulty, err := t.apply(string(source))
	if err != nil {
		return err
	}
	file, overlay := filepath.Join(tmp, "faulty.go"), filepath.Join(tmp, "overlay.json")
	b, err := json.Marshal(map[string]any{"Replace": map[string]string{at: file}})
	if err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(file, []byte(faulty), 0o600), os.WriteFile(overlay, b, 0o600)); err != nil {
		return err
	}
	return compile(ctx, root, t.pkg, t.binary, "-overlay", overlay)
}

// compile makes a package's test binary, without what only debuggers read.
func compile(ctx context.Context, root, pkg, binary string, flags ...string) error {
	args := append([]string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", binary}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, pkg)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("does not compile: %w\n%s", err, tail(string(out)))
	}
	return nil
}

// run runs the trial's test without the fault, where it was not run yet, and with it.
func (t *trial) run(ctx context.Context) (verdict, string) {
	began := time.Now()
	defer func() { t.ran = time.Since(began) }()
	defer os.Remove(t.binary)
	if t.lastSound != "" {
		os.Remove(t.lastSound)
	}
	if err := errors.Join(t.sound.err, t.err); err != nil {
		return unusable, err.Error()
	}
	if _, known := t.sound.passes[t.test]; !known {
		t.sound.passes[t.test] = t.sound.try(ctx, t.test)
	}
	if err := t.sound.passes[t.test]; err != nil {
		return unusable, err.Error()
	}
	out, err := runTest(ctx, t.sound.dir, t.binary, t.test)
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

// try runs a test without a fault, and returns why it can show nothing.
func (s *suite) try(ctx context.Context, test string) error {
	out, err := runTest(ctx, s.dir, s.binary, test)
	switch {
	case err != nil:
		return fmt.Errorf("fails without the fault: %w\n%s", err, tail(out))
	case strings.Contains(out, "no tests to run"):
		return errors.New("no test matches")
	}
	return nil
}

// runTest runs one test of a compiled package as go test would.
func runTest(ctx context.Context, dir, binary, test string) (string, error) {
	cmd := exec.CommandContext(ctx, binary, "-test.paniconexit0", "-test.timeout", maxTestTime.String(), "-test.run", "^("+test+")$")
	cmd.Dir = dir
	cmd.WaitDelay = time.Second // a child of a killed test may hold its output
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// tail is the last lines of what a test printed.
func tail(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}
