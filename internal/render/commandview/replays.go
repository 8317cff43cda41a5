package commandview

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/query/replays/answer"
)

// Replays lists runs, the latest first.
func Replays(d *render.Drawing, r answer.Response) {
	if len(r.Runs) == 0 {
		d.Print(r.Hint)
		return
	}
	rows := [][]string{{"RUN", "STATE", "STEPS", "WHEN", "GOAL"}}
	for _, run := range r.Runs {
		when := ""
		if !run.Started.IsZero() {
			when = render.Ago(d.Now, run.Started)
		}
		rows = append(rows, []string{run.Run, run.State, steps(run.Counts), when, render.OneLine(cmp.Or(run.Goal, run.Directory))})
	}
	d.Table("", rows, 4)
}

// steps says how many steps a run went through: "3 of 4", or "4".
func steps(c answer.Counts) string {
	through := c.Done + c.Satisfied + c.Skipped
	if through == c.Steps {
		return strconv.Itoa(c.Steps)
	}
	return fmt.Sprintf("%d of %d", through, c.Steps)
}

// ended says how many steps ended in which way. A step whose result was there counts as skipped, as the
// replay itself says.
func ended(c answer.Counts) string {
	var parts []string
	for _, x := range []struct {
		n   int
		how string
	}{{c.Done, "done"}, {c.Satisfied + c.Skipped, "skipped"}, {c.Failed, "failed"}, {c.Stopped, "stopped"}, {c.Underway, "under way"}} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", x.n, x.how))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "none began")
}

// stateOf names the state of a step as the replay itself does.
func stateOf(state string) string {
	if state == answer.StateSatisfied {
		return answer.StateSkipped
	}
	return state
}

// Replay draws a run with its steps.
func Replay(d *render.Drawing, r answer.Run) {
	row := func(name, value string) {
		if value != "" {
			d.Print(fmt.Sprintf("  %-10s %s", name, render.OneLine(value)))
		}
	}
	d.Print(d.Paint(render.Bold, r.Run+" "+r.State))
	row("goal", r.Goal)
	row("reason", r.Reason)
	row("directory", r.Directory)
	row("isolation", r.Isolation)
	row("by", strings.Trim(r.User+"@"+r.Host, "@"))
	row("author", r.Author)
	row("plan", r.PlanID)
	row("steps", steps(r.Counts)+": "+ended(r.Counts))
	if !r.Ended.IsZero() {
		applied := "not applied"
		if r.Applied {
			applied = "applied"
		}
		row("files", fmt.Sprintf("%d added, %d changed, %d removed, %s", r.Counts.Added, r.Counts.Changed, r.Counts.Removed, applied))
	}
	for _, s := range r.Steps {
		d.Print("", fmt.Sprintf("%4d  %s", s.Step+1, d.Paint(render.Bold, render.OneLine(cmp.Or(s.Command, s.Intent, "(not recorded)")))))
		d.Print("      " + outcome(s))
		for _, f := range s.Files {
			d.Print("      " + file(f))
		}
		if s.State == answer.StateFailed && s.Output != "" {
			for line := range strings.SplitSeq(strings.TrimRight(s.Output, "\n"), "\n") {
				d.Print("      " + d.Paint(render.Dim, "│ "+render.OneLine(line)))
			}
		}
	}
}

// ReplayDiff draws the steps of a run beside the commands that they replayed.
func ReplayDiff(d *render.Drawing, r ask.ReplayDiffResponse) {
	idle := 0
	for _, s := range r.Steps {
		if s.State == answer.StateSkipped || s.State == answer.StateSatisfied {
			idle++
		}
	}
	switch {
	case r.Parted == nil && idle == 0:
		d.Print(d.Paint(render.Bold, r.Run) + ": every step did as recorded")
	case r.Parted == nil:
		d.Print(d.Paint(render.Bold, r.Run) + fmt.Sprintf(": every step that was run did as recorded, %d of %d were not run", idle, len(r.Steps)))
	default:
		at := ""
		for _, s := range r.Steps {
			if s.Step == *r.Parted {
				at = ", " + render.OneLine(nameOf(s))
			}
		}
		d.Print(d.Fit(d.Paint(render.Bold, r.Run)+fmt.Sprintf(": parted at step %d%s", *r.Parted+1, at), 0))
	}
	for _, s := range r.Steps {
		mark := "="
		switch {
		case len(s.Differs) > 0:
			mark = "≠"
		case s.State == answer.StateSkipped || s.State == answer.StateSatisfied:
			mark = "-"
		}
		took := ""
		if s.Original != nil && s.Original.Duration != nil && s.Duration > 0 {
			took = fmt.Sprintf(", %s instead of %s", query.Took(time.Duration(s.Duration)), query.Took(time.Duration(*s.Original.Duration)))
		}
		d.Print(fmt.Sprintf("%4d %s %s  %s%s", s.Step+1, mark, render.OneLine(nameOf(s)), stateOf(s.State), took))
		if s.Original == nil {
			d.Print("       the recorded command is not known any more")
		}
		for _, x := range s.Differs {
			d.Print(fmt.Sprintf("       %-7s - %s", x.What, render.OneLine(x.A)), fmt.Sprintf("               + %s", render.OneLine(x.B)))
		}
		if text := filesOf(s.Files); text != "" {
			d.Print("       " + d.Paint(render.Dim, text))
		}
	}
}

// replayed tells how a command fared when replays ran it again: one line for each of the latest times,
// and the counts if there were more.
func replayed(d *render.Drawing, lead string, r *ask.Replays) {
	if r == nil {
		return
	}
	for _, x := range r.Latest {
		how := x.State
		switch {
		case x.ExitCode != nil && *x.ExitCode != 0:
			how = fmt.Sprintf("failed, exit %d", *x.ExitCode)
		case x.State == answer.StateDone:
			how = "worked"
		case x.Reason != "":
			how += ": " + render.OneLine(x.Reason)
		}
		text := "replayed"
		if x.Started != nil {
			text += " " + render.Ago(d.Now, *x.Started)
		}
		text += ", " + how + ": " + x.Run
		if x.Host != "" {
			text += " on " + render.OneLine(x.Host)
		}
		if x.Directory != "" {
			text += " in " + render.OneLine(x.Directory)
		}
		if x.Command != "" {
			text += " as " + render.OneLine(x.Command)
		}
		d.Text(lead, render.Dim, text)
	}
	if r.Times > len(r.Latest) {
		d.Text(lead, render.Dim, fmt.Sprintf("replayed %d times: %d worked, %d failed", r.Times, r.Worked, r.Failed))
	}
}

// nameOf returns the command of a step as it ran again, or else as it was recorded.
func nameOf(s ask.ReplayedStep) string {
	if s.Command == "" && s.Original != nil {
		return s.Original.Command
	}
	return s.Command
}

// filesOf counts the files of a step that did not come out otherwise.
func filesOf(files []ask.ReplayedFile) string {
	count := map[string]int{}
	for _, f := range files {
		count[f.State]++
	}
	var all []string
	for _, of := range []struct{ state, one, more string }{
		{ask.FileSame, "file is the same", "files are the same"},
		{ask.FileUnchanged, "file was left as it was", "files were left as they were"},
		{ask.FileUnknown, "file can't be compared", "files can't be compared"},
		{ask.FileOnly, "file is not known from the recorded run", "files are not known from the recorded run"},
	} {
		switch n := count[of.state]; n {
		case 0:
		case 1:
			all = append(all, "1 "+of.one)
		default:
			all = append(all, fmt.Sprintf("%d %s", n, of.more))
		}
	}
	return strings.Join(all, ", ")
}

// outcome says in a line how a step ended.
func outcome(s answer.Step) string {
	text := stateOf(s.State)
	if s.ExitCode != nil {
		text += fmt.Sprintf(", exit %d", *s.ExitCode)
	}
	if s.Duration > 0 {
		text += " after " + query.Took(s.Duration)
	}
	if s.Attempt > 1 {
		text += fmt.Sprintf(", attempt %d", s.Attempt)
	}
	if s.Reason != "" {
		text += ": " + render.OneLine(s.Reason)
	}
	return text
}

// file says in a line what became of a file.
func file(f answer.File) string {
	if f.Removed {
		return "removed " + render.OneLine(f.Path)
	}
	return fmt.Sprintf("wrote %s, %d bytes", render.OneLine(f.Path), f.Size)
}
