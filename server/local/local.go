// Package local answers questions about commands from a data directory that no server uses. It opens
// only what they read: the log, the projections of commands and the spool. So a program that asks
// one question starts in a fraction of the time that a whole node takes (package node), and gives
// the same answer.
//
// A caller may rely on this: what is out of the ordinary (an erasure that is not finished, a
// retention, much to catch up with, events of other kinds, damage) is an error that wraps ErrWhole,
// and is left as it was found. A crash at any point loses nothing: the spool is drained by the rules
// of package spool, and everything else is what a node does with the same files.
package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/datadir"
	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/internal/spool"
	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/processors/agent"
	"github.com/recountdb/recount/processors/records"
	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/lexical"
	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/replays"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/projections/vector"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/intake"
)

// ErrWhole is returned for what only the whole node does.
var ErrWhole = errors.New("the whole node does this")

func whole(why string) error { return fmt.Errorf("%s: %w", why, ErrWhole) }

// maxBehind is the number of events that are caught up with here; a whole node reports its progress.
const maxBehind = 1000

// node is an open data directory.
type node struct {
	lock  *os.File
	log   *pipeline.Log
	set   *projections.Set
	chain records.Chain
}

// open opens a data directory, whose configuration must be the default one, and brings the named
// projections up to date with the log and the spool.
func open(ctx context.Context, dir string, names ...string) (n *node, err error) {
	reads := slices.DeleteFunc(kinds(), func(k projections.Definition) bool { return !slices.Contains(names, k.Name) })
	n = &node{chain: records.DefaultChain()}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.close())
			n = nil
		}
	}()
	// A directory that is new, or in which a projection is missing, is created by a whole node.
	parts := []string{"recount.json", pipeline.LogDir}
	for _, k := range reads {
		parts = append(parts, filepath.Join("projections", k.Name, "CURRENT"))
	}
	for _, part := range parts {
		if _, err := os.Stat(filepath.Join(dir, part)); err != nil {
			return n, whole(err.Error())
		}
	}
	if n.lock, err = datadir.Lock(dir); err != nil {
		return n, err
	}
	if n.log, err = pipeline.Open(ctx, pipeline.Config{DataDir: dir, Logger: silent}); err != nil {
		return n, err
	}
	if err := n.nothingErased(ctx, dir); err != nil {
		return n, err
	}
	reject := func(context.Context, string, *recountv1.Record, *projections.RecordError) error {
		return whole("a record is refused")
	}
	if n.set, err = projections.OpenOn(ctx, n.log, filepath.Join(dir, "projections"), projections.Options{Logger: silent, Reject: reject}, reads...); err != nil {
		return n, err
	}
	if err := n.drain(ctx, spool.Dir(dir)); err != nil {
		return n, err
	}
	return n, n.catchUp(ctx)
}

var silent = slog.New(slog.DiscardHandler)

// kinds returns the projections that questions about commands read, as node.Config.kinds does.
func kinds() []projections.Definition {
	all := []projections.Definition{
		segment.Kind(segment.Options{Logger: silent}), lexical.Kind, narrative.Kind,
		vector.Kind(vector.Options{Logger: silent}), replays.Kind,
	}
	for i := range all {
		k := &all[i]
		versions := records.Commands.Versions(k.Topics...)
		if k.Subscribes(schemas.TopicAgents) {
			versions = append(versions, agent.Name)
		}
		k.Params = strings.TrimSpace(k.Params + " " + strings.Join(versions, " "))
	}
	return all
}

// nothingErased fails unless every erasure of the log was carried out here, and none was a
// retention, after which questions know less.
func (n *node) nothingErased(ctx context.Context, dir string) error {
	ends, err := n.log.Ends(ctx, schemas.TopicErasures)
	if err != nil || (schemas.Watermark{}).Covers(ends) {
		return err
	}
	if len(n.log.Cuts()) > 0 {
		return whole("retention")
	}
	b, err := os.ReadFile(filepath.Join(dir, "erased"))
	if err != nil {
		return whole(err.Error())
	}
	marks, kept, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	done, err := schemas.ParseWatermark(marks)
	if err != nil || !done.Covers(ends) {
		return whole("an erasure is not finished")
	}
	why, err := n.log.Diverged(ctx, kept, done)
	if err == nil && why != "" {
		err = whole(why)
	}
	return err
}

// drain moves the spool's commands into the log, as package node does. Their ids are new, unless a
// crash interrupted an earlier drain.
func (n *node) drain(ctx context.Context, dir string) error {
	if spool.Empty(dir) {
		return nil
	}
	if spool.Interrupted(dir) {
		return whole("a drain was interrupted")
	}
	if err := n.log.Full(); err != nil {
		return err
	}
	in := intake.Intake{Redact: redact.Default(), Check: records.Commands.Check, Now: time.Now}
	_, err := spool.NewDrainer(dir).Drain(func(entries []spool.Entry) error {
		events := make([]schemas.Event, len(entries))
		for i, entry := range entries {
			e, err := intake.Spooled(entry)
			if err != nil {
				return err
			}
			p, _, err := in.Prepare(ctx, e)
			if err == nil && p.Topic != schemas.TopicCommands {
				err = whole("an event of " + p.Topic)
			}
			if err != nil {
				return err
			}
			events[i] = p.Event
		}
		_, err := n.log.Append(ctx, schemas.TopicCommands, events...)
		return err
	})
	return err
}

// catchUp brings the projections to the log's end.
func (n *node) catchUp(ctx context.Context) error {
	ends, err := n.log.Ends(ctx, n.log.Topic(schemas.TopicCommands), n.log.Topic(schemas.TopicAgents))
	if err != nil {
		return err
	}
	todo, behind := schemas.Watermark{}, int64(0)
	for tp, end := range ends {
		if next := n.set.Next(tp); next < end {
			todo[tp] = end
			if behind += end - next; behind > maxBehind || tp.Topic != n.log.Topic(schemas.TopicCommands) {
				return whole("much to catch up with")
			}
		}
	}
	if len(todo) == 0 {
		return nil
	}
	return n.log.Follow(ctx, pipeline.FollowOptions{Partitions: todo.Partitions(), From: n.set.Next, Until: todo}, func(ctx context.Context, tp schemas.TopicPartition, in []schemas.LogRecord, next int64) error {
		out, err := records.Commands.Records(ctx, in, n.chain)
		if err != nil {
			return err
		}
		rejected := func(context.Context, []*recountv1.Rejected) error { return whole("an event is refused") }
		return pipeline.Project(ctx, n.set, schemas.Batch{Topic: tp.Topic, Partition: tp.Partition, Next: next, Records: out}, rejected)
	})
}

// close releases the data directory.
func (n *node) close() error {
	var errs []error
	if n.set != nil {
		errs = append(errs, n.set.Close())
	}
	if n.log != nil {
		errs = append(errs, n.log.Close())
	}
	if n.lock != nil {
		errs = append(errs, n.lock.Close())
	}
	return errors.Join(errs...)
}
