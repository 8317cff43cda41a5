package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/query/code"
)

// runtimeFlags add the callers seen at runtime to an answer about code.
type runtimeFlags struct {
	on bool
	w  windowFlags
}

func (f *runtimeFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.on, "runtime", false, "also show who really calls it, by spans")
	f.w.addRange(c)
}

// window returns the time window of the flags, nil if runtime callers are not requested.
func (f *runtimeFlags) window(now time.Time) (*code.RuntimeWindow, error) {
	if !f.on {
		if f.w.since+f.w.from+f.w.to != "" {
			return nil, usagef("--since, --from and --to: only with --runtime")
		}
		return nil, nil
	}
	w, err := f.w.window(now)
	return &code.RuntimeWindow{From: w.From, To: w.To, At: w.At}, err
}

// printRunning prints the callers seen at runtime, separate from those in the code.
func (a *app) printRunning(r *code.RuntimeUse) {
	if r == nil {
		return
	}
	a.printf("\n%s\n", a.paint(cyan, "at run time"))
	for _, x := range r.Callers {
		caller := x.Caller
		if caller == "" {
			caller = "somebody without spans"
		}
		failed := ""
		if x.Errors > 0 {
			failed = a.paint(red, fmt.Sprintf(" (%s failed)", thousands(int64(x.Errors))))
		}
		a.printf("  %s → %s %s  %s×%s  %s\n", a.paint(cyan, oneLine(caller)), oneLine(x.Service), a.paint(bold, oneLine(x.Operation)), thousands(int64(x.Count)), failed,
			a.paint(dim, fmt.Sprintf("last %sZ, confidence %.2f", x.Last.UTC().Format(time.DateTime), x.Confidence)))
		away := ""
		if x.Distance > 0 {
			away = fmt.Sprintf(", %d away", x.Distance)
		}
		trace := ""
		if x.Trace != "" {
			trace = ", as in trace " + x.Trace
		}
		a.printf("      %s%s%s\n", a.symbolLine(x.Handler), a.paint(dim, "  by "+x.Rule+away+trace), sure(x.Sure))
	}
	a.truncated(r.Truncated, "--limit shows more")
	if r.Hint != "" {
		a.printf("  %s\n", a.paint(dim, oneLine(r.Hint)))
	}
}
