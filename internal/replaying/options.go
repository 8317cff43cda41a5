package replaying

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/internal/replayjournal"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/question"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/run"
	"github.com/recountdb/recount/replay/sandbox"
	"github.com/recountdb/recount/schemas"
)

// Log is where a run is written down, and where earlier runs are asked for. A *connect.Backend is one.
type Log interface {
	replayjournal.Appender
	question.Answerer
	Show(ctx context.Context, ref string) (commands.ShowResponse, error)
}

// Options say how a plan is executed.
type Options struct {
	Log Log // Required.
	// Redact removes secrets before an event leaves the process. Required.
	Redact *redact.Redactor
	// Getenv is the environment of whoever asked for the run. Steps get PATH, HOME and a few more
	// of it, and the values that the plan asks for by name. Required.
	Getenv func(string) string
	// Given are the names of values that somebody gave for this run: a plan that does not ask for one is refused.
	Given []string
	// State is a directory, outside of Dir, in which each run has one for what its steps wrote.
	// Required.
	State string
	// Hide are directories that the steps must not see: the data directory. State is hidden too.
	Hide []string

	// AtLeast makes Resume and Discard wait until these events of the run are visible.
	AtLeast schemas.Watermark

	// Dir is the directory that the steps may change; if empty that of replay.Plan.Directory. Resume takes
	// that of the run, and refuses another.
	Dir string
	// Home is the HOME of the steps, if it lies in Dir; otherwise, and if empty,
	// it is that of Getenv. A run that goes on has the one that it began with.
	Home string
	// Isolation is sandbox.IsolationSandbox if empty. Resume takes that of the run.
	Isolation sandbox.Isolation
	Network   bool // the steps may use the network
	Apply     bool // if all steps are done, make the changes in Dir

	Policy  run.Policy
	Steps   map[int]run.Policy // for single steps, by index, instead of Policy
	Without map[int]bool       // steps to go on without, by index, as if they were done
	Jobs    int                // how many steps that need nothing of each other run at once; 1 if zero
	Timeout time.Duration      // of a step; zero means none
	// Confirm decides a question; nil answers no to all. It is called by one goroutine at a time.
	Confirm func(ctx context.Context, q run.Question) (bool, error)
	// Progress is called by one goroutine at a time; it may be nil.
	Progress func(Event)
	// Now is the clock; time.Now if nil.
	Now func() time.Time
}

func (o *Options) validate() error {
	switch {
	case o.Log == nil || o.Redact == nil || o.Getenv == nil:
		return errors.New("replaying: Options need Log, Redact and Getenv")
	case !filepath.IsAbs(o.State):
		return fmt.Errorf("replaying: State %q is not an absolute path", o.State)
	case o.Isolation != "" && !o.Isolation.Known():
		return &query.RequestError{Field: "isolation", Value: string(o.Isolation), Reason: "want " + sandbox.Isolations}
	}
	o.Isolation = cmp.Or(o.Isolation, sandbox.IsolationSandbox)
	if o.Apply && o.Isolation == sandbox.IsolationNone {
		return &query.RequestError{Field: "apply", Value: "true", Reason: "without isolation the steps change the real files already"}
	}
	if o.Progress == nil {
		o.Progress = func(Event) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return nil
}

// stateOf is where what a run wrote is kept until it is applied or discarded.
func (o *Options) stateOf(name string) string { return filepath.Join(o.State, filepath.Base(name)) }

// keepHome writes down the home directory of a new run beside what its steps write, and reads it again
// for one that goes on. A crash before means that no step began, so that a run without it had none.
func (o *Options) keepHome(name string, resumes bool) error {
	file := filepath.Join(o.stateOf(name), "home.txt")
	if !resumes {
		return os.WriteFile(file, []byte(o.Home), 0o600)
	}
	b, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	o.Home = string(b)
	return err
}

// Passed names the variables that all steps have from Getenv: who runs them, in which language, and where
// tools are.
var Passed = append([]string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "CARGO_HOME", "GOPATH"}, sandbox.ToolVariables...)

// env is the environment of all steps. Nothing else of the caller's reaches them.
func (o *Options) env() map[string]string {
	env := map[string]string{"TERM": "dumb"}
	for _, name := range Passed {
		if v := o.Getenv(name); v != "" {
			env[name] = v
		}
	}
	if rel, err := filepath.Rel(o.Dir, o.Home); o.Home != "" && err == nil && filepath.IsLocal(rel) {
		env["HOME"] = o.Home
	}
	env["PATH"] = cmp.Or(env["PATH"], "/usr/local/bin:/usr/bin:/bin")
	return env
}

// values takes the values that a plan asks for from the environment.
func (o *Options) values(p *replay.Plan) map[string]string {
	values := map[string]string{}
	for _, name := range asked(p) {
		if v := o.Getenv(name); v != "" {
			values[name] = v
		}
	}
	return values
}

// asked returns the names of the values that a plan asks for.
func asked(p *replay.Plan) (names []string) {
	for _, s := range p.Steps {
		for _, ask := range s.Asks {
			if ask.Name != "" {
				names = append(names, ask.Name, ask.OwnName(s.Index))
			}
		}
	}
	return names
}

// unasked returns an error if a value is given that a plan does not ask for.
func (o *Options) unasked(p *replay.Plan) error {
	names := asked(p)
	for _, name := range o.Given {
		if !slices.Contains(names, name) {
			reason := "the plan asks for no such value"
			if len(names) > 0 {
				reason += "; it asks for " + strings.Join(names, ", ")
			}
			return &query.RequestError{Field: "values." + name, Reason: reason}
		}
	}
	return nil
}
