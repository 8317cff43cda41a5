package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// together imports, extracts facts and folds concurrently. At most two of the importer's batches
// are between the stages, as many as the importer itself has in flight.
func together(ctx context.Context, dir string, history int) error {
	scratch, err := os.MkdirTemp("", "recount-bench-code-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := start()
	appended := make(chan []schemas.Event, 1)
	go func() {
		defer close(appended)
		err := imported(ctx, dir, scratch, history, func(ctx context.Context, more []schemas.Event) error {
			return hand(ctx, appended, more)
		})
		if err != nil {
			cancel(err)
		}
	}()
	made := make(chan []*recountv1.Record, 1)
	go func() {
		defer close(made)
		from := int64(0)
		for events := range appended {
			records, err := facts(ctx, events, from)
			if err == nil {
				err = hand(ctx, made, records)
			}
			if err != nil {
				cancel(err)
				return
			}
			from += int64(len(events))
		}
	}()
	set, graph, err := open(mkdir(scratch, "graph"))
	if err != nil {
		return err
	}
	defer set.Close()
	var last []*recountv1.Record
	n := int64(0)
	for records := range made {
		if slices.ContainsFunc(records, func(r *recountv1.Record) bool { return r.GetCommit() != nil }) {
			last = records
		}
		for len(records) > 0 {
			part := records[:min(len(records), streamBatch)]
			records = records[len(part):]
			n += int64(len(part))
			if err := graph.Apply(ctx, schemas.Batch{Topic: "recount.commits", Next: n, Records: part}); err != nil {
				return err
			}
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := graph.Flush(); err != nil {
		return err
	}
	var all clock
	all.add(c)
	all.print(fmt.Sprintf("import, facts and folding at once: %d events", n))
	return describe(graph, last)
}

// hand passes a batch to the next stage, unless the context has ended.
func hand[T any](ctx context.Context, to chan<- T, v T) error {
	select {
	case to <- v:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
