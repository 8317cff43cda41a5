package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// fault is one small mistake inserted into the code, with the test that must detect it.
//
// In a file of faults it is a block of lines, ended by an empty line:
//
//	fault the batch is acknowledged before it is durable
//	file pipeline/broker/storage/commit.go
//	in finish
//	test ./pipeline/broker TestCrash
//	- if err := batch.SyncWait(); err != nil {
//	+ if err := error(nil); err != nil {
//
// The lines after "-" are consecutive lines of the file, which occur once in it, or once in the
// function named by "in"; indentation is ignored. The lines after "+" replace them. A line that
// begins with "#" is a comment.
type fault struct {
	name string
	at   string // the start of the block: file and line, for messages
	file string // relative to the module's root
	in   string // a function of the file, or "" for the whole file
	pkg  string
	test string // a regular expression for go test -run, without anchors
	old  []string
	new  []string
}

// readFaults reads every file of faults in a directory, sorted by name.
func readFaults(dir string) ([]fault, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("no files of faults in %s: %w", dir, err)
	}
	var all []fault
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		faults, err := parseFaults(f, filepath.Base(name))
		f.Close()
		if err != nil {
			return nil, err
		}
		all = append(all, faults...)
	}
	return all, nil
}

func parseFaults(r io.Reader, name string) ([]fault, error) {
	var all []fault
	var cur *fault
	end := func() error {
		if cur == nil {
			return nil
		}
		if cur.file == "" || cur.pkg == "" || cur.test == "" || len(cur.old) == 0 {
			return fmt.Errorf("%s: fault %q: want file, test and lines to replace", cur.at, cur.name)
		}
		all = append(all, *cur)
		cur = nil
		return nil
	}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		word, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		at := fmt.Sprintf("%s:%d", name, n)
		switch {
		case strings.HasPrefix(line, "#"):
			continue
		case line == "":
			if err := end(); err != nil {
				return nil, err
			}
			continue
		case word == "fault" && cur == nil:
			cur = &fault{name: rest, at: at}
			continue
		case cur == nil:
			return nil, fmt.Errorf("%s: want a line that begins with \"fault\", not %q", at, line)
		}
		switch word {
		case "file":
			cur.file = rest
		case "in":
			cur.in = rest
		case "test":
			cur.pkg, cur.test, _ = strings.Cut(rest, " ")
		case "-":
			cur.old = append(cur.old, rest)
		case "+":
			cur.new = append(cur.new, rest)
		default:
			return nil, fmt.Errorf("%s: %q: want file, in, test, - or +", at, word)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return all, end()
}

// apply returns the file's source with the fault in it.
func (f fault) apply(source string) (string, error) {
	lines := strings.SplitAfter(source, "\n")
	from, to := 0, len(lines)
	if f.in != "" {
		var ok bool
		if from, to, ok = function(lines, f.in); !ok {
			return "", fmt.Errorf("%s: %s has no function %s", f.at, f.file, f.in)
		}
	}
	found := -1
	for i := from; i+len(f.old) <= to; i++ {
		if !matches(lines[i:i+len(f.old)], f.old) {
			continue
		}
		if found >= 0 {
			return "", fmt.Errorf("%s: the lines of %q stand in %s at %d and at %d: name the function with \"in\"", f.at, f.name, f.file, found+1, i+1)
		}
		found = i
	}
	if found < 0 {
		return "", fmt.Errorf("%s: the lines of %q are not in %s: it has changed; mend the fault or remove it", f.at, f.name, f.file)
	}
	return strings.Join(lines[:found], "") + strings.Join(f.new, "\n") + "\n" + strings.Join(lines[found+len(f.old):], ""), nil
}

func matches(lines, want []string) bool {
	for i, w := range want {
		if strings.TrimSpace(lines[i]) != w {
			return false
		}
	}
	return true
}

// function returns the range of lines of the function or method with a name.
func function(lines []string, name string) (from, to int, ok bool) {
	for i, line := range lines {
		switch {
		case !ok && strings.HasPrefix(line, "func ") && (strings.HasPrefix(line, "func "+name+"(") || strings.Contains(line, ") "+name+"(") || strings.HasPrefix(line, "func "+name+"[")):
			from, ok = i, true
		case ok && strings.HasPrefix(line, "}"):
			return from, i, true
		}
	}
	return 0, 0, false
}
