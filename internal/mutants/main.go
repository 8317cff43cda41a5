// Mutants inserts small faults into the code, one at a time, and runs the test that must detect
// each. It reports the faults that no test detects: each shows a property that is not tested.
//
//	go run ./internal/mutants [-run REGEXP] [-budget 45m] [-list]
//
// The faults are in internal/mutants/faults, in a file for each part of the program. The source
// tree is not changed: the compiler gets the faulty files as an overlay, with all faults for the
// tests of one package at once, each in a copy of its function that is called when the fault is
// selected (weave.go). So a package is compiled once, while the tests of the previous one run. A
// test that does not end, or code that does not compile, does not prove that a fault was detected,
// and counts as an error in the list.
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
	byPackage(faults)
	began, counts, n := time.Now(), map[verdict]int{}, 0
	suites, wait := build(ctx, root, tmp, faults)
	defer wait()
	for s := range suites {
		fmt.Printf("%s: %d faults, built in %.1f s\n", s.pkg, len(s.faults), s.built.Seconds())
		for _, f := range s.faults {
			start := time.Now()
			v, detail := s.try(ctx, f)
			if ctx.Err() != nil {
				break
			}
			n++
			counts[v]++
			fmt.Printf("%3d/%d %-9s %s: %s (%.1f s)\n", n, len(faults), v, f.at, f.name, time.Since(start).Seconds())
			if v != noticed {
				fmt.Printf("        %s %s\n%s", f.pkg, f.test, indent(detail))
			}
		}
		if err := s.remove(); err != nil || ctx.Err() != nil {
			break
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
