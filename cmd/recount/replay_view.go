package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/replaying"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/replay/run"
	"github.com/recountdb/recount/replay/sandbox"
)

// replayView shows a run: one line a step, or one JSON object an event.
type replayView struct {
	a           *app
	steps       int // of the plan
	output, yes bool
	closed      bool          // the steps have no network but a loopback of their own
	in          *bufio.Reader // nil until something is asked
}

func (v *replayView) progress(e replaying.Event) {
	if v.a.JSON {
		if e.Event != replaying.EventOutput || v.output {
			enc := render.JSON(v.a.Out)
			_ = enc.Encode(e) // a reader that is gone does not stop the run
		}
		return
	}
	switch e.Event {
	case replaying.EventRun:
		v.begin(e)
	case replaying.EventOutput:
		if v.output {
			v.a.Printf("%s", render.PlainText(e.Output))
		}
	case replaying.EventEnd:
		v.line(e.Outcome, e.Failure)
	case replaying.EventDone:
		v.end(*e.Report, e.Changes, e.Differs, *e.Applied, *e.Kept, e.Partly)
	}
}

// begin says where and how the steps run.
func (v *replayView) begin(e replaying.Event) {
	v.a.ClearProgress()
	v.steps = e.Steps
	v.a.Printf("%s  %s in %s\n", v.a.Paint(render.Bold, e.Run), render.Count(e.Steps, "step"), v.a.Home(e.Directory))
	if e.Isolation == string(sandbox.IsolationNone) {
		v.a.Printf("%s\n", v.a.Paint(render.Yellow, "no isolation: the steps change the real files"))
	}
	if e.Kernel != nil {
		v.a.Printf("%s\n", v.a.Paint(render.Dim, e.Kernel.String()))
	}
	for _, n := range e.Notes {
		v.a.Printf("%s\n", v.a.Paint(render.Yellow, n))
	}
}

// line prints how a step came out.
func (v *replayView) line(o *run.Outcome, known *replaying.Failure) {
	mark, colour := "✗", render.Red
	switch o.Status {
	case run.Done:
		mark, colour = "✓", render.Green
	case run.Skipped:
		mark, colour = "=", render.Dim
	case run.Refused, run.Blocked, run.Terminal, run.Omitted, run.Stopped:
		mark, colour = "-", render.Yellow
	}
	text := fmt.Sprintf("%d/%d  %s", o.Step+1, v.steps, render.OneLine(stepName(o.Command)))
	if o.Attempt > 0 {
		text += "  " + v.a.Paint(render.Dim, query.Took(o.Took))
	}
	v.a.Printf("%s %s\n", v.a.Paint(colour, mark), text)
	if o.Reason != "" {
		v.a.Printf("  %s\n", v.a.Paint(render.Dim, render.PlainText(string(o.Status)+": "+o.Reason)))
	}
	if o.Status == run.Failed && !v.output {
		lines := strings.Split(strings.TrimRight(o.Output, "\n"), "\n")
		for _, l := range lines[max(0, len(lines)-10):] {
			if l != "" {
				v.a.Printf("    %s\n", render.PlainText(l))
			}
		}
	}
	if known != nil {
		for _, l := range known.Lines() {
			v.a.Printf("  %s\n", v.a.Paint(render.Dim, render.OneLine(l)))
		}
	}
}

// confirm asks on the terminal, also with --json. Without one the answer is no, but for what --yes agrees to, which is
// never a dangerous step, nor a program about which nothing is known.
func (v *replayView) confirm(ctx context.Context, q run.Question) (bool, error) {
	if v.yes && (q.Kind == run.QuestionAsk || q.Kind == run.QuestionUnknown) {
		return true, nil
	}
	f, isFile := v.a.In.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return false, nil
	}
	if v.in == nil {
		v.in = bufio.NewReader(f)
	}
	fmt.Fprintf(v.a.Err, "%d/%d  %s\n  %s\n  run it? [y/N] ", q.Step.Index+1, v.steps, render.OneLine(stepName(q.Step.Command)), render.PlainText(q.Text))
	answer := make(chan string, 1)
	go func() { // ends with the answer, or with the program
		line, _ := v.in.ReadString('\n')
		answer <- line
	}()
	select {
	case line := <-answer:
		line = strings.ToLower(strings.TrimSpace(line))
		return line == "y" || line == "yes", nil
	case <-ctx.Done():
		return false, nil
	}
}

// differs lists the files that are there, or not, otherwise than at the end of what was recorded, and names in a line those
// that only have another content: times, paths and what steps were given often say so.
func (v *replayView) differs(all []replaying.Difference) {
	contents := slices.IndexFunc(all, func(d replaying.Difference) bool { return d.What == replaying.Content })
	if contents < 0 {
		contents = len(all)
	}
	if contents > 0 {
		v.a.Printf("%s\n", v.a.Paint(render.Yellow, "not as at the end of what was recorded:"))
	}
	for i, d := range all[:contents] {
		if i == maxDiffers {
			v.a.Printf("  … and %d more (--json lists all)\n", contents-maxDiffers)
			break
		}
		v.a.Printf("  %s\n", v.a.Paint(render.Yellow, render.OneLine(d.String())))
	}
	if others := all[contents:]; len(others) > 0 {
		var names []string
		for _, d := range others[:min(3, len(others))] {
			names = append(names, render.OneLine(v.a.Home(d.Path)))
		}
		more := ""
		if len(others) > len(names) {
			more = ", …"
		}
		v.a.Printf("%s\n", v.a.Paint(render.Dim, fmt.Sprintf("another content than was recorded in %s: %s%s", render.Count(len(others), "file"), strings.Join(names, ", "), more)))
	}
}

// undone returns the numbers of the steps that are not done, as --without takes them, "" if some have not come to an end.
func (v *replayView) undone(r run.Report) string {
	if len(r.Steps) < v.steps || r.Counts[run.Stopped] > 0 {
		return ""
	}
	var numbers []string
	for _, o := range r.Steps {
		if !o.Status.Fine() {
			numbers = append(numbers, strconv.Itoa(o.Step+1))
		}
	}
	return strings.Join(numbers, ",")
}

// terminals returns the flags that let a run go on without the steps that need a terminal, "" if there are
// none.
func terminals(r run.Report) string {
	flags := ""
	for _, o := range r.Steps {
		if o.Status == run.Terminal {
			flags += fmt.Sprintf(" --without %d", o.Step+1)
		}
	}
	return flags
}

// noNetwork matches what programs print that find no network, or nobody at an address.
var noNetwork = regexp.MustCompile(`(?i)could not resolve|name resolution|no such host|network is unreachable|connection refused|failed to connect|ENOTFOUND|ECONNREFUSED|EAI_AGAIN`)

// missedNetwork reports whether a step looks as if it failed for want of a network. curl -s says so by its exit code alone.
func missedNetwork(o run.Outcome) bool {
	quiet := strings.Contains(o.Command, "curl") && (o.Exit == 6 || o.Exit == 7)
	return o.Status == run.Failed && (quiet || noNetwork.MatchString(o.Output))
}

// maxShown is how many changes are listed; --json has all.
const maxShown = 50

// maxDiffers is how many files are listed that are not as they were recorded.
const maxDiffers = 10

// end shows what became of the run.
func (v *replayView) end(r run.Report, changes []sandbox.Change, differs []replaying.Difference, applied, kept, partly bool) {
	var counts []string
	for _, s := range []run.Status{run.Done, run.Skipped, run.Failed, run.Refused, run.Blocked, run.Terminal, run.Omitted, run.Stopped} {
		if n := r.Counts[s]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, s))
		}
	}
	v.differs(differs)
	v.a.Printf("%s: %s of %s in %s\n", v.a.Paint(render.Bold, r.Status), strings.Join(counts, ", "), render.Count(v.steps, "step"), query.Took(r.Took.Round(time.Millisecond)))
	marks := map[string]string{sandbox.Added: v.a.Paint(render.Green, "+"), sandbox.Changed: v.a.Paint(render.Yellow, "~"), sandbox.Removed: v.a.Paint(render.Red, "-")}
	for i, c := range changes {
		if i == maxShown {
			v.a.Printf("  … and %d more (--json lists all)\n", len(changes)-maxShown)
			break
		}
		v.a.Printf("  %s %s\n", marks[c.Kind], render.OneLine(c.Path))
	}
	switch {
	case applied:
		v.a.Printf("applied %s\n", render.Count(len(changes), "change"))
	case kept && partly:
		v.a.Printf("part of this may be in the real directory: recount replay --resume %s --apply goes on, --discard leaves it so\n", r.Run)
	case kept && r.Status == "complete":
		v.a.Printf("nothing of this is in the real directory yet: recount replay --resume %s --apply, or --discard\n", r.Run)
	case r.Status != "complete":
		if kept {
			v.a.Printf("nothing of this is in the real directory yet, since not all steps are done\n")
			if without := v.undone(r); without != "" {
				v.a.Printf("to take it over without the others: recount replay --resume %s --without %s --apply\n", r.Run, without)
			}
		}
		if v.closed && slices.ContainsFunc(r.Steps, missedNetwork) {
			v.a.Printf("the steps have no network but a loopback of their own: --network opens it\n")
		}
		for _, o := range r.Steps {
			if o.Reason == run.ReasonUnknown {
				v.a.Printf("to run step %d again: recount replay --resume %s --yes\n", o.Step+1, r.Run)
			}
		}
		if only := terminals(r); only != "" {
			v.a.Printf("to go on without what needs a terminal: recount replay --resume %s%s\n", r.Run, only)
		}
		v.a.Printf("to go on: recount replay --resume %s; to forget it: --discard as well\n", r.Run)
	}
}
