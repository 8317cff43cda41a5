// Mutants puts small faults into the code, one at a time, and runs the test that must
// notice each. It says which faults no test notices: behind each is a promise that
// nobody keeps.
//
//	go run ./internal/mutants [-run REGEXP] [-budget 45m] [-list]
//
// The faults stand in internal/mutants/faults, a file for each part of the program.
// Nothing in the tree is changed: go test gets the faulty file as an overlay. A test
// that does not end, or code that does not compile, is no proof that a fault was
// noticed, and counts as a failure of the list.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// maxTestTime bounds one run of a test; those on the list take seconds.
const maxTestTime = 2 * time.Minute

func main() {
	only := flag.String("run", "", "only faults whose file of faults, name or changed file matches this regular expression")
	budget := flag.Duration("budget", 90*time.Minute, "stop after this time, and say what was not run")
	list := flag.Bool("list", false, "list the faults and run nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *budget)
	defer cancel()
	if err := run(ctx, *only, *list); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only string, list bool) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	match, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	all, err := readFaults(filepath.Join(root, "internal", "mutants", "faults"))
	if err != nil {
		return err
	}
	var faults []fault
	for _, f := range all {
		if match.MatchString(f.at + " " + f.name + " " + f.file) {
			faults = append(faults, f)
		}
	}
	if list {
		for _, f := range faults {
			fmt.Printf("%-24s %s (%s; %s)\n", f.at, f.name, f.file, f.test)
		}
		return nil
	}
	w := worker{root: root, passes: map[string]error{}}
	counts := map[verdict]int{}
	for i, f := range faults {
		v, detail := w.try(ctx, f)
		if ctx.Err() != nil {
			return fmt.Errorf("stopped after %d of %d faults: %w", i, len(faults), context.Cause(ctx))
		}
		counts[v]++
		fmt.Printf("%3d/%d %-9s %s: %s\n", i+1, len(faults), v, f.at, f.name)
		if v != noticed {
			fmt.Printf("        %s %s\n%s", f.pkg, f.test, indent(detail))
		}
	}
	fmt.Printf("%d faults: %d noticed, %d survived, %d unusable\n", len(faults), counts[noticed], counts[survived], counts[unusable])
	if counts[noticed] != len(faults) {
		return errors.New("some faults were not noticed")
	}
	return nil
}

// verdict is what became of a fault.
type verdict string

const (
	noticed  verdict = "noticed"
	survived verdict = "SURVIVED"
	unusable verdict = "UNUSABLE" // the fault or its test does not work
)

// worker tries faults one after the other.
type worker struct {
	root   string
	passes map[string]error // by package and test: whether it passes without a fault
}

// try runs the fault's test without the fault, where it was not run yet, and with it.
func (w *worker) try(ctx context.Context, f fault) (verdict, string) {
	source, err := os.ReadFile(filepath.Join(w.root, f.file))
	if err != nil {
		return unusable, err.Error()
	}
	faulty, err := f.apply(string(source))
	if err != nil {
		return unusable, err.Error()
	}
	key := f.pkg + " " + f.test
	if _, known := w.passes[key]; !known {
		out, err := w.test(ctx, f, nil)
		if err == nil && strings.Contains(out, "no tests to run") {
			err = fmt.Errorf("no test matches")
		} else if err != nil {
			err = fmt.Errorf("fails without the fault: %w\n%s", err, tail(out))
		}
		w.passes[key] = err
	}
	if err := w.passes[key]; err != nil {
		return unusable, err.Error()
	}
	out, err := w.test(ctx, f, []byte(faulty))
	switch {
	case err == nil:
		return survived, ""
	case strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]"):
		return unusable, "does not compile:\n" + tail(out)
	case strings.Contains(out, "panic: test timed out"):
		return unusable, "the test does not end with the fault in it:\n" + tail(out)
	}
	return noticed, ""
}

// test runs the fault's test, with other content of its file if there is one.
func (w *worker) test(ctx context.Context, f fault, content []byte) (string, error) {
	args := []string{"test", "-vet=off", "-count=1", "-timeout", maxTestTime.String(), "-run", "^(" + f.test + ")$"}
	if content != nil {
		dir, err := os.MkdirTemp("", "recount-mutants-")
		if err != nil {
			return "", err
		}
		defer os.RemoveAll(dir)
		name, overlay := filepath.Join(dir, "faulty.go"), filepath.Join(dir, "overlay.json")
		b, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(w.root, f.file): name}})
		if err != nil {
			return "", err
		}
		if err := errors.Join(os.WriteFile(name, content, 0o600), os.WriteFile(overlay, b, 0o600)); err != nil {
			return "", err
		}
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, f.pkg)...)
	cmd.Dir = w.root
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// tail is the last lines of what a test printed.
func tail(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}

func indent(s string) string {
	if s == "" {
		return ""
	}
	return "        " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n        ") + "\n"
}
