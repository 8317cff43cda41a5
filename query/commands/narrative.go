package commands

import (
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// Limits of the questions about narratives. They are part of the API.
const (
	// MaxRef is the longest reference to a command in bytes.
	MaxRef = 300
	// DefaultDepth and MaxDepth bound how many edges a walk goes from its root.
	DefaultDepth = 5
	MaxDepth     = 32
	// DefaultNodes and MaxNodes bound how many commands an answer holds.
	DefaultNodes = 50
	MaxNodes     = 1000
	// DefaultCauses is how many causes why ranks.
	DefaultCauses = 10
)

// Walk bounds a walk over the narrative.
type Walk struct {
	Depth     int      `json:"depth,omitempty" minimum:"1" maximum:"32" default:"5" example:"5" doc:"How many edges to go from the root at most; why counts tries of one thing, one after the other, as one."`
	Nodes     int      `json:"nodes,omitempty" minimum:"1" maximum:"1000" default:"50" example:"50" doc:"How many commands at most."`
	Kinds     []string `json:"kinds,omitempty" example:"[\"causal\",\"dependency\"]" doc:"Follow only edges of these kinds: temporal, retry, fixes, dependency, branch, causal, similar. Empty follows those that the question is about."`
	MinWeight float64  `json:"min_weight,omitempty" minimum:"0" maximum:"1" example:"0.3" doc:"Follow only edges of this weight or more."`
}

// Edge joins an earlier command to a later one.
type Edge struct {
	From     schemas.EventID `json:"from" format:"uuid" doc:"The earlier command."`
	To       schemas.EventID `json:"to" format:"uuid" doc:"The later command."`
	Kind     string          `json:"kind" enum:"temporal,retry,fixes,dependency,branch,causal,similar" example:"dependency" doc:"What joins them."`
	Weight   float64         `json:"weight" example:"0.8" doc:"How much the evidence supports the edge, 0 to 1."`
	Rule     string          `json:"rule" example:"dependency/1" doc:"The rule that formed it, and the rule's version."`
	Evidence []EdgeEvidence  `json:"evidence" nullable:"false" doc:"What it rests on."`
}

// EdgeEvidence is one thing that supports an edge.
type EdgeEvidence struct {
	Position schemas.Position `json:"position" doc:"The event that shows it."`
	Shows    string           `json:"shows" example:"wrote" doc:"What it shows, in a few words."`
	Resource string           `json:"resource,omitempty" example:"path:/src/app/Makefile" doc:"What the two commands have in common."`
	Score    float64          `json:"score,omitempty" example:"0.93" doc:"The measure, where there is one."`
}

// WhyRequest asks what led to a command.
type WhyRequest struct {
	Ref   string `json:"id" maxLength:"300" example:"018f3c2a" doc:"The command: its id, the start of it, or TOPIC/PARTITION/OFFSET."`
	Limit int    `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"10" example:"10" doc:"How many causes at most."`
	Walk
	query.Moment
}

// WhyResponse is what led to a command.
type WhyResponse struct {
	query.Basis
	Root   Intent  `json:"root" doc:"The command asked about."`
	Causes []Cause `json:"causes" nullable:"false" doc:"What led to it, the best supported first."`
	Edges  []Edge  `json:"edges" nullable:"false" doc:"The edges between these commands, in the order they were walked."`
}

// Cause is one command that led to another.
type Cause struct {
	Intent
	Score float64 `json:"score" example:"0.72" doc:"How well it is supported as a cause: the best product of what the edges on a path to it carry, 0 to 1."`
	Depth int     `json:"depth" example:"1" doc:"How many edges it is away on that path; tries of one thing, one after the other, count as one."`
	// Path leads from the root back to the cause.
	Path []schemas.EventID `json:"path" nullable:"false" doc:"The commands on that path, from the root to the cause."`
	Why  string            `json:"why" example:"it wrote /src/app/Makefile, which this reads" doc:"What it has to do with the next command of that path, in words: this, or that command by its start."`
}

// StitchRequest asks for the narrative around a command.
type StitchRequest struct {
	Ref string `json:"id" maxLength:"300" example:"018f3c2a" doc:"The command: its id, the start of it, or TOPIC/PARTITION/OFFSET."`
	Walk
	query.Moment
}

// StitchResponse is a narrative: commands in the order of time and the edges
// among them.
type StitchResponse struct {
	query.Basis
	Root      schemas.EventID `json:"root" format:"uuid" doc:"The command it is around."`
	Nodes     []Node          `json:"nodes" nullable:"false" doc:"The commands, oldest first."`
	Edges     []Edge          `json:"edges" nullable:"false" doc:"The edges among them, by their later end, then by their earlier one, then by kind."`
	Truncated bool            `json:"truncated" doc:"Whether depth or nodes cut commands off."`
}

// Node is one command of a narrative.
type Node struct {
	Intent
	Depth int `json:"depth" example:"1" doc:"How many edges it is away from the root."`
}

// DiffRequest asks how two narratives differ.
type DiffRequest struct {
	A string `json:"a" maxLength:"300" example:"018f3c2a" doc:"The one command: its id, the start of it, or TOPIC/PARTITION/OFFSET."`
	B string `json:"b" maxLength:"300" example:"018f3c55" doc:"The other."`
	Walk
	query.Moment
}

// The ways in which a line of a diff can stand.
const (
	DiffCommon  = "common"
	DiffChanged = "changed"
	DiffOnlyA   = "only_a"
	DiffOnlyB   = "only_b"
)

// DiffResponse is two narratives aligned.
type DiffResponse struct {
	query.Basis
	A       schemas.EventID  `json:"a" format:"uuid" doc:"The one command."`
	B       schemas.EventID  `json:"b" format:"uuid" doc:"The other."`
	Lines   []DiffLine       `json:"lines" nullable:"false" doc:"The two narratives side by side, in order of time."`
	Counts  map[string]int64 `json:"counts" doc:"How many lines there are of each way."`
	Verdict string           `json:"verdict,omitempty" example:"B fails where A succeeded; first difference: git_head" doc:"The question \"it worked then, why not now\" in a sentence, where outcomes differ."`
}

// DiffLine is one command of A, one of B, or one of each.
type DiffLine struct {
	Way     string   `json:"way" enum:"common,changed,only_a,only_b" example:"changed" doc:"common, changed, only_a or only_b."`
	A       *Intent  `json:"a,omitempty" doc:"The command in A."`
	B       *Intent  `json:"b,omitempty" doc:"The command in B."`
	Changes []Change `json:"changes,omitempty" doc:"What differs between the two."`
}

// Change is one thing in which two runs differ.
type Change struct {
	Field string `json:"field" enum:"arguments,outcome,cwd,git_head,environment,host,user,author,duration" example:"outcome" doc:"What differs."`
	A     string `json:"a" example:"ok" doc:"In A."`
	B     string `json:"b" example:"exit 2" doc:"In B."`
}

// InsightsRequest asks for patterns.
type InsightsRequest struct {
	Filters Filters `json:"filters,omitzero" doc:"Which commands to look at."`
	Limit   int     `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"10" example:"10" doc:"How many of each sort at most."`
	// After asks for what usually comes next; empty means after the newest command
	// that passes the filters.
	After string `json:"after,omitempty" maxLength:"300" example:"018f3c2a" doc:"Suggest what comes after this command: its id, the start of it, or TOPIC/PARTITION/OFFSET. Empty: after the newest that passes the filters."`
	query.Moment
}

// InsightsResponse is what recurs.
type InsightsResponse struct {
	query.Basis
	Commands  int64            `json:"commands" example:"10000" doc:"How many commands were looked at."`
	Templates []TemplateStat   `json:"templates" nullable:"false" doc:"What is run again and again, the most frequent first."`
	Sequences []SequenceStat   `json:"sequences" nullable:"false" doc:"What is run one after the other, the most telling first."`
	Failures  []FailureCluster `json:"failures" nullable:"false" doc:"What fails in the same way, the most frequent first."`
	After     *Intent          `json:"after,omitempty" doc:"The command that the suggestions follow."`
	Next      []Suggestion     `json:"next" nullable:"false" doc:"What usually comes next, the likeliest first."`
}

// TemplateStat is how often a template was run, and how it went.
type TemplateStat struct {
	Template    string             `json:"template" example:"go test <path>" doc:"The normalised template."`
	Runs        int64              `json:"runs" example:"120" doc:"How often it was run."`
	Failed      int64              `json:"failed" example:"14" doc:"How often it failed."`
	FailureRate float64            `json:"failure_rate" example:"0.12" doc:"Failed, of those whose outcome is known."`
	Sessions    int64              `json:"sessions" example:"31" doc:"In how many sessions."`
	Last        time.Time          `json:"last" doc:"When it was last run."`
	Example     Intent             `json:"example" doc:"The newest run."`
	Evidence    []schemas.Position `json:"evidence" nullable:"false" doc:"The newest runs, a few."`
}

// SequenceStat is templates that follow one another within sessions.
type SequenceStat struct {
	Templates []string           `json:"templates" nullable:"false" doc:"In order."`
	Runs      int64              `json:"runs" example:"42" doc:"How often the whole was run."`
	Sessions  int64              `json:"sessions" example:"17" doc:"In how many sessions."`
	Lift      float64            `json:"lift" example:"8.5" doc:"How many times as often as if the templates came independently."`
	Evidence  []schemas.Position `json:"evidence" nullable:"false" doc:"Where the newest runs begin, a few."`
}

// FailureCluster is failures that are alike.
type FailureCluster struct {
	Template  string             `json:"template" example:"make <arg>" doc:"The template that fails."`
	ExitCode  int32              `json:"exit_code" example:"2" doc:"How."`
	Runs      int64              `json:"runs" example:"9" doc:"How often."`
	Sessions  int64              `json:"sessions" example:"4" doc:"In how many sessions."`
	First     time.Time          `json:"first" doc:"When first."`
	Last      time.Time          `json:"last" doc:"When last."`
	Fixed     int64              `json:"fixed" example:"7" doc:"How often the template then succeeded in the same workspace."`
	Example   Intent             `json:"example" doc:"The newest of them."`
	Signature string             `json:"signature,omitempty" example:"undefined: <arg>" doc:"What the outputs have in common, values replaced; empty where no output was recorded."`
	Evidence  []schemas.Position `json:"evidence" nullable:"false" doc:"The newest of them, a few."`
}

// Suggestion is a command that usually comes next.
type Suggestion struct {
	Template    string             `json:"template" example:"git push" doc:"What usually comes next."`
	Command     string             `json:"command" example:"git push origin main" doc:"The newest command of that template that came next."`
	Probability float64            `json:"probability" example:"0.64" doc:"How often it came next, of all that did, smoothed."`
	Times       int64              `json:"times" example:"16" doc:"How often it came next."`
	Of          int64              `json:"of" example:"24" doc:"How often anything did."`
	Given       string             `json:"given" example:"git commit <flags>" doc:"After what: the templates that were matched, or the template and how it ended."`
	Evidence    []schemas.Position `json:"evidence" nullable:"false" doc:"The newest times it did, a few."`
}
