package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query/code"
)

// runtimeFlags add the callers seen at runtime to an answer about code.
type runtimeFlags struct {
	on bool
	w  windowFlags
}

func (f *runtimeFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.on, "runtime", false, "also show services that called it, according to spans")
	f.w.addRange(c)
}

// window returns the time window of the flags, nil if runtime callers are not requested.
func (f *runtimeFlags) window(now time.Time) (*code.RuntimeWindow, error) {
	if !f.on {
		if f.w.since+f.w.from+f.w.to != "" {
			return nil, usage.Errorf("--since, --from and --to: only with --runtime")
		}
		return nil, nil
	}
	w, err := f.w.window(now)
	return &code.RuntimeWindow{From: w.From, To: w.To, At: w.At}, err
}
