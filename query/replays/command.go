package replays

import (
	"slices"
	"time"

	"github.com/recountdb/recount/projections/replays"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Of returns a run with its steps. The error is a *query.NotFoundError if the run is not known, or that
// of the projection.
func Of(v *replays.View, run string) (Run, error) {
	events, err := v.Run(run)
	if err != nil {
		return Run{}, err
	}
	if len(events) == 0 {
		return Run{}, &query.NotFoundError{Ref: run, Hint: "no replay of this name is known; `recount replayed` lists them"}
	}
	return assemble(run, events), nil
}

// maxReplayed bounds the runs that are read for one command.
const maxReplayed = 100

// OfCommand returns how a command fared in the runs that replayed it, the latest first, at most 100.
// Only events below a watermark count, and unless asOf is zero only those that occurred until then.
func OfCommand(v *replays.View, command schemas.EventID, visible schemas.Watermark, asOf time.Time) ([]Replayed, error) {
	begun, err := v.Of(command, maxReplayed)
	if err != nil {
		return nil, err
	}
	var runs []Run
	seen := map[string]bool{}
	for _, b := range begun {
		if seen[b.Run] || b.Position.Offset >= visible[b.Position.TP()] {
			continue
		}
		seen[b.Run] = true
		events, err := v.Run(b.Run)
		if err != nil {
			return nil, err
		}
		events = slices.DeleteFunc(events, func(r *recountv1.Record) bool {
			at := schemas.PositionOf(r.GetOrigin())
			return at.Offset >= visible[at.TP()] || !asOf.IsZero() && occurred(r).After(asOf)
		})
		runs = append(runs, assemble(b.Run, events))
	}
	latestFirst(runs)
	var all []Replayed
	for _, r := range runs {
		for _, s := range r.Steps {
			if s.Intent != command.String() {
				continue
			}
			one := Replayed{Run: r.Run, Host: r.Host, Directory: r.Directory, Applied: r.Applied, Step: s}
			if !r.Started.IsZero() {
				one.Started = &r.Started
			}
			all = append(all, one)
		}
	}
	return all, nil
}

// occurred returns the time of an event of a run.
func occurred(r *recountv1.Record) time.Time {
	switch {
	case r.GetReplayPlanned() != nil:
		return timeOf(r.GetReplayPlanned().GetOccurredAt())
	case r.GetReplayStepStarted() != nil:
		return timeOf(r.GetReplayStepStarted().GetOccurredAt())
	case r.GetReplayStepEnded() != nil:
		return timeOf(r.GetReplayStepEnded().GetOccurredAt())
	}
	return timeOf(r.GetReplayEnded().GetOccurredAt())
}

// Was reports whether a command was replayed by a step that began below a watermark, and unless asOf is
// zero until then.
func Was(v *replays.View, command schemas.EventID, visible schemas.Watermark, asOf time.Time) (bool, error) {
	if !asOf.IsZero() {
		all, err := OfCommand(v, command, visible, asOf)
		return len(all) > 0, err
	}
	begun, err := v.Of(command, 0)
	for _, b := range begun {
		if b.Position.Offset < visible[b.Position.TP()] {
			return true, nil
		}
	}
	return false, err
}
