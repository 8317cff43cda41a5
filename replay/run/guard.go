package run

import (
	"strconv"

	"github.com/recountdb/recount/replay"
)

// guard is an executor that can take back what a step had changed when the run was killed; a *sandbox.Sandbox is one.
type guard interface {
	Begin(step string, paths []string)
	End()
	TakenBack() string
}

// guard has the executor note what there is before a step, if nothing else may change it then, and nothing but the
// executor's directory is within the step's reach.
func (r *runner) guard(s *replay.Step) {
	box, ok := r.Executor.(guard)
	if !ok || r.Jobs > 1 || r.open() {
		return
	}
	for i := range s.Index {
		if o := r.outcomeOf(i); r.plan.Steps[i].Background && o != nil && o.Attempt > 0 {
			return // it may run on
		}
	}
	box.Begin(strconv.Itoa(s.Index), append([]string{r.Scratch}, s.Outputs...))
}

// takenBack reports whether what a step had changed when the run was killed is taken back, so that it has not begun.
func (r *runner) takenBack(s *replay.Step) bool {
	box, ok := r.Executor.(guard)
	return ok && box.TakenBack() == strconv.Itoa(s.Index)
}
