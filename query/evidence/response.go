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
	Status         string                `json:"query_status" enum:"ok,empty" example:"ok" doc:"ok, or empty if there is no hit."`
	Hint           string                `json:"hint,omitempty" doc:"Why there is no hit, and what to change; or what was cut off; or since when there is anything to know of."`
	Objects        []Object              `json:"objects" nullable:"false" doc:"The hits, best first; of mode subgraph, and of things of other kinds that they are joined to, then what lies around them, nearest first."`
	Edges          []Edge                `json:"edges" nullable:"false" doc:"The edges among the objects, and from them to what led to them."`
	Provenance     []Event               `json:"provenance" nullable:"false" doc:"The events that the answer rests on, other than those that objects name as theirs: what led to the hits, in order of time. With include provenance, all."`
	Versions       []Version             `json:"versions" nullable:"false" doc:"Of each object that has several versions, those that may be known: the newest three, or, with include versions, all."`
	Context        string                `json:"context,omitempty" doc:"Of mode context: the texts, each behind its citation [N], which is the N-th object. Each line of a text begins with '> ', and no citation does."`
	Tokens         int                   `json:"tokens,omitempty" example:"1840" doc:"Of mode context: how many tokens it has, at four bytes a token."`
	Left           *Left                 `json:"left_out,omitempty" doc:"What was cut to keep the answer small; ask with include, expand.nodes or limit for more."`
	AppliedFilters []query.AppliedFilter `json:"applied_filters" nullable:"false" doc:"The filters that held before ranking, and the bounds."`
	Proof          []Step                `json:"proof_trace" nullable:"false" doc:"How the answer came about, in order."`
	Watermark      schemas.Watermark     `json:"watermark" example:"recount.agents/0:42" doc:"The answer rests on everything below these offsets and on nothing above: TOPIC/PARTITION:NEXT."`
	Timing         query.Timing          `json:"timing" doc:"How long it took: the one part of the answer that differs from run to run."`
}

// Left counts what was omitted from an answer.
type Left struct {
	Objects    int `json:"objects,omitempty" example:"3" doc:"Objects around the hits."`
	Edges      int `json:"edges,omitempty" example:"12" doc:"Edges."`
	Provenance int `json:"provenance,omitempty" example:"40" doc:"Events."`
	Versions   int `json:"versions,omitempty" example:"7" doc:"Versions: at least so many."`
	Texts      int `json:"texts,omitempty" example:"2" doc:"Of mode context: hits whose text had no room."`
}

// Object is a thing in an answer: an object of an agent, a command, a symbol of the code, or
// something seen at run time.
type Object struct {
	ID        string    `json:"id" example:"6a1f0c55-d2e9-8b6f-9c44-2f1d6a0b3e55" doc:"The object's id, as in edges: a UUID; of a command its event's; of a commit commit:HASH; of a symbol symbol:REPOSITORY NAME; of what runs operation:SERVICE NAME, trace:ID, version:SERVICE VERSION."`
	Kind      string    `json:"kind,omitempty" enum:"commands,commits,symbols,runtime" doc:"What kind of thing it is, where it is no object of an agent."`
	Role      string    `json:"role,omitempty" enum:"around,joined" doc:"What it is in the answer, where it is no hit: around (an expansion came to it), joined (a hit is joined to it)."`
	EventID   string    `json:"event_id,omitempty" format:"uuid" doc:"The event that made this version of it."`
	Position  string    `json:"position,omitempty" example:"recount.agents/0/1042" doc:"Where that event stands in the log: TOPIC/PARTITION/OFFSET."`
	Type      string    `json:"type" example:"memory" doc:"memory, state, artifact, tool_call, task, handoff, event, recall; command; a symbol's kind; commit; operation, trace, version."`
	Memory    string    `json:"memory,omitempty" enum:"episodic,factual,procedural,reflective" doc:"The kind of memory."`
	Tenant    string    `json:"tenant,omitempty" doc:"Whose it is; nothing for the default tenant."`
	Workspace string    `json:"workspace,omitempty" example:"/src/app" doc:"The workspace that it is of."`
	Agent     string    `json:"agent,omitempty" example:"claude" doc:"The agent that it is of; of a command, who typed it."`
	Session   string    `json:"session,omitempty" example:"run-17" doc:"The session that it is of."`
	Time      time.Time `json:"time,omitzero" doc:"When it happened."`
	Title     string    `json:"title,omitempty" example:"go test ./cart" doc:"A line that names it."`
	Snippet   string    `json:"snippet,omitempty" doc:"The passage that matches best, cut short."`
	Text      string    `json:"text,omitempty" doc:"All that it says, with include text."`

	Score  float64           `json:"score,omitempty" example:"0.0489" doc:"The fused score, after its standing; comparable within one answer only."`
	Scores []query.PathScore `json:"scores,omitempty" doc:"What each path gave, with include proof."`
	// Standing has the factors of the fused score.
	Standing *Standing `json:"standing,omitempty" doc:"What the fused score was multiplied with, with include proof."`

	Claim      *Claim `json:"claim,omitempty" doc:"What it states that can be compared."`
	ExitCode   *int32 `json:"exit_code,omitempty" example:"2" doc:"Of a command or a tool's result: how it ended."`
	Failed     bool   `json:"failed,omitempty" doc:"A tool's result: that the tool reported an error."`
	Visibility string `json:"visibility,omitempty" enum:"private,session,tenant" doc:"Who may see it, where that is not its workspace."`

	ValidFrom  time.Time `json:"valid_from,omitzero" doc:"From when it holds, where that is not its time."`
	ValidUntil time.Time `json:"valid_until,omitzero" doc:"Until when it holds, where there is an end."`
	Removed    bool      `json:"removed,omitempty" doc:"The version ends the object."`

	Support      *Support `json:"support,omitempty" doc:"How often the same is said, where it is more than once."`
	Used         int      `json:"used,omitempty" example:"3" doc:"In how many sessions it was of use, as those tell that used it (recall.used)."`
	SupersededBy *Link    `json:"superseded_by,omitempty" doc:"What took its place, and how that is known. It is ranked behind what holds."`
	Contradicted []Link   `json:"contradicted,omitempty" doc:"Who says otherwise."`
	Chain        *Chain   `json:"chain,omitempty" doc:"What led to it, back to the roots."`
}

// Support counts the objects with the same content.
type Support struct {
	Count     int      `json:"count" example:"4" doc:"How many objects that you may see say the same, this one included."`
	Agents    int      `json:"agents,omitempty" example:"2" doc:"Of how many agents."`
	Positions []string `json:"positions,omitempty" doc:"Where the others' events stand in the log, with include proof; the first hundred."`
}

// Standing has the factors of a fused score, which is multiplied by all of them.
type Standing struct {
	Age        float64 `json:"age" example:"0.93" doc:"By how long before the moment it happened."`
	Importance float64 `json:"importance" example:"1" doc:"By its importance."`
	Use        float64 `json:"use" example:"1.05" doc:"By how many sessions used it, and how long ago."`
	Holds      float64 `json:"holds" example:"0.5" doc:"Less than 1 where something took its place, or where it does not hold at the moment."`
}

// Claim is a statement that can be compared.
type Claim struct {
	Subject    string  `json:"subject" example:"checkout" doc:"What it is about."`
	Predicate  string  `json:"predicate" example:"database" doc:"Which of its properties."`
	Value      string  `json:"value" example:"postgres 16" doc:"What it is said to be."`
	Confidence float64 `json:"confidence,omitempty" example:"1" doc:"How sure who stated it is."`
}

// Link is a relation to another object that supersedes or contradicts this one.
type Link struct {
	ID         string    `json:"id,omitempty" doc:"The other object; nothing where it ended by itself."`
	Rule       string    `json:"rule" example:"restated" doc:"How it is known: stated, restated, version, valid_until, other_agent."`
	Confidence float64   `json:"confidence" example:"1" doc:"How sure that is, 0 to 1."`
	Value      string    `json:"value,omitempty" example:"postgres 16" doc:"What it says instead."`
	Agent      string    `json:"agent,omitempty" doc:"Who says it."`
	Time       time.Time `json:"time,omitzero" doc:"Since when."`
	// Evidence has the positions of the events that show it.
	Evidence []string `json:"evidence" nullable:"false" doc:"The events that show it, by their positions in the log."`
}

// Chain summarises what led to an object, following the edges caused_by, derived_from and
// tool_produces.
type Chain struct {
	Length   int      `json:"length" example:"5" doc:"How many objects led to it."`
	Complete bool     `json:"complete" doc:"Every cause that is named is known, back to the roots."`
	Roots    []string `json:"roots,omitempty" doc:"The objects that it begins with; the first three."`
	Dangling []string `json:"dangling,omitempty" doc:"Causes that are named and not known, by the ids of their events; the first three."`
	Cut      bool     `json:"cut,omitempty" doc:"It goes on; expand.nodes bounds it."`
	Cyclic   bool     `json:"cyclic,omitempty" doc:"It leads back to itself."`
}

// Edge is a relation between two things.
type Edge struct {
	From       string  `json:"from" doc:"What it leads from: an object's id."`
	To         string  `json:"to" doc:"What it leads to: an object's id, an event's where that is not known (dangling), or what it names outside: file:PATH, commit:HASH, session:NAME, …"`
	Kind       string  `json:"kind" example:"caused_by" doc:"What it says: caused_by, derived_from, supports, contradicts, supersedes, refers_to, tool_produces, part_of_task, handed_to, uses_tool, belongs_to_session, owned_by_agent, used; ran (a call, and the command that it ran), names (an object, and the symbol, commit or trace that it names); same_issue (an object, and a commit that names the same issue); handled_by (an operation, and the code that handles it); suspected (an operation that fails, and what most plausibly led to that, with a score in place of a certainty); or the producer's own word."`
	Confidence float64 `json:"confidence" example:"1" doc:"How sure it is, 0 to 1."`
	Rule       string  `json:"rule" example:"stated" doc:"How it is known."`
	// FromVersion and ToVersion distinguish the versions of an object: the cause of a task's end is
	// not the cause of its start.
	FromVersion string   `json:"from_version,omitempty" example:"recount.agents/0/1040" doc:"Of a thing that has versions, the one that it leads from, by the position of its event."`
	ToVersion   string   `json:"to_version,omitempty" example:"recount.agents/0/1040" doc:"Of a thing that has versions, the one that it leads to."`
	Dangling    bool     `json:"dangling,omitempty" doc:"What it leads to is not known."`
	Evidence    []string `json:"evidence,omitempty" doc:"The events that show it, where it is not the event of what it leads from alone."`
}

// Event is an event that an answer rests on.
type Event struct {
	ID       string    `json:"id" format:"uuid" doc:"The event's id."`
	Position string    `json:"position" example:"recount.agents/0/1040" doc:"Where it stands in the log."`
	Type     string    `json:"type" example:"tool_call_issued" doc:"Its type."`
	Object   string    `json:"object" doc:"The object that it made."`
	Title    string    `json:"title,omitempty" doc:"A line that names that, with include provenance."`
	Agent    string    `json:"agent,omitempty" doc:"Whose it is, with include provenance."`
	Session  string    `json:"session,omitempty" doc:"In which session, with include provenance."`
	Time     time.Time `json:"time,omitzero" doc:"When it happened, with include provenance."`
}

// Version is one version of an object.
type Version struct {
	Object   string    `json:"object" doc:"The object."`
	Number   int       `json:"number" example:"3" doc:"1 is the newest, 2 the one before it, and so on."`
	EventID  string    `json:"event_id" format:"uuid" doc:"The event that made it."`
	Position string    `json:"position" example:"recount.agents/0/1040" doc:"Where that stands in the log."`
	Time     time.Time `json:"time,omitzero" doc:"When it happened."`
	Title    string    `json:"title,omitempty" doc:"A line that names it."`
	Removed  bool      `json:"removed,omitempty" doc:"It ends the object."`
}

// Step is one step of a proof. It contains no clock time: the same request at the same state has
// the same proof.
type Step struct {
	Path     string            `json:"path,omitempty" example:"lexical" doc:"The path that it belongs to: id, entity, lexical, dense, temporal, graph, reason, remedy; nothing for what concerns all."`
	Operator string            `json:"operator" example:"search" doc:"What was done: visible, plan, scope, search, compare, lookup, newest, fuse, collapse, judge, rank, expand, chain, join, assemble."`
	Why      string            `json:"why,omitempty" example:"the text has words" doc:"Why it was done, or not."`
	Inputs   map[string]string `json:"inputs,omitempty" doc:"With what."`
	Counts   map[string]int64  `json:"counts,omitempty" doc:"What was counted."`
	Hits     []query.Evidence  `json:"hits,omitempty" doc:"Where the answer's hits stood in this step, with include proof."`
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
