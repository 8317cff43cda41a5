// Command notices writes the notices about third-party code in a release: THIRD-PARTY-NOTICES.txt
// with the licences and notices of every linked module, and recount.spdx.json, a bill of materials
// with the same content (SPDX 2.3).
//
//	go run ./internal/notices -o DIR [-version 1.2.3]
//
// It reads the modules listed by `go list` for every platform of a release, and their texts in the
// module cache. It fails if a module's licence is unknown or not allowed (licences.go). Its test
// makes the same check for every change.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// programs are the programs of a release.
var programs = []string{
	"github.com/recountdb/recount/cmd/recount", "github.com/recountdb/recount/cmd/recount-front",
	"github.com/recountdb/recount/cmd/recount-local", "github.com/recountdb/recount/cmd/recount-record",
	"github.com/recountdb/recount/cmd/recount-pipeline",
}

func main() {
	out := flag.String("o", "", "the folder to write to, made if it is not there")
	version := flag.String("version", "0.1.0-dev", "the release's version, for the bill of materials")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "notices: say where to write: -o DIR")
		os.Exit(2)
	}
	if err := run(*out, *version); err != nil {
		fmt.Fprintf(os.Stderr, "notices: %s\n", err)
		os.Exit(1)
	}
}

func run(dir, version string) error {
	all, err := linked(programs...)
	if err != nil {
		return err
	}
	if err := check(all); err != nil {
		return err
	}
	created := time.Now()
	if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
		s, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil {
			return fmt.Errorf("SOURCE_DATE_EPOCH=%s: want seconds since 1970", epoch)
		}
		created = time.Unix(s, 0)
	}
	bill, err := spdx(all, version, created)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "recount.spdx.json"), bill, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "THIRD-PARTY-NOTICES.txt"), notices(all), 0o644)
}
