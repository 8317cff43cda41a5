// Classifier measures how often the category that the command processor gives
// agrees with labels given by hand (testdata/README.md).
//
//	go -C bench run ./classifier [-labels FILE] [-misses]
//
// The half of the commands whose SHA-256 begins with an even byte may be used to develop
// the rules; the other half is only counted.
package main

import (
	"bufio"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/recountdb/recount/processors/command"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func main() {
	labels := flag.String("labels", "classifier/testdata/labels.tsv", "tab-separated category, stratum, command")
	misses := flag.Bool("misses", false, "list what is wrong in the half that may be looked at")
	flag.Parse()
	in, err := os.Open(*labels)
	if err == nil {
		err = report(os.Stdout, in, *misses)
		in.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "classifier:", err)
		os.Exit(1)
	}
}

var names = []string{"build", "deploy", "debug", "configure", "query", "navigate", "other"}

// score counts agreement and confusions.
type score struct {
	right, all int
	confusion  map[[2]string]int
}

func (s *score) add(want, got string) {
	if s.confusion == nil {
		s.confusion = map[[2]string]int{}
	}
	s.all++
	if want == got {
		s.right++
	}
	s.confusion[[2]string{want, got}]++
}

func (s *score) String() string {
	if s.all == 0 {
		return "none"
	}
	return fmt.Sprintf("%d of %d, %.3f", s.right, s.all, float64(s.right)/float64(s.all))
}

// report reads labels and writes accuracies and the confusion of the whole.
func report(w io.Writer, labels io.Reader, misses bool) error {
	var whole, seen, held score
	strata := map[string]*score{}
	var order []string
	sc := bufio.NewScanner(labels)
	sc.Buffer(nil, 1<<20)
	for n := 1; sc.Scan(); n++ {
		parts := strings.SplitN(sc.Text(), "\t", 3)
		if len(parts) != 3 {
			return fmt.Errorf("line %d: want category, stratum and command", n)
		}
		want, stratum, text := parts[0], parts[1], parts[2]
		got, err := classify(text)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		whole.add(want, got)
		if strata[stratum] == nil {
			strata[stratum] = &score{}
			order = append(order, stratum)
		}
		strata[stratum].add(want, got)
		if sum := sha256.Sum256([]byte(text)); sum[0]%2 == 0 {
			seen.add(want, got)
			if misses && want != got {
				fmt.Fprintf(w, "%s, not %s: %s\n", want, got, text)
			}
		} else {
			held.add(want, got)
		}
	}
	if err := sc.Err(); err != nil {
		return err
	}
	fmt.Fprintf(w, "accuracy       %s\n", &whole)
	fmt.Fprintf(w, "  looked at    %s\n", &seen)
	fmt.Fprintf(w, "  held out     %s\n", &held)
	for _, s := range order {
		fmt.Fprintf(w, "  %-12s %s\n", s, strata[s])
	}
	fmt.Fprintf(w, "\n%-10s", "label\\got")
	for _, n := range names {
		fmt.Fprintf(w, "%10s", n)
	}
	fmt.Fprintln(w)
	for _, want := range names {
		fmt.Fprintf(w, "%-10s", want)
		for _, got := range names {
			fmt.Fprintf(w, "%10d", whole.confusion[[2]string{want, got}])
		}
		fmt.Fprintln(w)
	}
	return nil
}

func classify(text string) (string, error) {
	var rec recountv1.Record
	payload := &recountv1.CommandExecuted{Command: text, Cwd: "/home/ann/src/app", Shell: "bash"}
	if err := command.Intent(schemas.Event{Type: schemas.TypeCommandExecuted}, payload, &rec); err != nil {
		return "", err
	}
	return strings.ToLower(strings.TrimPrefix(rec.GetIntent().Category.String(), "CATEGORY_")), nil
}
