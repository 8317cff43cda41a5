package recall

import (
	"time"

	"github.com/recountdb/recount/query"
)

// Response is what to be reminded of.
type Response struct {
	query.Basis
	Items  []Item `json:"items" nullable:"false" doc:"The records, best first."`
	Text   string `json:"text,omitempty" doc:"The items as text to put into a context; empty if there are none. Every line that begins with '> ' is quoted, and no other line is."`
	Tokens int    `json:"tokens" example:"212" doc:"The number of tokens of the text (o200k)."`
}

// These are the kinds of items.
const (
	KindSaid     = "said"
	KindFailure  = "failure"
	KindTask     = "task"
	KindDecision = "decision"
	KindCommit   = "commit"
	KindCommand  = "command"

	KindHandover     = "handover"
	KindAnnouncement = "announcement"
)

// Item is one thing to be reminded of.
type Item struct {
	ID       string    `json:"id" example:"recount.agents/0/1042" doc:"What to put into without, so that it is not returned again."`
	Kind     string    `json:"kind" enum:"said,failure,task,decision,commit,command,handover,announcement" doc:"said (at a prompt), failure (and what mended it), task, decision (or a fact or note: the title says which), commit, command (flaky or slow), handover, announcement (of work by others)."`
	Title    string    `json:"title" doc:"What it is, in the words of Recount, with quotes of at most a line."`
	Quote    string    `json:"quote,omitempty" doc:"The quoted record."`
	Source   string    `json:"source,omitempty" example:"claude-code" doc:"Who said or did it: the agent's name, user, or a commit's author."`
	Outside  string    `json:"outside,omitempty" example:"output of a tool" doc:"Where the quoted text came from, if neither the user nor the agent wrote it."`
	Session  string    `json:"session,omitempty" doc:"The session that it is from."`
	Position string    `json:"position,omitempty" example:"recount.agents/0/1042" doc:"The position of its event."`
	Time     time.Time `json:"time,omitzero" doc:"When it happened."`
	Score    float64   `json:"score" example:"0.62" doc:"How well it matches, 0 to 1. A brief's items have none."`
	Mend     *Mend     `json:"mend,omitempty" doc:"What mended a failure."`
	Matched  []string  `json:"matched,omitempty" doc:"What it has in common with the request: terms, or lines of the output."`
	Times    int       `json:"times,omitempty" example:"3" doc:"How many runs failed alike."`
	// lines are what is quoted in the text, a line each.
	lines []string
}

// Mend is what was done between a failure and the next success of the same command.
type Mend struct {
	Steps    []string `json:"steps" nullable:"false" doc:"Changes of files and commands, in order; reading and listing are left out."`
	Said     string   `json:"said,omitempty" doc:"What the agent said before the first of them."`
	Command  string   `json:"command" doc:"The command that then succeeded."`
	Position string   `json:"position" doc:"The position of the event that shows it."`
	After    int      `json:"after" example:"4" doc:"How many commands and changes later it succeeded."`
	Same     bool     `json:"unchanged,omitempty" doc:"Whether nothing was changed in between: it may be flaky."`
}
