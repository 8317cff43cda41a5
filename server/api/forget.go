package api

import (
	"time"

	"github.com/recountdb/recount/schemas"
)

// ForgetRequest selects what to erase, by exactly one of Events, Session and Pattern.
type ForgetRequest struct {
	Events  []string `json:"events,omitempty" maxItems:"1000" doc:"Events, by id or by position TOPIC/PARTITION/OFFSET."`
	Session string   `json:"session,omitempty" maxLength:"256" doc:"Every event of this session."`
	// Pattern may be the secret itself, so it is neither stored nor shown.
	Pattern string   `json:"pattern,omitempty" maxLength:"4096" doc:"Every event that holds a match of this regular expression (RE2), in its payload, key or headers. It is not stored: the log keeps its hash."`
	Topics  []string `json:"topics,omitempty" doc:"Only events of these topics, without prefix."`
	Tenant  string   `json:"tenant,omitempty" maxLength:"256" doc:"Only what agents of this tenant did."`
	Reason  string   `json:"reason,omitempty" maxLength:"4096" doc:"Why; it is stored, so it must not say what is erased."`
	Author  string   `json:"author,omitempty" maxLength:"256" doc:"Who asks."`
	// Limit guards against a pattern that matches too much.
	Limit  int  `json:"limit,omitempty" minimum:"0" doc:"Erase nothing if more events than this are found; 0 means 1000."`
	DryRun bool `json:"dry_run,omitempty" doc:"Say what would be erased, and erase nothing."`
	Wait   bool `json:"wait,omitempty" doc:"Answer once the projections' files have lost it, too, however long that takes. Else the answer comes after about eight seconds, and says what remains; the server goes on."`
}

// DefaultForgetLimit is the default of ForgetRequest.Limit.
const DefaultForgetLimit = 1000

// ForgetReport reports what was erased, or with DryRun what would be erased.
type ForgetReport struct {
	DryRun bool           `json:"dry_run,omitempty" doc:"Nothing was erased."`
	Events int            `json:"events" example:"3" doc:"Events found, with what goes with them."`
	Bytes  int64          `json:"bytes" example:"812" doc:"Bytes of their payloads."`
	Topics []ForgetTopic  `json:"topics" nullable:"false" doc:"The events by topic."`
	Sample []ForgetSample `json:"sample" nullable:"false" doc:"The first of them."`
	// Before counts events that an earlier request erased; nothing of them is left to erase.
	Before  int      `json:"erased_before,omitempty" doc:"Events asked for by name that were erased before."`
	Missing []string `json:"missing,omitempty" doc:"Events asked for by name that the log does not have."`
	Kept    int      `json:"kept,omitempty" doc:"Events of topic commits that match and stay: commits and branches, on which later ones rest; contents of files go."`
	TooMany bool     `json:"too_many,omitempty" doc:"More than the limit: without dry_run this is refused."`

	Erasures    []schemas.Position `json:"erasures,omitempty" doc:"Where the events.erased stand."`
	Log         string             `json:"log,omitempty" enum:"rewritten,pending,outside" doc:"rewritten: the bytes are gone from this log's files. pending: they are not yet. outside: the brokers are not Recount's own and keep the bytes; nothing of Recount reads them any more."`
	Rebuilt     []string           `json:"rebuilt,omitempty" doc:"Projections made anew without them."`
	Remaining   []string           `json:"remaining,omitempty" doc:"Projections whose files still hold the events until they are rebuilt, which the server goes on with. No answer shows the events."`
	ElapsedMS   int64              `json:"elapsed_ms" example:"2900" doc:"How long it took."`
	Explanation string             `json:"explanation,omitempty" doc:"What is left to do, in words."`
}

// ForgetTopic counts the events found in one topic.
type ForgetTopic struct {
	Topic  string `json:"topic" example:"recount.commands" doc:"The topic."`
	Events int    `json:"events" example:"3" doc:"Events."`
	Bytes  int64  `json:"bytes" example:"812" doc:"Bytes of their payloads."`
}

// ForgetSample is one event found. If the request had a pattern, it shows nothing of the event's
// contents.
type ForgetSample struct {
	Position schemas.Position `json:"position" doc:"Where it stands."`
	ID       schemas.EventID  `json:"id" format:"uuid" doc:"Its id."`
	Type     string           `json:"type" example:"command.executed" doc:"Its type."`
	Time     time.Time        `json:"time" doc:"When it happened."`
	Bytes    int              `json:"bytes" example:"271" doc:"Bytes of its payload."`
	Text     string           `json:"text,omitempty" doc:"The start of what it tells, where events or a session were asked for."`
	With     string           `json:"with,omitempty" doc:"What it goes with: the outcome of an event that is erased, or a rejected copy."`
}
