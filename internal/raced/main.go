// Command raced prints the packages of the module in the current directory whose tests the race
// detector can find something in: those whose tests, or any code linked with them outside the
// standard library, may start a goroutine. `make race` runs these alone.
//
//	go run ./internal/raced
//
// A race needs two goroutines. What may start one is recognised by its text, so that a package is
// printed rather once too often: a go statement, a method or function that runs what it is given
// beside its caller (meets), and imports of what does so otherwise (meeting). Libraries count like our
// own code, but for a few (quiet). Packages that import unsafe are printed too, because -race also
// checks conversions of pointers.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	names, err := raced(".")
	if err != nil {
		fmt.Fprintf(os.Stderr, "raced: %s\n", err)
		os.Exit(1)
	}
	for _, name := range names {
		fmt.Println(name)
	}
}

// meets are functions and methods that run what they are given in another goroutine, of any package.
var meets = []string{"Go", "AfterFunc", "Parallel", "RunParallel", "AddCleanup", "SetFinalizer"}

// meeting are packages that start goroutines otherwise: of the standard library those below net too,
// but for apart; of libraries, compressors that are imported by other than quiet ones.
var (
	meeting = []string{
		"crypto/tls", "database/sql", "expvar", "go/importer", "go/types", "log/syslog", "net", "os/exec", "os/signal", "plugin", "runtime/pprof", "runtime/trace", "testing/synctest",
		"github.com/klauspost/compress/s2", "github.com/pierrec/lz4/v4",
	}
	apart = []string{"net/mail", "net/netip", "net/textproto", "net/url"}
)

// quiet are packages of libraries that have what starts goroutines, and why that is nothing to look for.
var quiet = map[string]string{
	"github.com/apache/arrow-go/v18/arrow/ipc":     "schemas describes tables with it; only what reads and writes streams starts goroutines",
	"github.com/google/go-cmp/cmp":                 "calls functions that compare twice at once, to find those that are not pure",
	"github.com/klauspost/compress/huff0":          "linked by zstd",
	"github.com/klauspost/compress/zstd":           "schemas compresses whole texts with it; only streams start goroutines",
	"github.com/pierrec/lz4/v4":                    "linked by arrow/ipc",
	"github.com/pierrec/lz4/v4/internal/lz4stream": "linked by arrow/ipc",
	"github.com/smacker/go-tree-sitter":            "waits for the end of a context beside each parse; finalizers free what C allocated",
	"golang.org/x/tools/go/ast/astutil":            "imports go/types for its types",
	"mvdan.cc/sh/v3/internal":                      "runs a program for tests of its own",
}

// unit is a package as go list prints it. With its tests it has the name "path [path.test]", and the
// program of the tests is "path.test".
type unit struct {
	ImportPath, Dir, ForTest string
	Standard                 bool
	GoFiles, CgoFiles        []string
	Imports, Deps            []string
}

// raced lists packages of the module in dir, sorted.
func raced(dir string) ([]string, error) {
	cmd := exec.Command("go", "list", "-test", "-deps", "-json=ImportPath,Dir,ForTest,Standard,GoFiles,CgoFiles,Imports,Deps", "./...")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	units := map[string]*unit{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		u := &unit{}
		if err := dec.Decode(u); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		units[u.ImportPath] = u
	}
	var names []string
	known := map[string]bool{}
	for path, program := range units {
		name, isTest := strings.CutSuffix(path, ".test")
		if !isTest || strings.Contains(path, " ") {
			continue
		}
		found := false
		for _, dep := range program.Deps {
			u := units[dep]
			if u == nil || u.Standard || quiet[u.ImportPath] != "" {
				continue
			}
			own := u.ImportPath == name || u.ForTest == name
			if own && slices.Contains(u.Imports, "unsafe") {
				found = true
				break
			}
			may, seen := known[dep]
			if !seen {
				if may, err = u.mayMeet(); err != nil {
					return nil, err
				}
				known[dep] = may
			}
			if found = may; found {
				break
			}
		}
		if found {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// mayMeet reports whether the package's text has something that starts a goroutine.
func (u *unit) mayMeet() (bool, error) {
	for _, path := range u.Imports {
		if slices.Contains(meeting, path) || strings.HasPrefix(path, "net/") && !slices.Contains(apart, path) {
			return true, nil
		}
	}
	for _, name := range slices.Concat(u.GoFiles, u.CgoFiles) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(u.Dir, name)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return false, err
		}
		if starts(text) {
			return true, nil
		}
	}
	return false, nil
}

// starts reports whether a file has a go statement, or names one of meets after a dot.
func starts(text []byte) bool {
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile("", files.Base(), len(text)), text, nil, 0)
	for last := token.ILLEGAL; ; {
		_, what, literal := s.Scan()
		switch {
		case what == token.EOF:
			return false
		case what == token.GO, what == token.IDENT && last == token.PERIOD && slices.Contains(meets, literal):
			return true
		}
		last = what
	}
}
