package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/question"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/transform"
)

// Limits of a request. They are part of the API.
const (
	DefaultLimit = 2000
	MaxLimit     = 10000
	maxMaps      = 64
)

// Request asks for a plan. One of To, Session, Stitch, Find and Mend names the narrative.
type Request struct {
	To      string            `json:"to,omitempty" maxLength:"300" example:"018f3c2a" doc:"Plan this command and all that it needed: its id, a prefix of the id, or TOPIC/PARTITION/OFFSET."`
	Session string            `json:"session,omitempty" maxLength:"256" example:"tty7-4711" doc:"Plan what the commands of this session left."`
	From    string            `json:"from,omitempty" maxLength:"300" doc:"With session: begin at this command."`
	Until   string            `json:"until,omitempty" maxLength:"300" doc:"With session: end with this command."`
	Stitch  string            `json:"stitch,omitempty" maxLength:"300" example:"018f3c2a" doc:"Plan the narrative around this command."`
	Find    string            `json:"find,omitempty" maxLength:"4096" example:"build the docs" doc:"Plan the commands that this search finds."`
	Filters commands.Filters  `json:"filters,omitzero" doc:"With find: conditions that every command must satisfy."`
	Mend    string            `json:"mend,omitempty" maxLength:"300" example:"018f3c2a" doc:"Plan how this failure was mended: the next run of the same command that worked, or a later one if what made it work was taken back in its session, with what it needs of the commands since then and of those of the session before."`
	All     bool              `json:"all,omitempty" doc:"Leave nothing out."`
	Map     []string          `json:"map,omitempty" maxItems:"64" example:"[\"/home/ann/app=/home/bob/app\"]" doc:"What to replace by what: FROM=TO for paths; user:, host:, port:, branch:, container: and image: before FROM for names."`
	Set     map[string]string `json:"set,omitempty" doc:"Values of parameters, by name."`
	Home    string            `json:"home,omitempty" maxLength:"4096" example:"/home/bob" doc:"The home directory of whoever will run the plan. Default: what the mappings make of the recorded one."`
	Here    *Here             `json:"here,omitempty" doc:"The environment in which the plan will run, to compare with the recorded one."`
	Limit   int               `json:"limit,omitempty" minimum:"1" maximum:"10000" default:"2000" example:"2000" doc:"The maximum number of commands that are looked at; the newest count."`
	query.Moment
}

// Here is the environment in which a plan will run.
type Here struct {
	User  string            `json:"user,omitempty" example:"bob" doc:"The user."`
	Host  string            `json:"host,omitempty" example:"build1" doc:"The host."`
	Shell string            `json:"shell,omitempty" example:"bash" doc:"The shell."`
	Env   map[string]string `json:"env,omitempty" doc:"Environment variables. Only those that were recorded are compared."`
}

// Response is a plan.
type Response struct {
	Status string      `json:"status" enum:"ok,empty" example:"ok" doc:"ok, or empty if nothing is to be run."`
	Hint   string      `json:"hint,omitempty" doc:"What limits the plan, or why it is empty."`
	Plan   replay.Plan `json:"plan" doc:"The plan."`
	Agree  []Agree     `json:"agree,omitempty" doc:"The dangerous steps: to run the plan over HTTP or MCP, name each by its hash."`
}

// Agree is a step that is run only if whoever asks for the run agrees to it by its hash.
type Agree struct {
	Step int    `json:"step" example:"2" doc:"The step's index."`
	Hash string `json:"hash" example:"9b1f0c6e0b9d4c0f8a6d8f2a0e8f7c1b3d5a79e1c2b4d6f8a0b2c4d6e8f0a1b3" doc:"Names the step, its place and what is dangerous about it: SHA-256, in hex."`
}

// Normal fills in the defaults and checks the request. The error is a *query.RequestError.
func (r Request) Normal() (Request, error) {
	var named []string
	for _, s := range []struct{ name, value string }{{"to", r.To}, {"session", r.Session}, {"stitch", r.Stitch}, {"find", r.Find}, {"mend", r.Mend}} {
		if s.value != "" {
			named = append(named, s.name)
		}
	}
	switch {
	case len(named) != 1 && !(len(named) == 0 && r.Filters != (commands.Filters{})):
		return r, &query.RequestError{Field: "to", Value: cmp.Or(strings.Join(named, " and "), "none"), Reason: "want one of to, session, stitch, find and mend"}
	case (r.From != "" || r.Until != "") && r.Session == "":
		return r, &query.RequestError{Field: "from", Value: r.From + r.Until, Reason: "from and until are for a session"}
	case r.Limit < 0 || r.Limit > MaxLimit:
		return r, &query.RequestError{Field: "limit", Value: r.Limit, Reason: fmt.Sprintf("want 1 to %d", MaxLimit)}
	case len(r.Map) > maxMaps:
		return r, &query.RequestError{Field: "map", Value: len(r.Map), Reason: fmt.Sprintf("want at most %d", maxMaps)}
	case r.Home != "" && !strings.HasPrefix(r.Home, "/"):
		return r, &query.RequestError{Field: "home", Value: r.Home, Reason: "want an absolute path"}
	}
	if r.Limit == 0 {
		r.Limit = DefaultLimit
	}
	for _, name := range slices.Sorted(maps.Keys(r.Set)) {
		if name == "" || strings.ContainsAny(name, "= \n") {
			return r, &query.RequestError{Field: "set", Value: fmt.Sprintf("%q", name), Reason: "want the name of a parameter"}
		}
	}
	if _, err := transform.Parse(r.Map, r.Home); err != nil {
		return r, err
	}
	var err error
	r.Moment, err = r.Moment.Normal()
	return r, err
}

// Question is the question for a plan, as every API offers it.
var Question = question.New("replay/plan", "Plan to run commands again",
	"Slices a narrative down to what its goal rests on, puts the steps in order, maps them to other paths, names and values, and says what is dangerous about them, what has to be answered, and how to find out that a step need not run. Nothing is executed.",
	func(r Request) error { _, err := r.Normal(); return err }, Answer)

// Questions has all of them.
var Questions = question.List[commands.Sources]{Question}
