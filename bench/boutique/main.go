// Command boutique evaluates the service map on a real system: it compares traces of Online
// Boutique, recorded by the authors of Nezha, with the calls that its source declares
// (declared.tsv).
//
//	go -C bench run ./boutique score FILE…                   fold the spans, compare the map
//	recount runtime edges --json -n 10000 | go -C bench run ./boutique handlers
//	go -C bench run ./boutique convert -o DIR FILE…          as OTLP, to send or to import
//	go -C bench run ./boutique part FILE > testdata/part.csv the traces that the test is about
//
// A FILE is one of Nezha's trace files (github.com/IntelligentDDS/Nezha), CSV or,
// with xz installed, CSV.xz: trace, span, parent ("root" for none), pod, operation,
// start and end in nanoseconds. It has no kinds and no attributes, so only the name of a
// call is known. A service is its pod's name without the two hashes.
//
// score prints the pairs of (caller, callee, procedure) that the files have (by a plain
// join of their rows), that Recount's map has, and that the source declares; then recall
// and precision, also after shuffling, splitting, duplicating and skewing clocks by
// minutes. handlers compares the code that Recount names for each call with its
// implementation in the source.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"google.golang.org/protobuf/proto"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("boutique: score, handlers, convert or part? See go -C bench doc ./boutique")
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		log.Fatalf("boutique: %v", err)
	}
}

func run(verb string, args []string) error {
	f := flag.NewFlagSet(verb, flag.ExitOnError)
	dir := f.String("o", "", "convert: the folder to write to")
	seed := f.Uint64("seed", 1, "score: seed of what is shuffled")
	if err := f.Parse(args); err != nil {
		return err
	}
	if verb == "handlers" {
		return scoreHandlers(os.Stdin, os.Stdout)
	}
	var all []span
	for _, file := range f.Args() {
		spans, err := readFile(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, spans...)
	}
	if len(all) == 0 {
		return fmt.Errorf("no spans: name the files")
	}
	switch verb {
	case "score":
		return score(context.Background(), all, *seed, os.Stdout)
	case "part":
		w := bufio.NewWriter(os.Stdout)
		writePart(w, all)
		return w.Flush()
	case "convert":
		if *dir == "" {
			return fmt.Errorf("convert: -o is required")
		}
		if err := os.MkdirAll(*dir, 0o755); err != nil {
			return err
		}
		for i, e := range exports(all, perExport) {
			b, err := proto.Marshal(e.data)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(*dir, fmt.Sprintf("%06d-%s.binpb", i, e.service)), b, 0o644); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%q is none of score, handlers, convert and part", verb)
}
