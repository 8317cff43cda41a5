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
	Pattern string   `json:"pattern,omitempty" maxLength:"4096" doc:"Every event whose payload, key or headers match this regular expression (RE2). The expression is not stored: the log keeps its hash."`
	Topics  []string `json:"topics,omitempty" doc:"Only events of these topics, without prefix."`
	Tenant  string   `json:"tenant,omitempty" maxLength:"256" doc:"Only events of this tenant's agents."`
	Reason  string   `json:"reason,omitempty" maxLength:"4096" doc:"The reason. It is stored, so it must not repeat what is erased."`
	Author  string   `json:"author,omitempty" maxLength:"256" doc:"The person or agent that requests the erasure."`
	// Limit guards against a pattern that matches too much.
	Limit  int  `json:"limit,omitempty" minimum:"0" doc:"Erase nothing if more events than this are found; 0 means 1000."`
	DryRun bool `json:"dry_run,omitempty" doc:"Report what would be erased, and erase nothing."`
	Wait   bool `json:"wait,omitempty" doc:"Answer only when the projections' files no longer hold the events either, however long that takes. Otherwise the answer comes after about eight seconds and lists what remains; the server continues in the background."`
}

// DefaultForgetLimit is the default of ForgetRequest.Limit.
const DefaultForgetLimit = 1000

// ForgetReport reports what was erased, or with DryRun what would be erased.
type ForgetReport struct {
	DryRun bool           `json:"dry_run,omitempty" doc:"Nothing was erased."`
	Events int            `json:"events" example:"3" doc:"Events found, including those that are erased along with them."`
	Bytes  int64          `json:"bytes" example:"812" doc:"Bytes of their payloads."`
	Topics []ForgetTopic  `json:"topics" nullable:"false" doc:"The events by topic."`
	Sample []ForgetSample `json:"sample" nullable:"false" doc:"The first of them."`
	// Before counts events that an earlier request erased; nothing of them is left to erase.
	Before  int      `json:"erased_before,omitempty" doc:"Events requested by id or position that were erased earlier."`
	Missing []string `json:"missing,omitempty" doc:"Events requested by id or position that the log does not have."`
	Kept    int      `json:"kept,omitempty" doc:"Events of the topic commits that match and are kept: commits and branches, because later ones depend on them. Contents of files are erased."`
	TooMany bool     `json:"too_many,omitempty" doc:"More events than the limit were found: without dry_run the request is refused."`

	Erasures    []schemas.Position `json:"erasures,omitempty" doc:"The positions of the events.erased events."`
	Log         string             `json:"log,omitempty" enum:"rewritten,pending,outside" doc:"rewritten: the bytes are gone from this log's files. pending: they are still there. outside: the brokers are not Recount's own and keep the bytes, but Recount no longer reads them."`
	Rebuilt     []string           `json:"rebuilt,omitempty" doc:"Projections that were rebuilt without the events."`
	Remaining   []string           `json:"remaining,omitempty" doc:"Projections whose files hold the events until the server has rebuilt them. No answer shows the events meanwhile."`
	ElapsedMS   int64              `json:"elapsed_ms" example:"2900" doc:"Duration in milliseconds."`
	Explanation string             `json:"explanation,omitempty" doc:"What is left to do, as a sentence."`
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
	Position schemas.Position `json:"position" doc:"Its position."`
	ID       schemas.EventID  `json:"id" format:"uuid" doc:"Its id."`
	Type     string           `json:"type" example:"command.executed" doc:"Its type."`
	Time     time.Time        `json:"time" doc:"When it happened."`
	Bytes    int              `json:"bytes" example:"271" doc:"Bytes of its payload."`
	Text     string           `json:"text,omitempty" doc:"The start of its text, if the request names events or a session."`
	With     string           `json:"with,omitempty" doc:"Why it is erased too: for example, it is the outcome or the rejected copy of an erased event."`
}
