package ask

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// Limits of narrative queries. They are part of the API.
const (
	// MaxRef is the maximum length of a reference to a command, in bytes.
	MaxRef = 300
	// DefaultDepth and MaxDepth limit the distance of a walk from its root, in edges.
	DefaultDepth = 5
	MaxDepth     = 32
	// DefaultNodes and MaxNodes limit the number of commands in an answer.
	DefaultNodes = 50
	MaxNodes     = 1000
	// DefaultCauses is the default number of causes in an answer of why.
	DefaultCauses = 10
)

// NothingShows begins the hint of why about a command without causes.
const NothingShows = "nothing recorded shows what led to it; "

// RanBefore is the part of a hint of why that says how to ask what else ran around a command.
const RanBefore = "kind temporal lists what ran before it, stitch what ran around it"

// Walk has the limits of a walk over the narrative.
type Walk struct {
	Depth     int      `json:"depth,omitempty" minimum:"1" maximum:"32" default:"5" example:"5" doc:"Maximum distance from the root in edges; why counts consecutive retries of one command as one."`
	Nodes     int      `json:"nodes,omitempty" minimum:"1" maximum:"1000" default:"50" example:"50" doc:"Maximum number of commands."`
	Kinds     []string `json:"kinds,omitempty" example:"[\"causal\",\"dependency\"]" doc:"Follow only edges of these kinds: temporal, retry, fixes, dependency, branch, causal, similar. Default: the kinds that suit the query."`
	MinWeight float64  `json:"min_weight,omitempty" minimum:"0" maximum:"1" example:"0.3" doc:"Follow only edges with at least this weight."`
}

// Edge is an edge from an earlier command to a later one.
type Edge struct {
	From     schemas.EventID `json:"from" format:"uuid" doc:"The earlier command."`
	To       schemas.EventID `json:"to" format:"uuid" doc:"The later command."`
	Kind     string          `json:"kind" enum:"temporal,retry,fixes,dependency,branch,causal,similar" example:"dependency" doc:"The kind of the edge."`
	Weight   float64         `json:"weight" example:"0.8" doc:"How strongly the evidence supports the edge, 0 to 1."`
	Rule     string          `json:"rule" example:"dependency/2" doc:"The rule that made the edge, and its version."`
	Evidence []EdgeEvidence  `json:"evidence" nullable:"false" doc:"The evidence for the edge."`
}

// EdgeEvidence is one piece of evidence for an edge.
type EdgeEvidence struct {
	Position schemas.Position `json:"position" doc:"The position of the event that shows it."`
	Shows    string           `json:"shows" example:"wrote" doc:"What it shows, in a few words."`
	Resource string           `json:"resource,omitempty" example:"path:/src/app/Makefile" doc:"What the two commands have in common."`
	Score    float64          `json:"score,omitempty" example:"0.93" doc:"The measured value, if there is one."`
}

// WhyRequest is a request for what led to a command.
type WhyRequest struct {
	Ref   string `json:"id" maxLength:"300" example:"018f3c2a" doc:"The command: its id, a prefix of the id, or TOPIC/PARTITION/OFFSET."`
	Limit int    `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"10" example:"10" doc:"Maximum number of causes."`
	Walk
	query.Moment
}

// WhyResponse has the commands that led to a command.
type WhyResponse struct {
	query.Basis
	Root   Intent   `json:"root" doc:"The command that was queried."`
	Causes []Cause  `json:"causes" nullable:"false" doc:"The commands that led to it, the best supported first."`
	Edges  []Edge   `json:"edges" nullable:"false" doc:"The edges between these commands, in the order they were followed."`
	Fixes  []Reason `json:"fixes" nullable:"false" doc:"If it failed: the success that fixed it, and what changed something in between, oldest first."`
	// Replays is nil if no replay ran the root.
	Replays *Replays `json:"replays,omitempty" doc:"How the queried command fared when replays ran it again; absent if none did."`
}

// Cause is one command that led to another.
type Cause struct {
	Intent
	Score float64 `json:"score" example:"0.72" doc:"How well it is supported as a cause, 0 to 1: the highest product of edge factors over all paths to it."`
	Depth int     `json:"depth" example:"1" doc:"The length of that path in edges; consecutive retries of one command count as one."`
	// Path has the commands from the root back to the cause.
	Path []schemas.EventID `json:"path" nullable:"false" doc:"The commands on that path, from the root to the cause."`
	// Confidence and Signals are set if the root failed.
	Confidence float64  `json:"confidence,omitempty" example:"0.82" doc:"Only for a root that failed: the probability that a reader of the session accepts it as a cause, as measured on labelled sessions. Causes of a failure are ordered by it."`
	Signals    []string `json:"signals,omitempty" example:"[\"wrote\",\"named\"]" doc:"The facts that the confidence follows from."`
	Why        string   `json:"why" example:"it wrote /src/app/Makefile, which this reads" doc:"How it relates to the next command on that path, as a sentence."`
}

// StitchRequest is a request for the narrative around a command.
type StitchRequest struct {
	Ref string `json:"id" maxLength:"300" example:"018f3c2a" doc:"The command: its id, a prefix of the id, or TOPIC/PARTITION/OFFSET."`
	Walk
	query.Moment
}

// StitchResponse is a narrative: commands in chronological order and the edges between
// them.
type StitchResponse struct {
	query.Basis
	Root      schemas.EventID `json:"root" format:"uuid" doc:"The command at the centre."`
	Nodes     []Node          `json:"nodes" nullable:"false" doc:"The commands, oldest first."`
	Edges     []Edge          `json:"edges" nullable:"false" doc:"The edges between them, ordered by later end, earlier end, then kind."`
	Truncated bool            `json:"truncated" doc:"Whether commands were left out because of depth or nodes."`
}

// Node is one command of a narrative.
type Node struct {
	Intent
	Depth int `json:"depth" example:"1" doc:"The distance from the root in edges."`
}

// DiffRequest is a request to compare two narratives.
type DiffRequest struct {
	A string `json:"a" maxLength:"300" example:"018f3c2a" doc:"The first command: its id, a prefix of the id, or TOPIC/PARTITION/OFFSET."`
	B string `json:"b" maxLength:"300" example:"018f3c55" doc:"The second command."`
	Walk
	query.Moment
}

// The values of DiffLine.Way.
const (
	DiffCommon  = "common"
	DiffChanged = "changed"
	DiffOnlyA   = "only_a"
	DiffOnlyB   = "only_b"
)

// DiffResponse is two narratives aligned.
type DiffResponse struct {
	query.Basis
	A       schemas.EventID  `json:"a" format:"uuid" doc:"The first command."`
	B       schemas.EventID  `json:"b" format:"uuid" doc:"The second command."`
	Lines   []DiffLine       `json:"lines" nullable:"false" doc:"The two narratives side by side, in chronological order."`
	Counts  map[string]int64 `json:"counts" doc:"The number of lines by way."`
	Verdict string           `json:"verdict,omitempty" example:"B fails where A succeeded; first difference: git_head" doc:"A one-sentence answer to \"it worked then, why not now\", if the outcomes differ."`
	// ReplaysA and ReplaysB are nil if no replay ran the command.
	ReplaysA *Replays `json:"replays_a,omitempty" doc:"How the first command fared when replays ran it again; absent if none did."`
	ReplaysB *Replays `json:"replays_b,omitempty" doc:"The same of the second command."`
}

// DiffLine is one command of A, one of B, or one of each.
type DiffLine struct {
	Way     string   `json:"way" enum:"common,changed,only_a,only_b" example:"changed" doc:"common, changed, only_a or only_b."`
	A       *Intent  `json:"a,omitempty" doc:"The command in A."`
	B       *Intent  `json:"b,omitempty" doc:"The command in B."`
	Changes []Change `json:"changes,omitempty" doc:"The differences between the two."`
}

// Change is one difference between two runs.
type Change struct {
	Field string `json:"field" enum:"arguments,outcome,cwd,git_head,environment,host,user,author,duration" example:"outcome" doc:"The field that differs."`
	A     string `json:"a" example:"ok" doc:"Its value in A."`
	B     string `json:"b" example:"exit 2" doc:"Its value in B."`
}

// Normal fills in the defaults and checks the request. The error is a
// *RequestError.
func (r WhyRequest) Normal() (WhyRequest, error) {
	var err error
	if r.Ref, err = normalRef("id", r.Ref); err != nil {
		return r, err
	}
	if r.Limit == 0 {
		r.Limit = DefaultCauses
	}
	if err := query.CheckLimit(r.Limit, MaxLimit); err != nil {
		return r, err
	}
	if r.Walk, err = r.Walk.normal(); err != nil {
		return r, err
	}
	r.Moment, err = r.Moment.Normal()
	return r, err
}

// Normal fills in the defaults and checks the request. The error is a
// *RequestError.
func (r StitchRequest) Normal() (StitchRequest, error) {
	var err error
	if r.Ref, err = normalRef("id", r.Ref); err != nil {
		return r, err
	}
	if r.Walk, err = r.Walk.normal(); err != nil {
		return r, err
	}
	r.Moment, err = r.Moment.Normal()
	return r, err
}

// Normal fills in the defaults and checks the request. The error is a
// *RequestError.
func (r DiffRequest) Normal() (DiffRequest, error) {
	var err error
	if r.A, err = normalRef("a", r.A); err != nil {
		return r, err
	}
	if r.B, err = normalRef("b", r.B); err != nil {
		return r, err
	}
	if r.Walk, err = r.Walk.normal(); err != nil {
		return r, err
	}
	r.Moment, err = r.Moment.Normal()
	return r, err
}

func normalRef(field, ref string) (string, error) {
	ref = strings.TrimSpace(ref)
	switch {
	case ref == "":
		return ref, &query.RequestError{Field: field, Value: `""`, Reason: "want a command's id, a prefix of it, or TOPIC/PARTITION/OFFSET"}
	case len(ref) > MaxRef:
		return ref, &query.RequestError{Field: field, Value: fmt.Sprintf("%d bytes", len(ref)), Reason: fmt.Sprintf("want at most %d", MaxRef)}
	}
	return ref, nil
}

// normal fills in the defaults, checks the bounds, and puts the kinds in order,
// each once.
func (w Walk) normal() (Walk, error) {
	if w.Depth == 0 {
		w.Depth = DefaultDepth
	}
	if w.Nodes == 0 {
		w.Nodes = DefaultNodes
	}
	switch {
	case w.Depth < 0 || w.Depth > MaxDepth:
		return w, &query.RequestError{Field: "depth", Value: w.Depth, Reason: fmt.Sprintf("want 1 to %d", MaxDepth)}
	case w.Nodes < 0 || w.Nodes > MaxNodes:
		return w, &query.RequestError{Field: "nodes", Value: w.Nodes, Reason: fmt.Sprintf("want 1 to %d", MaxNodes)}
	case !(w.MinWeight >= 0 && w.MinWeight <= 1): // also not a number
		return w, &query.RequestError{Field: "min_weight", Value: fmt.Sprint(w.MinWeight), Reason: "want 0 to 1"}
	}
	for _, name := range w.Kinds {
		if !slices.Contains(schemas.NarrativeEdges[:], name) {
			return w, &query.RequestError{Field: "kinds", Value: strconv.Quote(name), Reason: "want one of " + strings.Join(schemas.NarrativeEdges[:], ", ")}
		}
	}
	var kinds []string
	for _, name := range schemas.NarrativeEdges {
		if slices.Contains(w.Kinds, name) {
			kinds = append(kinds, name)
		}
	}
	w.Kinds = kinds
	return w, nil
}
