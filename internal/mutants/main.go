// Mutants puts small faults into the code, one at a time, and runs the test that must
// notice each. It says which faults no test notices: behind each is a promise that
// nobody keeps.
//
//	go run ./internal/mutants [-run REGEXP] [-budget 45m] [-list]
//
// The faults stand in internal/mutants/faults, a file for each part of the program.
// Nothing in the tree is changed: the compiler gets the faulty file as an overlay. A test
// that does not end, or code that does not compile, is no proof that a fault was
// noticed, and counts as a failure of the list. One test is built while the one before
// it runs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

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
	tmp, err := os.MkdirTemp("", "recount-mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	// A package's faults stand together, so that its test without a fault is built once.
	slices.SortStableFunc(faults, func(a, b fault) int { return strings.Compare(a.pkg, b.pkg) })
	began, counts, n := time.Now(), map[verdict]int{}, 0
	trials, wait := build(ctx, root, tmp, faults)
	defer wait()
	for t := range trials {
		v, detail := t.run(ctx)
		if ctx.Err() != nil {
			break
		}
		n++
		counts[v]++
		fmt.Printf("%3d/%d %-9s %s: %s (built in %.1f s, ran %.1f s)\n", n, len(faults), v, t.at, t.name, t.built.Seconds(), t.ran.Seconds())
		if v != noticed {
			fmt.Printf("        %s %s\n%s", t.pkg, t.test, indent(detail))
		}
	}
	fmt.Printf("%d faults: %d noticed, %d survived, %d unusable, in %.0f minutes\n", len(faults), counts[noticed], counts[survived], counts[unusable], time.Since(began).Minutes())
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("stopped after %d of %d faults: %w", n, len(faults), err)
	}
	if counts[noticed] != len(faults) {
		return errors.New("some faults were not noticed")
	}
	return nil
}

func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

func indent(s string) string {
	if s == "" {
		return ""
	}
	return "        " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n        ") + "\n"
}
