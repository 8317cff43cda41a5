package trim

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/recountdb/recount/replay"
)

// whole runs the plan twice, to know its end and what varies without any reason: with what the evidence left out, but for
// steps of it that do not do as recorded.
func (t *trimming) whole(ctx context.Context) error {
	if k := t.p.Goal.Kind; k == "command" || k == "mend" {
		for i := range t.p.Steps {
			t.goals[i] = slices.Contains(t.p.Goal.Intents, t.p.Steps[i].Intent)
		}
	}
	first, err := t.try(ctx, nil)
	if err != nil {
		return err
	}
	for i := range t.o.Left {
		if !first.Steps[i].Fine {
			t.result.Without[i] = true
		}
	}
	if len(t.result.Without) > 0 {
		if first, err = t.try(ctx, t.result.Without); err != nil {
			return err
		}
	}
	if t.broken(first) >= 0 && len(t.o.Left) > 0 {
		t.result.Without, t.result.Unchecked = maps.Clone(t.o.Left), true
		if first, err = t.try(ctx, t.result.Without); err != nil {
			return err
		}
	}
	if i := t.broken(first); i >= 0 {
		return &UnfitError{Why: fmt.Sprintf("step %d (%s) is not done in a trial of the whole plan, and only a plan that comes to its end can be trimmed: %s", t.number(i), t.p.Steps[i].Command, first.Steps[i].Reason)}
	}
	if t.o.Recorded != nil {
		if t.differs, err = t.o.Recorded(); err != nil {
			return err
		}
	}
	return t.compared(ctx, first)
}

// compared takes the end of a trial of the plan for the one to compare with, and tries it again to know what varies.
func (t *trimming) compared(ctx context.Context, first End) error {
	if t.o.Pause != nil {
		if err := t.o.Pause(ctx); err != nil {
			return err
		}
	}
	again, err := t.try(ctx, t.result.Without)
	if err != nil {
		return err
	}
	t.result.Varying, t.result.Renamed, t.result.Printed, t.result.Idle, t.result.Beyond = nil, nil, false, 0, 0
	t.base, t.varies, t.loose, t.fixed, t.rested = first, map[string]bool{}, map[string]bool{}, map[int]bool{}, map[int]bool{}
	for name, is := range first.Files {
		if is != again.Files[name] {
			t.varies[name] = true
		}
	}
	for name := range again.Files {
		if _, both := first.Files[name]; !both {
			t.varies[name] = true
		}
	}
	for i, out := range first.Steps {
		if out.Unsure || out.Output != again.Steps[i].Output {
			t.result.Printed = t.result.Printed || t.goals[i] && t.p.Goal.Kind == "command"
			out.Output = ""
			t.base.Steps[i] = out
		}
	}
	if t.p.Goal.Kind == "command" && !t.tells() {
		return &UnfitError{Why: "what the command does leaves nothing that could be compared: no file below the directory, and no output that is the same each time"}
	}
	return t.fix(again)
}

// broken returns the first step that is not done though it was not left out, -1 if there is none.
func (t *trimming) broken(end End) int {
	return slices.IndexFunc(t.p.Steps, func(s replay.Step) bool { return !t.result.Without[s.Index] && !end.Steps[s.Index].Fine })
}

// number returns the number of a step in the plan without what the evidence left out, from 1.
func (t *trimming) number(step int) int {
	n := 1
	for i := range step {
		if !t.o.Left[i] {
			n++
		}
	}
	return n
}

// tells reports whether something of the goal can be compared.
func (t *trimming) tells() bool {
	for i := range t.goals {
		if t.goals[i] && (t.base.Steps[i].Output != "" || len(t.base.Wrote[i]) > 0) {
			return true
		}
	}
	return false
}

// fix finds the steps that are not tried: the goal, those that did not run, and those that a file rests on whose content or
// name is another one each time, which says nothing of how it was made.
func (t *trimming) fix(again End) error {
	for i := range t.p.Steps {
		t.fixed[i] = t.goals[i] || !t.base.Steps[i].Ran || t.o.Left[i]
		if !t.base.Steps[i].Ran && !t.o.Left[i] {
			t.result.Idle++
		}
	}
	for i := range t.p.Steps {
		if t.o.Keep[i] && !t.o.Left[i] {
			t.result.Beyond++
			t.rests(i)
		}
		if t.result.Printed && t.goals[i] {
			t.rests(i)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.varies)) {
		_, before := t.base.Files[name]
		_, after := again.Files[name]
		if before != after {
			t.loose[path.Dir(name)] = true // it has another name each time
			if t.result.Renamed = append(t.result.Renamed, name); len(t.goals) > 0 {
				continue
			}
		} else if !t.counts(name) {
			continue
		} else {
			t.result.Varying = append(t.result.Varying, name)
		}
		known := false
		for i := range t.p.Steps {
			if slices.Contains(t.base.Wrote[i], name) || slices.Contains(again.Wrote[i], name) {
				known = true
				t.rests(i)
			}
		}
		if !known {
			return &UnfitError{Why: fmt.Sprintf("%s is another one after each run of the whole plan, and which step writes it is not known", name)}
		}
	}
	return nil
}

// rests fixes a step with those that it needs.
func (t *trimming) rests(i int) {
	if t.rested[i] {
		return
	}
	t.rested[i], t.fixed[i] = true, true
	for _, n := range t.p.Steps[i].Needs {
		if n.Kind != replay.NeedOrder {
			t.rests(n.On)
		}
	}
}

// counts reports whether a file is a part of the end: for a goal only what its steps write.
func (t *trimming) counts(name string) bool {
	if len(t.goals) == 0 {
		return true
	}
	for i := range t.goals {
		if t.goals[i] && slices.Contains(t.base.Wrote[i], name) {
			return true
		}
	}
	return false
}

// compare returns what of a trial is otherwise than at the end of the whole plan, "" if nothing is. If steps ran and came out
// otherwise, it returns those, nil if one of them has to stay.
func (t *trimming) compare(end End, without map[int]bool) (differs string, otherwise []int) {
	for i := range t.p.Steps {
		if without[i] || t.o.Left[i] && !slices.Contains(t.result.Back, i) {
			continue // what is still to be left out may fail without what is left out already
		}
		was, is := t.base.Steps[i], end.Steps[i]
		if is.Fine && (!is.Ran || !was.Ran || is.Exit == was.Exit) && (!t.goals[i] || was.Output == "" || is.Output == was.Output) {
			continue
		}
		if differs == "" {
			differs = t.p.Steps[i].Command
		}
		if !is.Fine && !is.Ran {
			continue // it needs one that failed
		}
		if !t.may(i) || t.p.Goal.Kind == "mend" { // what failed and what mended it are not left out together
			return t.p.Steps[i].Command, nil
		}
		otherwise = append(otherwise, i)
	}
	if differs != "" {
		return differs, otherwise
	}
	for _, name := range slices.Sorted(maps.Keys(t.base.Files)) {
		is, there := end.Files[name]
		if t.counts(name) && (!t.varies[name] && is != t.base.Files[name] || slices.Contains(t.result.Varying, name) && !there) {
			return name, nil
		}
	}
	for _, name := range slices.Sorted(maps.Keys(end.Files)) {
		if _, was := t.base.Files[name]; !was && !t.varies[name] && !t.loose[path.Dir(name)] && len(t.goals) == 0 {
			return name, nil
		}
	}
	return "", nil
}
