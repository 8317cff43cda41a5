package replays

import (
	"github.com/recountdb/recount/projections/replays"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// Replayed is one time that a command was replayed: its outcome in a run.
type Replayed struct {
	Run string `json:"run" example:"r-7f3a91" doc:"The run's name."`
	Step
}

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

// OfCommand returns how a command fared in the runs that replayed it and began below a watermark, the
// latest first, at most 100.
func OfCommand(v *replays.View, command schemas.EventID, visible schemas.Watermark) ([]Replayed, error) {
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
		runs = append(runs, assemble(b.Run, events))
	}
	latestFirst(runs)
	var all []Replayed
	for _, r := range runs {
		for _, s := range r.Steps {
			if s.Intent == command.String() {
				all = append(all, Replayed{r.Run, s})
			}
		}
	}
	return all, nil
}

// Was reports whether a command was replayed by a step that began below a watermark.
func Was(v *replays.View, command schemas.EventID, visible schemas.Watermark) (bool, error) {
	begun, err := v.Of(command, 0)
	for _, b := range begun {
		if b.Position.Offset < visible[b.Position.TP()] {
			return true, nil
		}
	}
	return false, err
}
