package evidence

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// These are the limits of a request. They are part of the API.
const (
	DefaultLimit = 10
	MaxLimit     = 1000
	// MaxText is the maximum length of a question in bytes.
	MaxText = query.MaxText
	MaxHops = 4
	// DefaultNodes and MaxNodes limit the number of objects in an expansion, hits included.
	DefaultNodes = 64
	MaxNodes     = 2000
	// DefaultTokens is the default budget of mode context.
	DefaultTokens = 2000
	MinTokens     = 50
	MaxTokens     = 200_000
	// maxListed limits each list in a request.
	maxListed = 64
)

// These are the modes of an answer.
const (
	// ModeObjects returns only the hits.
	ModeObjects = "objects"
	// ModeEvidence adds the causes of each hit, and the edges among them.
	ModeEvidence = "evidence"
	// ModeSubgraph also returns the objects around the hits.
	ModeSubgraph = "subgraph"
	// ModeContext packs the texts of the hits, with citations, into a token budget.
	ModeContext = "context"
)

// These are the kinds of things that may be in an answer.
const (
	KindObjects  = "objects"
	KindCommands = "commands"
	KindCommits  = "commits"
	KindSymbols  = "symbols"
	KindRuntime  = "runtime"
)

// These are the parts that an answer includes only on request.
const (
	IncludeProof      = "proof"
	IncludeVersions   = "versions"
	IncludeProvenance = "provenance"
	IncludeText       = "text"
)

// Request is a question for evidence. It does not contain the principal, which the API supplies.
type Request struct {
	Text    string            `json:"text,omitempty" maxLength:"4096" example:"why does checkout fail since yesterday" doc:"The question or search text. Ids of events and objects, and names with file:, commit:, issue: and tool: in it, are looked up directly; agent:NAME and session:NAME restrict the answer as scope does. Empty lists the newest objects."`
	Scope   Scope             `json:"scope,omitzero" doc:"Restricts the objects; every given field must match."`
	Since   time.Time         `json:"since,omitzero" example:"2026-11-01T00:00:00Z" doc:"Happened at this time or later."`
	Until   time.Time         `json:"until,omitzero" example:"2026-12-01T00:00:00Z" doc:"Happened before this time."`
	At      time.Time         `json:"at,omitzero" example:"2026-11-21T12:00:00Z" doc:"The time to use as now, for the age and validity of objects, and for times that the text names: \"yesterday\", \"last week\", \"on Monday\", \"3 days ago\" are then filters, in the zone of this time, unless there is since or until. Default: as_of's time, or the time of the newest object that you may see, which filters nothing. The clock is not used."`
	AsOf    query.AsOf        `json:"as_of,omitzero" example:"2026-11-20T12:00:00Z" doc:"Answer from what was known at a time or watermark: an RFC 3339 time (only what happened until then, whenever it was appended) or a watermark (only events below its offsets; partitions that it does not name are left out). With a watermark the answer equals the one given when the log ended there."`
	Types   []string          `json:"types,omitempty" maxItems:"64" example:"memory" doc:"Only objects of these types: memory, state, artifact, tool_call, task, handoff, event (of an unknown type), announcement (of work), recall (who used what; only if requested here)."`
	Memory  []string          `json:"memory,omitempty" maxItems:"64" example:"factual" doc:"Only memories of these kinds: episodic (messages), factual (results, statements), procedural (plans), reflective (critiques)."`
	Events  []string          `json:"events,omitempty" maxItems:"64" example:"user_message" doc:"Only objects that events of these types stated: user_message, assistant_message, tool_call_issued, tool_result_returned, plan_updated, critique_generated, task_started, task_finished, handoff_occurred, artifact_produced, state_changed, memory_stated, work_announced, work_ended, recall.used, or a type of your own."`
	Kinds   []string          `json:"kinds,omitempty" maxItems:"64" example:"objects" doc:"The kinds of results: objects, commands, commits (named ones), symbols, runtime (operations, and named traces). Default: objects, with the commits and traces that they name. If the text asks why something fails, commands and runtime are added, and the proof says so."`
	Expand  Expand            `json:"expand,omitzero" doc:"What to add around the hits by following typed edges."`
	Mode    string            `json:"mode,omitempty" enum:"objects,evidence,subgraph,context" default:"evidence" example:"evidence" doc:"objects: the hits. evidence: also what led to them. subgraph: also the objects around them. context: texts with citations that fit the given number of tokens; nothing is summarised."`
	Tokens  int               `json:"tokens,omitempty" minimum:"50" maximum:"200000" example:"2000" doc:"Maximum number of tokens in mode context, at four bytes a token; default 2000."`
	Limit   int               `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"10" example:"10" doc:"Maximum number of hits; for each other kind in the answer up to five more."`
	Include []string          `json:"include,omitempty" maxItems:"64" example:"proof" doc:"Parts that are left out by default to keep the answer below 8 KB: proof (the rank of each hit in each step), versions (all versions of each object), provenance (all supporting events in full), text (whole texts). With any of them the size is not limited."`
	AtLeast schemas.Watermark `json:"at_least,omitempty" example:"recount.agents/0:42" doc:"Wait until everything below these offsets is visible, to read your own writes. TOPIC/PARTITION:NEXT, comma-separated, as in a response's watermark."`
	WaitMS  int               `json:"wait_ms,omitempty" minimum:"1" maximum:"60000" default:"5000" example:"5000" doc:"The maximum time to wait for at_least, in milliseconds."`
}

// Scope selects whose objects a question is about. An empty field selects all.
type Scope struct {
	Agent     string `json:"agent,omitempty" maxLength:"4096" example:"claude" doc:"The agent's name."`
	Session   string `json:"session,omitempty" maxLength:"4096" example:"run-17" doc:"The session's name."`
	Workspace string `json:"workspace,omitempty" maxLength:"4096" example:"/src/app" doc:"The workspace's name."`
	Task      string `json:"task,omitempty" maxLength:"4096" example:"T-42" doc:"The id of the task that the object is part of."`
}

// Expand limits what is added around the hits.
type Expand struct {
	Kinds         []string `json:"kinds,omitempty" maxItems:"64" example:"caused_by" doc:"Only edges of these kinds: caused_by, derived_from, supports, contradicts, supersedes, refers_to, tool_produces, part_of_task, handed_to, uses_tool, belongs_to_session, owned_by_agent, used, other. Default: all but the last seven."`
	Hops          *int     `json:"hops,omitempty" minimum:"0" maximum:"4" example:"2" doc:"Maximum distance from a hit in edges; 0 adds nothing. Default: 1; in mode subgraph 2, in mode objects 0. Causes of a hit are always followed to their roots."`
	MinConfidence float64  `json:"min_confidence,omitempty" minimum:"0" maximum:"1" example:"0.5" doc:"Only edges with at least this confidence."`
	Nodes         int      `json:"nodes,omitempty" minimum:"1" maximum:"2000" default:"64" example:"64" doc:"Maximum number of objects, including hits."`
}

// modes, kinds and includes are the allowed values of a request, in order.
var (
	modes    = []string{ModeObjects, ModeEvidence, ModeSubgraph, ModeContext}
	kinds    = []string{KindObjects, KindCommands, KindCommits, KindSymbols, KindRuntime}
	includes = []string{IncludeProof, IncludeVersions, IncludeProvenance, IncludeText}
)

// Normal returns the request with defaults filled in, or a *query.RequestError. Filters that
// nothing can pass are not an error: the answer is empty and gives the reason.
func (r Request) Normal() (Request, error) {
	if r.Limit == 0 {
		r.Limit = DefaultLimit
	}
	if r.Mode == "" {
		r.Mode = ModeEvidence
	}
	if r.Tokens == 0 {
		r.Tokens = DefaultTokens
	}
	if r.WaitMS == 0 {
		r.WaitMS = int(query.DefaultWait / time.Millisecond)
	}
	if r.Expand.Nodes == 0 {
		r.Expand.Nodes = DefaultNodes
	}
	r.Expand.Hops = r.Expand.hops(r.Mode)
	switch e := r.Expand; {
	case len(r.Text) > MaxText:
		return r, &query.RequestError{Field: "text", Value: fmt.Sprintf("%d bytes", len(r.Text)), Reason: fmt.Sprintf("want at most %d: keep only the important words", MaxText)}
	case !utf8.ValidString(r.Text):
		return r, &query.RequestError{Field: "text", Value: brief(strconv.QuoteToASCII(r.Text), 80), Reason: "not UTF-8"}
	case r.Tokens < MinTokens || r.Tokens > MaxTokens:
		return r, outside("tokens", r.Tokens, MinTokens, MaxTokens)
	case *e.Hops < 0 || *e.Hops > MaxHops:
		return r, outside("expand.hops", *e.Hops, 0, MaxHops)
	case e.Nodes < 0 || e.Nodes > MaxNodes:
		return r, outside("expand.nodes", e.Nodes, 1, MaxNodes)
	case !(e.MinConfidence >= 0 && e.MinConfidence <= 1): // also rejects NaN
		return r, &query.RequestError{Field: "expand.min_confidence", Value: fmt.Sprint(e.MinConfidence), Reason: "want 0 to 1"}
	case !slices.Contains(modes, r.Mode):
		return r, oneOf("mode", r.Mode, modes)
	}
	if err := cmp.Or(query.CheckLimit(r.Limit, MaxLimit), query.CheckWait(r.WaitMS)); err != nil {
		return r, err
	}
	r.Text = strings.TrimSpace(r.Text)
	for _, n := range []struct{ field, name string }{
		{"scope.agent", r.Scope.Agent}, {"scope.session", r.Scope.Session}, {"scope.workspace", r.Scope.Workspace}, {"scope.task", r.Scope.Task},
	} {
		if err := query.CheckName(n.field, n.name); err != nil {
			return r, err
		}
	}
	if t := r.At; !t.IsZero() && (t.Year() < 1678 || t.Year() > 2261) {
		return r, &query.RequestError{Field: "at", Value: t.Format(time.RFC3339), Reason: "want a year from 1678 to 2261"}
	}
	var err error
	for _, l := range []struct {
		field string
		list  *[]string
		of    []string
	}{
		{"types", &r.Types, typeNames},
		{"memory", &r.Memory, memoryNames},
		{"kinds", &r.Kinds, kinds},
		{"expand.kinds", &r.Expand.Kinds, edgeNames},
		{"include", &r.Include, includes},
	} {
		if *l.list, err = inOrder(l.field, *l.list, l.of); err != nil {
			return r, err
		}
	}
	r.Events, err = eventTypes(r.Events)
	return r, err
}

// eventTypes checks types of events and returns them in order, without duplicates.
func eventTypes(list []string) ([]string, error) {
	if len(list) > maxListed {
		return nil, &query.RequestError{Field: "events", Value: fmt.Sprintf("%d of them", len(list)), Reason: fmt.Sprintf("want at most %d", maxListed)}
	}
	for _, typ := range list {
		if typ == "" || len(typ) > 256 {
			return nil, &query.RequestError{Field: "events", Value: brief(strconv.Quote(typ), 80), Reason: "want types of events, such as user_message"}
		}
		if k, ok := schemas.KindOf(typ); ok && k.Topic != schemas.TopicAgents {
			return nil, &query.RequestError{Field: "events", Value: strconv.Quote(typ), Reason: "no event of an agent: of these only commands, commits and spans have answers of their own (recount find, log, runtime)"}
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(list))), nil
}

// hops returns the requested number of hops, or the default of the mode.
func (e Expand) hops(mode string) *int {
	n := 1
	switch {
	case e.Hops != nil:
		n = *e.Hops
	case mode == ModeObjects:
		n = 0
	case mode == ModeSubgraph:
		n = 2
	}
	return &n
}

// includes reports whether an optional part of the answer is requested.
func (r *Request) includes(part string) bool { return slices.Contains(r.Include, part) }

// inOrder checks that each value of a list is allowed, and returns them in the order of the allowed
// values, without duplicates.
func inOrder(field string, list, of []string) ([]string, error) {
	if len(list) > maxListed {
		return nil, &query.RequestError{Field: field, Value: fmt.Sprintf("%d of them", len(list)), Reason: fmt.Sprintf("want at most %d", maxListed)}
	}
	var out []string
	for _, word := range list {
		if !slices.Contains(of, word) {
			return nil, oneOf(field, word, of)
		}
	}
	for _, word := range of {
		if slices.Contains(list, word) {
			out = append(out, word)
		}
	}
	return out, nil
}

func oneOf(field, word string, of []string) error {
	return &query.RequestError{Field: field, Value: brief(strconv.Quote(word), 80), Reason: "want one of " + strings.Join(of, ", ")}
}

func outside(field string, n, least, most int) error {
	return &query.RequestError{Field: field, Value: n, Reason: fmt.Sprintf("want %d to %d", least, most)}
}

// impossible returns the reason why nothing can pass the filters, or "".
func (r *Request) impossible() string {
	last := int64(math.MaxInt64)
	if !r.AsOf.Time.IsZero() {
		last = schemas.UnixNano(r.AsOf.Time)
	}
	switch {
	case !r.Since.IsZero() && !r.Until.IsZero() && !r.Since.Before(r.Until):
		return fmt.Sprintf("since (%s) is not before until (%s), so nothing can match", r.Since.UTC().Format(time.RFC3339), r.Until.UTC().Format(time.RFC3339))
	case !r.Since.IsZero() && schemas.UnixNano(r.Since) > last:
		return fmt.Sprintf("since (%s) is after as_of (%s), so nothing can match", r.Since.UTC().Format(time.RFC3339), r.AsOf.Time.UTC().Format(time.RFC3339))
	case len(r.Memory) > 0 && len(r.Types) > 0 && !slices.Contains(r.Types, "memory"):
		return fmt.Sprintf("memory asks for memories (%s) but types excludes them (%s), so nothing can match", strings.Join(r.Memory, ", "), strings.Join(r.Types, ", "))
	}
	return ""
}
