package ask

import (
	"strings"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// InsightsRequest is a request for patterns.
type InsightsRequest struct {
	Filters Filters `json:"filters,omitzero" doc:"The commands to examine."`
	Limit   int     `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"10" example:"10" doc:"Maximum number of entries in each list."`
	// After is the command after which to suggest the next; empty means the newest command
	// that passes the filters.
	After string `json:"after,omitempty" maxLength:"300" example:"018f3c2a" doc:"Suggest what comes after this command: its id, a prefix of the id, or TOPIC/PARTITION/OFFSET. Default: the newest that passes the filters."`
	query.Moment
}

// InsightsResponse has what recurs.
type InsightsResponse struct {
	query.Basis
	Commands  int64            `json:"commands" example:"10000" doc:"The number of commands examined."`
	Templates []TemplateStat   `json:"templates" nullable:"false" doc:"Templates that were run repeatedly, the most frequent first."`
	Sequences []SequenceStat   `json:"sequences" nullable:"false" doc:"Templates that were run in sequence, the most significant first."`
	Failures  []FailureCluster `json:"failures" nullable:"false" doc:"Failures of the same kind, the most frequent first."`
	After     *Intent          `json:"after,omitempty" doc:"The command that the suggestions follow."`
	Next      []Suggestion     `json:"next" nullable:"false" doc:"The commands that usually come next, the most likely first."`
}

// TemplateStat has the counts and outcomes of a template's runs.
type TemplateStat struct {
	Template    string             `json:"template" example:"go test <path>" doc:"The normalised template."`
	Runs        int64              `json:"runs" example:"120" doc:"The number of runs."`
	Failed      int64              `json:"failed" example:"14" doc:"The number of failed runs."`
	Unknown     int64              `json:"unknown,omitempty" example:"3" doc:"The number of runs whose outcome is not known, or that were interrupted."`
	FailureRate float64            `json:"failure_rate" example:"0.12" doc:"Failed runs as a fraction of those whose outcome is known."`
	Sessions    int64              `json:"sessions" example:"31" doc:"The number of sessions with such a run."`
	Last        time.Time          `json:"last" doc:"The time of the last run."`
	Example     Intent             `json:"example" doc:"The newest run."`
	Evidence    []schemas.Position `json:"evidence" nullable:"false" doc:"The positions of some of the newest runs."`
}

// SequenceStat is a sequence of templates within sessions.
type SequenceStat struct {
	Templates []string           `json:"templates" nullable:"false" doc:"The templates in order."`
	Runs      int64              `json:"runs" example:"42" doc:"The number of runs of the whole sequence."`
	Sessions  int64              `json:"sessions" example:"17" doc:"The number of sessions with such a run."`
	Lift      float64            `json:"lift" example:"8.5" doc:"How many times more often it occurs than if the templates were independent."`
	Evidence  []schemas.Position `json:"evidence" nullable:"false" doc:"The positions at which some of the newest runs begin."`
}

// FailureCluster is a group of similar failures.
type FailureCluster struct {
	Template  string             `json:"template" example:"make <arg>" doc:"The template that fails."`
	ExitCode  int32              `json:"exit_code" example:"2" doc:"The exit code."`
	Runs      int64              `json:"runs" example:"9" doc:"The number of failures."`
	Sessions  int64              `json:"sessions" example:"4" doc:"The number of sessions with such a run."`
	First     time.Time          `json:"first" doc:"The time of the first failure."`
	Last      time.Time          `json:"last" doc:"The time of the last failure."`
	Fixed     int64              `json:"fixed" example:"7" doc:"The number of times that the template then succeeded in the same workspace."`
	Example   Intent             `json:"example" doc:"The newest failure."`
	Signature string             `json:"signature,omitempty" example:"undefined: <arg>" doc:"What the outputs have in common, with values replaced; empty if no output was recorded."`
	Evidence  []schemas.Position `json:"evidence" nullable:"false" doc:"The positions of some of the newest failures."`
}

// Suggestion is a command that usually comes next.
type Suggestion struct {
	Template    string             `json:"template" example:"git push" doc:"The template that usually comes next."`
	Command     string             `json:"command" example:"git push origin main" doc:"The newest command of that template that came next."`
	Probability float64            `json:"probability" example:"0.64" doc:"The smoothed probability that it comes next."`
	Times       int64              `json:"times" example:"16" doc:"The number of times that it came next."`
	Of          int64              `json:"of" example:"24" doc:"The number of times that any command came next."`
	Given       string             `json:"given" example:"git commit <flags>" doc:"The context: the preceding templates that matched, or the preceding template and its outcome."`
	Evidence    []schemas.Position `json:"evidence" nullable:"false" doc:"The positions of some of the newest such commands."`
}

// Normal fills in the defaults and checks the request. The error is a
// *RequestError.
func (r InsightsRequest) Normal() (InsightsRequest, error) {
	if r.Limit == 0 {
		r.Limit = DefaultLimit
	}
	if err := query.CheckLimit(r.Limit, MaxLimit); err != nil {
		return r, err
	}
	var err error
	if r.Moment, err = r.Moment.Normal(); err != nil {
		return r, err
	}
	r.After = strings.TrimSpace(r.After)
	return r, r.Filters.Check()
}
