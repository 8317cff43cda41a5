package node

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/api"
)

// Forget implements api.Backend. A caller who is not the operator can erase only what its own agent
// appended, and the report mentions nothing else.
//
//  1. It searches the log for the requested events (forgetscan.go).
//  2. It appends events.erased. Durable step 1: from here on the erasure will be carried out, if
//     necessary by the next start after a crash, and by other processes on this log.
//  3. It carries the erasure out (erase.go): reads of the log no longer return the events, the
//     embedded broker's files are rewritten without them (durable step 2), the projections are rebuilt
//     without them, and erasedFile records that all this is done (durable step 3).
//
// From step 2 on, no answer shows the erased events (hidden.go). A server finishes step 3 whether
// or not the request waits for it (finish.go).
func (n *Node) Forget(ctx context.Context, r api.ForgetRequest, progress func(api.Progress)) (report api.ForgetReport, err error) {
	began := time.Now()
	asker, known := access.FromContext(ctx)
	if known && !asker.Operator {
		if !asker.Erases() {
			return report, schemas.Poisonf("forget: the token may not erase")
		}
		r.Author, r.Topics = asker.Agent, []string{schemas.TopicAgents}
	}
	search, err := newSearch(n.log, r)
	if err != nil {
		return report, err
	}
	if known && !asker.Operator {
		search.of = &asker
	}
	limit := r.Limit
	if limit == 0 {
		limit = api.DefaultForgetLimit
	}
	held, done, err := n.erasing(ctx)
	// An earlier erasure that is still being finished must not keep others from hiding more events.
	queued := errors.Is(err, api.ErrBusy) && n.finishing.Load() != nil
	if queued {
		held, done = ctx, func() {}
	} else if err != nil {
		return report, err
	}
	defer func() { done() }()
	asking := ctx
	ctx = held
	m := newMeter(progress)
	if err := search.run(ctx, n.log, m); err != nil {
		return report, fmt.Errorf("forget: %w", err)
	}
	report = search.report()
	report.DryRun, report.TooMany = r.DryRun, report.Events > limit
	defer func() { report.ElapsedMS = sinceMS(began) }()
	switch {
	case r.DryRun || report.Events == 0:
		return report, nil
	case report.TooMany:
		return report, schemas.Poisonf("forget: %d events match, more than the limit of %d: narrow the selection, or raise the limit", report.Events, limit)
	}
	if report.Erasures, err = n.appendErased(ctx, r, search.found); err != nil {
		return report, fmt.Errorf("forget: %w", err)
	}
	at := make([]schemas.Position, len(search.found))
	for i, h := range search.found {
		at[i] = h.pos
	}
	var f *finishing
	if !queued {
		f = n.finish(ctx, len(at), m, done)
		done = func() {} // finish calls it
	}
	if err := n.awaitErased(asking, r, began, f, at, &report); err != nil {
		return report, err
	}
	if !n.log.Embedded() {
		report.Log = "outside"
		report.Explanation = "Recount no longer reads these events, but the brokers still hold their bytes: only the brokers can remove them, by retention or DeleteRecords (docs/operating.md, Forgetting)."
	}
	return report, nil
}

// erasedPerEvent keeps an events.erased below about 300 KB.
const erasedPerEvent = 1000

// appendErased appends the events.erased for the events found. A crash within it may leave only the
// first of several: the events they name are erased, the others are not.
func (n *Node) appendErased(ctx context.Context, r api.ForgetRequest, found []hit) ([]schemas.Position, error) {
	now := time.Now().UTC()
	var events []schemas.Event
	for chunk := range slices.Chunk(found, erasedPerEvent) {
		payload := &recountv1.EventsErased{Reason: r.Reason, Author: r.Author, Asked: asked(r), ErasedAt: timestamppb.New(now)}
		for _, h := range chunk {
			x := &recountv1.ErasedEvent{Position: h.pos.Proto(), Sha256: h.sum[:], Bytes: int64(h.bytes)}
			if !h.id.IsZero() {
				x.EventId = h.id[:]
			}
			payload.Events = append(payload.Events, x)
		}
		if err := schemas.Validate(payload); err != nil {
			return nil, err
		}
		data, err := schemas.EncodePayload(payload)
		if err != nil {
			return nil, err
		}
		e := schemas.Event{
			Type: schemas.TypeErased, Source: schemas.DefaultSource, Time: now, Key: schemas.KeyOf(payload),
			ContentType: schemas.ContentJSON, Payload: data,
		}
		e.ID = e.DeriveID()
		events = append(events, e)
	}
	// Hide before appending, so that no answer shows the events once they are erased.
	erased := map[schemas.Position]schemas.EventID{}
	for _, h := range found {
		erased[h.pos] = h.id
	}
	n.hide(erased)
	at, err := n.log.Append(ctx, schemas.TopicErasures, events...)
	if err != nil {
		// If the events were appended nevertheless, followErasures finds them.
		n.release(func(at schemas.Position) bool { _, ok := erased[at]; return ok })
	}
	return at, err
}

// asked describes the request in a few words. It hashes a pattern, which may be the secret itself.
func asked(r api.ForgetRequest) string {
	switch {
	case r.Session != "":
		return "session " + r.Session
	case r.Pattern != "":
		return fmt.Sprintf("pattern with SHA-256 %x", sha256.Sum256([]byte(r.Pattern)))
	case len(r.Events) > 20:
		return fmt.Sprintf("%d events", len(r.Events))
	}
	return "event " + strings.Join(r.Events, ", ")
}
