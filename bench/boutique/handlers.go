package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// handlers returns the places (file:line) that implement the targets of the source's calls.
func handlers() map[pair]string {
	all := map[pair]string{}
	for p, columns := range declaredRows() {
		all[p] = columns[4]
	}
	return all
}

// scoreHandlers compares the handlers in the output of `recount runtime edges --json` with
// the source, and prints the differences.
func scoreHandlers(r io.Reader, w io.Writer) error {
	var answer struct {
		Edges []struct {
			Caller, Callee, Kind, Operation string
			Code                            *struct {
				Symbol *struct {
					File string
					Line int
				}
			}
		}
		Truncated int
	}
	if err := json.NewDecoder(r).Decode(&answer); err != nil {
		return fmt.Errorf("the answer of recount runtime edges --json: %w", err)
	}
	if answer.Truncated > 0 {
		return fmt.Errorf("%d calls are left out: ask with -n 10000", answer.Truncated)
	}
	want := handlers()
	seen, right := 0, 0
	for _, e := range answer.Edges {
		if e.Kind != "rpc" {
			continue
		}
		seen++
		got := "nothing"
		if e.Code != nil && e.Code.Symbol != nil {
			got = fmt.Sprintf("%s:%d", e.Code.Symbol.File, e.Code.Symbol.Line)
		}
		if p := (pair{e.Caller, e.Callee, e.Operation}); got == want[p] {
			right++
		} else {
			fmt.Fprintf(w, "%s → %s %s: handled by %s, want %s\n", p.caller, p.callee, p.procedure, got, want[p])
		}
	}
	_, err := fmt.Fprintf(w, "handlers found: %d of %d\n", right, seen)
	return err
}

// declaredRows returns the rows of declared.tsv by call.
func declaredRows() map[pair][]string {
	all := map[pair][]string{}
	for l := range strings.Lines(declaredTSV) {
		if f := strings.Split(strings.TrimSpace(l), "\t"); !strings.HasPrefix(l, "#") && len(f) == 5 {
			all[pair{f[0], f[1], f[2]}] = f
		}
	}
	return all
}
