package evidence

import (
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// DefaultBytes is the maximum size of an answer of ten hits, as JSON without white space, if no
// optional part is included. What is cut to keep to it is counted in Left. If a log has more than
// five partitions per topic, or offsets of more than ten digits, the answer may be larger by the
// difference.
const DefaultBytes = 8 << 10

// Response is the answer to a Request.
type Response struct {
	Status         string                `json:"query_status" enum:"ok,empty" example:"ok" doc:"ok, or empty if there are no hits."`
	Hint           string                `json:"hint,omitempty" doc:"Why there are no hits and what to change, what was cut off, or from when on events are known."`
	Objects        []Object              `json:"objects" nullable:"false" doc:"The hits, best first. After them, nearest first, the objects around them (mode subgraph) and the results of other kinds that they are joined to."`
	Edges          []Edge                `json:"edges" nullable:"false" doc:"The edges between the objects, and from them to their causes."`
	Provenance     []Event               `json:"provenance" nullable:"false" doc:"The events that support the answer, except the objects' own events: the causes of the hits in chronological order. With include provenance, all events."`
	Versions       []Version             `json:"versions" nullable:"false" doc:"For each object with several versions: the newest three known versions, or all with include versions."`
	Context        string                `json:"context,omitempty" doc:"In mode context: the texts, each after its citation [N], which refers to the N-th object. Every line of a text begins with '> ', and no citation does."`
	Tokens         int                   `json:"tokens,omitempty" example:"1840" doc:"In mode context: the number of tokens, at four bytes a token."`
	Left           *Left                 `json:"left_out,omitempty" doc:"What was cut to keep the answer small; use include, expand.nodes or limit to get more."`
	AppliedFilters []query.AppliedFilter `json:"applied_filters" nullable:"false" doc:"The filters that were applied before ranking, and the bounds."`
	Proof          []Step                `json:"proof_trace" nullable:"false" doc:"The steps by which the answer was computed, in order."`
	Watermark      schemas.Watermark     `json:"watermark" example:"recount.agents/0:42" doc:"The answer is computed from everything below these offsets and nothing above: TOPIC/PARTITION:NEXT."`
	Timing         query.Timing          `json:"timing" doc:"Durations. This is the only part of an answer that differs from run to run."`
}

// AddHint adds to the hint.
func (r *Response) AddHint(hint string) { r.Hint = query.Joined(r.Hint, hint) }

// Left counts what was omitted from an answer.
type Left struct {
	Objects    int `json:"objects,omitempty" example:"3" doc:"Number of objects around the hits."`
	Edges      int `json:"edges,omitempty" example:"12" doc:"Number of edges."`
	Provenance int `json:"provenance,omitempty" example:"40" doc:"Number of events."`
	Versions   int `json:"versions,omitempty" example:"7" doc:"Number of versions, at least."`
	Texts      int `json:"texts,omitempty" example:"2" doc:"In mode context: the number of hits whose text did not fit."`
}

// Object is a thing in an answer: an object of an agent, a command, a symbol of the code, or
// something seen at run time.
type Object struct {
	ID        string    `json:"id" example:"6a1f0c55-d2e9-8b6f-9c44-2f1d6a0b3e55" doc:"The object's id, as in edges: a UUID. For a command, its event's id; for a commit, commit:HASH; for a symbol, symbol:REPOSITORY NAME; for runtime, operation:SERVICE NAME, trace:ID or version:SERVICE VERSION."`
	Kind      string    `json:"kind,omitempty" enum:"commands,commits,symbols,runtime" doc:"The kind of result, if it is not an agent's object."`
	Role      string    `json:"role,omitempty" enum:"around,joined" doc:"Its role in the answer, if it is not a hit: around (found by expansion), joined (a hit is joined to it)."`
	EventID   string    `json:"event_id,omitempty" format:"uuid" doc:"The event that made this version of it."`
	Position  string    `json:"position,omitempty" example:"recount.agents/0/1042" doc:"The position of that event: TOPIC/PARTITION/OFFSET."`
	Type      string    `json:"type" example:"memory" doc:"memory, state, artifact, tool_call, task, handoff, announcement, event, recall; command; a symbol's kind; commit; operation, trace, version."`
	Memory    string    `json:"memory,omitempty" enum:"episodic,factual,procedural,reflective" doc:"The kind of memory."`
	Form      string    `json:"form,omitempty" example:"decision" doc:"How a statement of an agent is meant: decision, fact, note, or a word of its own."`
	Tenant    string    `json:"tenant,omitempty" doc:"The tenant; empty for the default tenant."`
	Workspace string    `json:"workspace,omitempty" example:"/src/app" doc:"The workspace's name."`
	Agent     string    `json:"agent,omitempty" example:"claude" doc:"The agent's name; for a command, its author."`
	Session   string    `json:"session,omitempty" example:"run-17" doc:"The session's name."`
	Time      time.Time `json:"time,omitzero" doc:"When it happened."`
	Title     string    `json:"title,omitempty" example:"go test ./cart" doc:"A one-line title."`
	Snippet   string    `json:"snippet,omitempty" doc:"The best matching passage, shortened."`
	Text      string    `json:"text,omitempty" doc:"The whole text, with include text."`

	Score  float64           `json:"score,omitempty" example:"0.0489" doc:"The fused score, multiplied with the factors in standing; comparable within one answer only."`
	Scores []query.PathScore `json:"scores,omitempty" doc:"The rank and score from each path, with include proof."`
	// Standing has the factors of the fused score.
	Standing *Standing `json:"standing,omitempty" doc:"The factors that the fused score was multiplied with, with include proof."`

	Claim      *Claim `json:"claim,omitempty" doc:"The comparable statement that it makes."`
	ExitCode   *int32 `json:"exit_code,omitempty" example:"2" doc:"The exit code of a command or a tool's result."`
	Failed     bool   `json:"failed,omitempty" doc:"Whether the tool reported an error."`
	Visibility string `json:"visibility,omitempty" enum:"private,session,tenant" doc:"Who may see it, if that is not its workspace."`

	ValidFrom  time.Time `json:"valid_from,omitzero" doc:"The time from which it is valid, if that is not its own time."`
	ValidUntil time.Time `json:"valid_until,omitzero" doc:"The time until which it is valid, if there is an end."`
	Removed    bool      `json:"removed,omitempty" doc:"Whether this version deletes the object."`

	Support      *Support `json:"support,omitempty" doc:"Other objects that say the same, if there are any."`
	Used         int      `json:"used,omitempty" example:"3" doc:"The number of sessions that reported it as useful (recall.used)."`
	SupersededBy *Link    `json:"superseded_by,omitempty" doc:"What replaced it, and how that is known. It is ranked behind valid objects."`
	Contradicted []Link   `json:"contradicted,omitempty" doc:"Objects that contradict it."`
	Chain        *Chain   `json:"chain,omitempty" doc:"The chain of causes, back to the roots."`

	Results []Outcome `json:"results,omitempty" doc:"What came of it: the results of a call, which are no hits of their own; of a message, what followed it, as far as there is room."`
}

// Outcome is something that came of an object.
type Outcome struct {
	Position string `json:"position" example:"recount.agents/0/1041" doc:"The position of its event."`
	Snippet  string `json:"snippet,omitempty" doc:"Its beginning, or the passage that matches best, shortened."`
	ExitCode *int32 `json:"exit_code,omitempty" example:"2" doc:"The exit code of a command."`
	Failed   bool   `json:"failed,omitempty" doc:"Whether the tool reported an error."`
}

// Support counts the objects with the same content.
type Support struct {
	Count     int      `json:"count" example:"4" doc:"The number of objects that say the same, among those that you may see, including this one."`
	Agents    int      `json:"agents,omitempty" example:"2" doc:"The number of agents that say so."`
	Positions []string `json:"positions,omitempty" doc:"The positions of the other objects' events, with include proof; the first hundred."`
}

// Standing has the factors of a fused score, which is multiplied by all of them.
type Standing struct {
	Age        float64 `json:"age" example:"0.93" doc:"The factor for its age."`
	Importance float64 `json:"importance" example:"1" doc:"The factor for its importance."`
	Use        float64 `json:"use" example:"1.05" doc:"The factor for how many sessions used it, and how recently."`
	Holds      float64 `json:"holds" example:"0.5" doc:"Less than 1 if the object was replaced or is not valid at the time of the query."`
}

// Claim is a statement that can be compared.
type Claim struct {
	Subject    string  `json:"subject" example:"checkout" doc:"The subject of the statement."`
	Predicate  string  `json:"predicate" example:"database" doc:"The property of the subject."`
	Value      string  `json:"value" example:"postgres 16" doc:"The stated value."`
	Confidence float64 `json:"confidence,omitempty" example:"1" doc:"The confidence that its author gave."`
}

// Link is a relation to another object that supersedes or contradicts this one.
type Link struct {
	ID         string    `json:"id,omitempty" doc:"The other object; absent if the object ended by itself."`
	Rule       string    `json:"rule" example:"restated" doc:"The rule: stated, restated, version, valid_until, other_agent."`
	Confidence float64   `json:"confidence" example:"1" doc:"Confidence of the rule, 0 to 1."`
	Value      string    `json:"value,omitempty" example:"postgres 16" doc:"The value that it states instead."`
	Agent      string    `json:"agent,omitempty" doc:"The agent that states it."`
	Time       time.Time `json:"time,omitzero" doc:"The time from which this holds."`
	// Evidence has the positions of the events that show it.
	Evidence []string `json:"evidence" nullable:"false" doc:"The positions of the events that show it."`
}

// Chain summarises what led to an object, following the edges caused_by, derived_from and
// tool_produces.
type Chain struct {
	Length   int      `json:"length" example:"5" doc:"The number of objects that led to it."`
	Complete bool     `json:"complete" doc:"Whether every named cause is known, back to the roots."`
	Roots    []string `json:"roots,omitempty" doc:"The first three root objects of the chain."`
	Dangling []string `json:"dangling,omitempty" doc:"The first three causes that are named but not known, by the ids of their events."`
	Cut      bool     `json:"cut,omitempty" doc:"Whether the chain was cut by expand.nodes."`
	Cyclic   bool     `json:"cyclic,omitempty" doc:"Whether the chain leads back to itself."`
}

// Edge is a relation between two things.
type Edge struct {
	From       string  `json:"from" doc:"The id of the object that the edge starts from."`
	To         string  `json:"to" doc:"What the edge leads to: an object's id, an event's id if the object is not known (dangling), or an external name: file:PATH, commit:HASH, session:NAME, …"`
	Kind       string  `json:"kind" example:"caused_by" doc:"The kind of the edge: caused_by, derived_from, supports, contradicts, supersedes, refers_to, tool_produces, part_of_task, handed_to, uses_tool, belongs_to_session, owned_by_agent, used; ran (a call, and the command that it ran), names (an object, and the symbol, commit or trace that it names); same_issue (an object, and a commit that names the same issue); handled_by (an operation, and the code that handles it); suspected (a failing operation, and its most plausible cause, with a score instead of a confidence); or a kind of the producer's own."`
	Confidence float64 `json:"confidence" example:"1" doc:"Confidence, 0 to 1."`
	Rule       string  `json:"rule" example:"stated" doc:"The rule that made the edge."`
	// FromVersion and ToVersion distinguish the versions of an object: the cause of a task's end is
	// not the cause of its start.
	FromVersion string   `json:"from_version,omitempty" example:"recount.agents/0/1040" doc:"The version that the edge starts from, by the position of its event, if the object has versions."`
	ToVersion   string   `json:"to_version,omitempty" example:"recount.agents/0/1040" doc:"The version that the edge leads to, by the position of its event, if the object has versions."`
	Dangling    bool     `json:"dangling,omitempty" doc:"Whether the object that the edge leads to is not known."`
	Evidence    []string `json:"evidence,omitempty" doc:"The events that show the edge, unless that is only the event of the object it starts from."`
}

// Event is an event that an answer rests on.
type Event struct {
	ID       string    `json:"id" format:"uuid" doc:"The event's id."`
	Position string    `json:"position" example:"recount.agents/0/1040" doc:"The position of the event."`
	Type     string    `json:"type" example:"tool_call_issued" doc:"The type of the event."`
	Object   string    `json:"object" doc:"The object that the event made."`
	Title    string    `json:"title,omitempty" doc:"A one-line title of the object, with include provenance."`
	Agent    string    `json:"agent,omitempty" doc:"The agent's name, with include provenance."`
	Session  string    `json:"session,omitempty" doc:"The session's name, with include provenance."`
	Time     time.Time `json:"time,omitzero" doc:"When it happened, with include provenance."`
}

// Version is one version of an object.
type Version struct {
	Object   string    `json:"object" doc:"The object."`
	Number   int       `json:"number" example:"3" doc:"1 is the newest, 2 the one before it, and so on."`
	EventID  string    `json:"event_id" format:"uuid" doc:"The event that made this version."`
	Position string    `json:"position" example:"recount.agents/0/1040" doc:"The position of that event."`
	Time     time.Time `json:"time,omitzero" doc:"When it happened."`
	Title    string    `json:"title,omitempty" doc:"A one-line title."`
	Removed  bool      `json:"removed,omitempty" doc:"Whether this version deletes the object."`
}

// Step is one step of a proof. It contains no clock time: the same request at the same state has
// the same proof.
type Step struct {
	Path     string            `json:"path,omitempty" example:"lexical" doc:"The retrieval path of the step: id, entity, lexical, dense, temporal, graph, reason, remedy; empty if the step concerns all paths."`
	Operator string            `json:"operator" example:"search" doc:"The operation: visible, plan, scope, search, compare, lookup, newest, fuse, collapse, judge, rank, expand, chain, join, list, announced, assemble."`
	Why      string            `json:"why,omitempty" example:"the text has words" doc:"Why the step was done or left out."`
	Inputs   map[string]string `json:"inputs,omitempty" doc:"The inputs of the step."`
	Counts   map[string]int64  `json:"counts,omitempty" doc:"The counts of the step."`
	Hits     []query.Evidence  `json:"hits,omitempty" doc:"The ranks of the answer's hits in this step, with include proof."`
}

// Rests returns the basis of the answer in the form that other questions use.
func (r Response) Rests() query.Basis {
	b := query.Basis{Status: r.Status, Hint: r.Hint, Watermark: r.Watermark, AppliedFilters: r.AppliedFilters, Timing: r.Timing}
	for _, s := range r.Proof {
		step := query.Step{Operator: s.Operator, Inputs: s.Inputs, Counts: s.Counts, Hits: s.Hits}
		if s.Path != "" {
			step.Operator = s.Path + " " + s.Operator
		}
		b.Proof = append(b.Proof, step)
	}
	return b
}
