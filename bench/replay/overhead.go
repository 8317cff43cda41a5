package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"time"

	"github.com/recountdb/recount/replay/sandbox"
)

// overhead prints what the sandbox adds to a step: `bash -c true` inside and outside, in turn, and
// how long a sandbox takes to open.
func overhead() error {
	const rounds = 200
	ctx := context.Background()
	base, err := os.MkdirTemp("", "overhead-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(base) }()
	helper := []string{filepath.Join(filepath.Dir(*bin), "recount-record")}
	boxes := map[sandbox.Isolation]*sandbox.Sandbox{}
	for _, isolation := range []sandbox.Isolation{sandbox.IsolationSandbox, sandbox.IsolationNone} {
		dir := filepath.Join(base, string(isolation))
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		start := time.Now()
		box, err := sandbox.Open(ctx, sandbox.Options{Dir: dir, State: dir + "-state", Home: os.Getenv("HOME"), Isolation: isolation, Helper: helper})
		if err != nil {
			return err
		}
		defer func() { _ = box.Discard() }()
		if isolation == sandbox.IsolationSandbox {
			fmt.Printf("%s\nopened in %s\n", box.Report(), time.Since(start).Round(time.Millisecond))
		}
		boxes[isolation] = box
	}
	took := map[sandbox.Isolation][]time.Duration{}
	for range rounds {
		for isolation, box := range boxes {
			r, err := box.Run(ctx, sandbox.Command{Args: []string{"bash", "-c", "true"}, Dir: box.Dir(), Env: []string{"PATH=" + os.Getenv("PATH")}})
			if err != nil {
				return err
			}
			took[isolation] = append(took[isolation], r.Took)
		}
	}
	at := func(isolation sandbox.Isolation, percent int) time.Duration {
		return took[isolation][(len(took[isolation])-1)*percent/100]
	}
	for _, all := range took {
		sort.Slice(all, func(i, j int) bool { return all[i] < all[j] })
	}
	for _, percent := range []int{50, 90, 99} {
		in, out := at(sandbox.IsolationSandbox, percent), at(sandbox.IsolationNone, percent)
		fmt.Printf("p%d of %d: %.1f ms in the sandbox, %.1f ms without, %.1f ms more (required: at most 30)\n", percent, rounds, ms(in), ms(out), ms(in-out))
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
