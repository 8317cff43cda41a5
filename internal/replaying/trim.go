package replaying

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/replayjournal"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/run"
	"github.com/recountdb/recount/replay/sandbox"
	"github.com/recountdb/recount/replay/trim"
	"github.com/recountdb/recount/schemas"
)

// Trimming says how a plan is trimmed.
type Trimming struct {
	Trials int // at most; 200 if zero
	// Progress is called after each trial, with the plan by whose indexes it names steps.
	Progress func(*replay.Plan, trim.Trial)
}

// Trim returns a plan without the steps that it can do without: each is tried in a sandbox of its own that is thrown away,
// and what the plan leaves there is compared. all is the plan of the same narrative in which nothing is left out, or nil:
// steps of it that the plan lacks, and that the end is another one without, are put back. Nothing of a trial is kept or
// written into the log. The trimmed plan itself is tried last; if it does not come to its end, that is an error.
//
// Options are those of Start; Apply, Jobs, policies, Without and Progress are not used, and the isolation is the sandbox
// without the network, since all is done again and again. Confirm is asked once about each question, and not about what
// only all has. Getenv of the options then finds what was given for a step by its number in the plan by its number in the
// trimmed one.
func Trim(ctx context.Context, p, all *replay.Plan, how Trimming, run *Options) (*replay.Plan, trim.Result, error) {
	o := *run
	if o.Network || o.Isolation != "" && o.Isolation != sandbox.IsolationSandbox {
		return nil, trim.Result{}, &query.RequestError{Field: "trim", Value: "true", Reason: "trials do each step again and again, so they run in the sandbox and without the network only"}
	}
	o.Apply, o.Progress = false, nil
	if err := o.validate(); err != nil {
		return nil, trim.Result{}, err
	}
	if err := o.unasked(p); err != nil {
		return nil, trim.Result{}, err
	}
	whole, left, err := beside(p, all)
	if err != nil {
		return nil, trim.Result{}, err
	}
	o.Getenv = renumbered(run.Getenv, p, whole)
	t := &trimTrials{o: &o, name: "trim-" + replayjournal.NewRun(), left: map[schemas.EventID]bool{}, answers: map[string]bool{}}
	for i := range left {
		t.left[whole.Steps[i].Intent] = true
	}
	result, err := trim.Minimal(ctx, whole, trim.Options{Left: left, Trials: how.Trials, Progress: func(at trim.Trial) { how.Progress(whole, at) }, Try: func(ctx context.Context, without map[int]bool) (trim.End, error) {
		return t.try(ctx, whole, without)
	}})
	var unfit *trim.UnfitError
	switch {
	case errors.As(err, &unfit):
		return nil, result, &query.RequestError{Field: "trim", Value: "true", Reason: unfit.Why}
	case err != nil || maps.Equal(result.Without, left):
		return p, result, err
	}
	trimmed, err := trimmedOf(p, whole, result)
	if err != nil {
		return nil, result, err
	}
	run.Getenv = renumbered(run.Getenv, p, trimmed)
	o.Getenv = run.Getenv
	end, err := t.try(ctx, trimmed, nil)
	if err != nil {
		return nil, result, err
	}
	for i := range trimmed.Steps {
		if out := end.Steps[i]; !out.Fine {
			return nil, result, fmt.Errorf("the plan without what trials left out does not come to its end: step %d (%s) is not done", i+1, trimmed.Steps[i].Command)
		}
	}
	return trimmed, result, nil
}

// beside returns the plan of a whole narrative with what a plan of it left out, as far as that can be tried without
// anybody to ask, and the steps that were left out. Without such a plan it is the plan itself.
func beside(p, all *replay.Plan) (*replay.Plan, map[int]bool, error) {
	in := func(steps []replay.Step, id schemas.EventID) bool {
		return slices.ContainsFunc(steps, func(s replay.Step) bool { return s.Intent == id })
	}
	if all == nil || slices.ContainsFunc(p.Steps, func(s replay.Step) bool { return !in(all.Steps, s.Intent) }) {
		return p, nil, nil
	}
	never := map[int]bool{}
	for i := range all.Steps {
		s := &all.Steps[i]
		why := slices.IndexFunc(p.Left, func(l replay.Left) bool { return l.Intent == s.Intent })
		never[i] = !in(p.Steps, s.Intent) && (why < 0 || p.Left[why].Kind == replay.LeftUnfinished || p.Left[why].Kind == replay.LeftOwn || len(s.Danger) > 0 ||
			slices.ContainsFunc(s.Asks, func(a replay.Ask) bool { return a.Kind != replay.AskFailed }))
	}
	whole, err := trim.Without(all, never)
	if err != nil {
		return nil, nil, err
	}
	left := map[int]bool{}
	for i := range whole.Steps {
		if !in(p.Steps, whole.Steps[i].Intent) {
			left[i] = true
		}
	}
	return whole, left, nil
}

// trimmedOf returns a plan without what trials left out, and with what they put back.
func trimmedOf(p, whole *replay.Plan, result trim.Result) (*replay.Plan, error) {
	at := func(id schemas.EventID) int {
		return slices.IndexFunc(whole.Steps, func(s replay.Step) bool { return s.Intent == id })
	}
	without := map[int]bool{}
	for i := range p.Steps {
		without[i] = result.Without[at(p.Steps[i].Intent)]
	}
	trimmed, err := trim.Without(p, without)
	if err != nil || len(result.Back) == 0 {
		return trimmed, err
	}
	left := slices.DeleteFunc(trimmed.Left, func(l replay.Left) bool { i := at(l.Intent); return i >= 0 && !result.Without[i] })
	if trimmed, err = trim.Without(whole, result.Without); err != nil {
		return nil, err
	}
	trimmed.Left = left
	return trimmed, trimmed.Identify()
}

// renumbered returns an environment in which the values that it has for single steps of a plan have the names that they
// have for the same steps of a trimmed one.
func renumbered(getenv func(string) string, p, trimmed *replay.Plan) func(string) string {
	was := map[string]string{}
	for i := range trimmed.Steps {
		s := &trimmed.Steps[i]
		old := slices.IndexFunc(p.Steps, func(o replay.Step) bool { return o.Intent == s.Intent })
		for _, ask := range s.Asks {
			was[ask.OwnName(i)] = ask.OwnName(old)
		}
	}
	return func(name string) string { return getenv(cmp.Or(was[name], name)) }
}

// trimTrials runs a plan again and again.
type trimTrials struct {
	o       *Options
	name    string
	count   int
	left    map[schemas.EventID]bool // what only the plan of the whole narrative has
	answers map[string]bool          // what Confirm said, by question
}

// try runs a plan once without some of its steps, in a sandbox that is thrown away.
func (t *trimTrials) try(ctx context.Context, p *replay.Plan, without map[int]bool) (trim.End, error) {
	t.count++
	box, err := t.o.open(ctx, t.name+"-"+strconv.Itoa(t.count), p)
	if err != nil {
		return trim.End{}, err
	}
	defer func() { _ = box.Discard() }()
	env := t.o.env()
	env["GIT_AUTHOR_DATE"], env["GIT_COMMITTER_DATE"] = trialDate, trialDate // so that commits are the same each time
	report, err := run.Run(ctx, p, run.Options{
		Run: t.name, Executor: box, Journal: forgets{}, Without: without, Timeout: t.o.Timeout,
		Policy: run.Policy{OnFailure: run.OnFailureSkip}, Env: env, Values: t.o.values(p), Confirm: t.confirm,
	})
	switch {
	case err != nil:
		return trim.End{}, err
	case ctx.Err() != nil:
		return trim.End{}, ctx.Err()
	}
	return t.end(ctx, box, report, env)
}

// trialDate is the time of all commits of trials, in the form of git.
const trialDate = "1767225600 +0000"

// confirm asks each question once. What the evidence left out is tried although it failed when it was recorded.
func (t *trimTrials) confirm(ctx context.Context, q run.Question) (bool, error) {
	if t.left[q.Step.Intent] {
		return q.Kind == run.QuestionAsk, nil
	}
	key := strings.Join([]string{q.Kind, q.Step.Intent.String(), q.Program, q.Text}, "\x00")
	yes, known := t.answers[key]
	if known || t.o.Confirm == nil {
		return yes, nil
	}
	yes, err := t.o.Confirm(ctx, q)
	t.answers[key] = yes
	return yes, err
}

// end returns what a trial came to.
func (t *trimTrials) end(ctx context.Context, box *sandbox.Sandbox, report run.Report, env map[string]string) (trim.End, error) {
	end := trim.End{Steps: map[int]trim.Outcome{}, Files: map[string]string{}, Wrote: map[int][]string{}}
	for _, o := range report.Steps {
		end.Steps[o.Step] = trim.Outcome{Fine: o.Status.Fine(), Ran: o.Attempt > 0, Exit: o.Exit, Output: o.Output}
		for _, f := range o.Files {
			end.Wrote[o.Step] = append(end.Wrote[o.Step], f.Path)
		}
		if o.MoreFiles > 0 {
			return end, &trim.UnfitError{Why: fmt.Sprintf("step %d (%s) changes too many files to compare them after each trial", o.Step+1, o.Command)}
		}
	}
	changes, err := box.Changes()
	if err != nil {
		return end, err
	}
	repositories := map[string]bool{}
	for _, c := range changes {
		path := filepath.Join(box.Dir(), c.Path)
		if root, _, inside := strings.Cut(path, "/.git/"); inside {
			repositories[root] = true
		}
		if !commands.CachedFile(path) && !ofGit.MatchString(path) {
			end.Files[path] = state(c)
		}
	}
	for root := range repositories {
		text, err := staged(ctx, box, root, env)
		if err != nil {
			return end, err
		}
		end.Files[root+"/.git/index"] = text
	}
	return end, nil
}

// ofGit matches files in which git keeps what says nothing beside the references and what is staged: objects, by their
// hashes, the history of references, and what its last command did.
var ofGit = regexp.MustCompile(`(^|/)objects/(pack|info|[0-9a-f]{2})(/.*)?$|/\.git/(.*/)?(index|logs(/.*)?|ORIG_HEAD|FETCH_HEAD|COMMIT_EDITMSG|gc\.log|objects)$`)

// state returns a change in a form that can be compared.
func state(c sandbox.Change) string {
	if c.New == nil {
		return "absent"
	}
	return fmt.Sprint(c.New.Mode, " ", c.New.Size, " ", c.New.Hash, " ", c.New.Link)
}

// staged returns a hash of what is staged in a repository.
func staged(ctx context.Context, box *sandbox.Sandbox, root string, env map[string]string) (string, error) {
	c := sandbox.Command{Args: []string{"sh", "-c", `git -C "$1" ls-files --stage 2>&1 | git hash-object --stdin`, "sh", root}, Dir: box.Dir(), Timeout: time.Minute}
	for name, value := range env {
		c.Env = append(c.Env, name+"="+value)
	}
	slices.Sort(c.Env)
	res, err := box.Run(ctx, c)
	if err != nil {
		return "", fmt.Errorf("look at what is staged in %s: %w", root, err)
	}
	return res.Output, nil
}
