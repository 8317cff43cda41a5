// Command wire counts what answers cost a model in tokens (o200k): as compact text, as JSON of the
// same content, and as the API answers.
//
//	go -C bench run ./wire [-v] [DIR…]                     the scorecard of recorded answers
//	go -C bench run ./wire -record URL QUESTIONS DIR       records answers of a server
//
// JSON of the same content has what the text has and nothing else: an object for each row, with the
// names of its fields, numbers as numbers, and no empty fields. Each text is decoded again, and must
// give what was encoded. Source code that an answer quotes costs nearly the same in both, so the
// scorecard also has the answers without it.
//
// The six questions 01 to 06 are those of the fixtures of the system that Recount learned from; in
// its own, contexts had no source code. testdata/recount was looked at while the text was made,
// testdata/flask was not. testdata/openhands has commands of an agent's runs.
//
// DIR has recorded answers, each a file of two turns: an answer, and a later one over the same
// neighbourhood. The default is every folder of wire/testdata. -v prints the text as it is sent, and
// -kinds where its tokens are.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	record := flag.String("record", "", "record answers of the server at this `URL`")
	verbose := flag.Bool("v", false, "print the texts")
	kinds := flag.Bool("kinds", false, "print how many tokens each part of the text takes")
	flag.Parse()
	if err := run(*record, *verbose, *kinds, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "wire:", err)
		os.Exit(1)
	}
}

func run(url string, verbose, kinds bool, args []string) error {
	if url != "" {
		if len(args) != 2 {
			return fmt.Errorf("usage: wire -record URL QUESTIONS DIR")
		}
		return record(url, args[0], args[1])
	}
	if len(args) == 0 {
		var err error
		if args, err = filepath.Glob("wire/testdata/*"); err != nil {
			return err
		}
	}
	for _, dir := range args {
		s, err := measure(dir)
		if err != nil {
			return err
		}
		if verbose {
			s.texts(os.Stdout)
		}
		if kinds {
			s.kinds(os.Stdout)
		}
		s.print(os.Stdout)
	}
	return nil
}
