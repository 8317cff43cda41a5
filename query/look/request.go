package look

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/query/runtime"
	"github.com/recountdb/recount/schemas"
)

// These are the kinds of hits, in the order in which hits with equal scores are listed.
const (
	Commands = "commands"
	Code     = "code"
	Runtime  = "runtime"
	Agents   = "agents"
)

// Kinds returns the names of all kinds.
func Kinds() []string { return []string{Commands, Code, Runtime, Agents} }

// Limits of a request. They are part of the API.
const (
	DefaultLimit = 20
	MaxLimit     = 200
)

// Request is a question to all kinds.
type Request struct {
	Text    string            `json:"text" minLength:"1" maxLength:"4096" example:"where are old images removed" doc:"Words, a name or a part of one, or a question."`
	Kinds   []string          `json:"kinds,omitempty" maxItems:"4" example:"commands,code" doc:"Only hits of these kinds: commands, code (symbols), runtime (operations of services), agents (what they said and did). Default: all that the token may see. The ranks of the hits are the same as among all kinds."`
	Filters commands.Filters  `json:"filters,omitzero" doc:"Conditions that every hit must satisfy. A kind whose hits cannot is left out: session, workspace and author (for agents the agent's name) are conditions for commands and agents; since and until for these and runtime; all others for commands only."`
	Limit   int               `json:"limit,omitempty" minimum:"1" maximum:"200" default:"20" example:"20" doc:"Maximum number of hits."`
	AsOf    query.AsOf        `json:"as_of,omitzero" example:"2026-11-20T12:00:00Z" doc:"Answer from what was known at a time or watermark, as for find and query. Code is left out, as revisions are not moments, and with a watermark runtime is."`
	AtLeast schemas.Watermark `json:"at_least,omitempty" example:"recount.commands/0:42" doc:"Wait until everything below these offsets is visible, to read your own writes. TOPIC/PARTITION:NEXT, comma-separated, as in a response's watermark."`
	WaitMS  int               `json:"wait_ms,omitempty" minimum:"1" maximum:"60000" default:"5000" example:"5000" doc:"The maximum time to wait for at_least, in milliseconds."`
}

// Response is the answer.
type Response struct {
	query.Basis
	Sure  bool   `json:"sure" doc:"Whether the first hit is sure. If it is not, the hits have only some of the text's words."`
	Hits  []Hit  `json:"hits" nullable:"false" doc:"The hits of all kinds, the best first."`
	Kinds []Kind `json:"kinds" nullable:"false" doc:"What was found of each kind."`
}

// Kind says what was found of a kind.
type Kind struct {
	Kind  string `json:"kind" enum:"commands,code,runtime,agents" example:"commands" doc:"The kind."`
	Found int    `json:"found" example:"12" doc:"The number of hits of this kind that were ranked."`
	More  bool   `json:"more,omitempty" doc:"Whether there may be more than were ranked."`
	// Left is set for a kind that was left out.
	Left string `json:"left_out,omitempty" example:"the token is not granted it" doc:"Why this kind was left out, if it was."`
}

// Hit is one hit. Exactly one of Command, Symbol, Operation and Object is set, as the question of its
// kind answers it.
type Hit struct {
	Kind  string  `json:"kind" enum:"commands,code,runtime,agents" example:"commands" doc:"The kind."`
	ID    string  `json:"id" example:"018f3c2a-9d1e-8b7a-9c44-2f1d6a0b3e55" doc:"The id of the command's event or of the agent's object; for a symbol REPOSITORY NAME, for an operation SERVICE NAME."`
	Title string  `json:"title" example:"docker image prune -af" doc:"The first line of the command, the symbol's name, the operation's, or the object's title."`
	Score float64 `json:"score" example:"0.82" doc:"How well it fits the text, from 0 to 1; comparable with other hits of any kind and answer."`
	Sure  bool    `json:"sure" doc:"Whether it has enough of the text's words to be what is meant."`
	Parts Parts   `json:"parts" doc:"The parts of the score; their weights are in the proof."`

	Command   *commands.Hit    `json:"command,omitempty" doc:"The command, as find answers it."`
	Symbol    *code.SymbolHit  `json:"symbol,omitempty" doc:"The symbol, as code/symbols answers it."`
	Operation *runtime.Traffic `json:"operation,omitempty" doc:"The operation, as runtime/traffic answers it."`
	Object    *evidence.Object `json:"object,omitempty" doc:"The agent's object, as query answers it."`
}

// Parts are the parts of a score, each from 0 to 1.
type Parts struct {
	Words    float64 `json:"words" example:"1" doc:"The share of the text's words that the hit has, by their weights: a word counts the more the fewer hits have it. It is less for a hit of many words."`
	Title    float64 `json:"title" example:"0.5" doc:"The share of the words of its title that the text has."`
	Standing float64 `json:"standing" example:"0.9" doc:"Its standing among the hits of its kind."`
	Named    float64 `json:"named" example:"0" doc:"1 if the text names the kind, as in \"which command\"."`
}

// Normal fills in the defaults and checks the request. The error is a *query.RequestError.
func (r Request) Normal() (Request, error) {
	r.Text = strings.TrimSpace(r.Text)
	if r.Text == "" {
		return r, &query.RequestError{Field: "text", Value: `""`, Reason: "want words to look for"}
	}
	for _, kind := range r.Kinds {
		if !slices.Contains(Kinds(), kind) {
			return r, &query.RequestError{Field: "kinds", Value: fmt.Sprintf("%q", kind), Reason: "want one of " + strings.Join(Kinds(), ", ")}
		}
	}
	if err := query.CheckLimit(r.Limit, MaxLimit); err != nil {
		return r, err
	}
	r.Limit = cmp.Or(r.Limit, DefaultLimit)
	// find checks the rest: the length of the text, the filters and the wait.
	_, err := r.find(r.Limit).Normal()
	return r, err
}

// find returns the question to commands.
func (r Request) find(limit int) commands.FindRequest {
	return commands.FindRequest{Text: r.Text, Limit: limit, Filters: r.Filters, AsOf: r.AsOf, AtLeast: r.AtLeast, WaitMS: r.WaitMS}
}

// shared are the filters that agents' objects can satisfy, spanned those that operations can.
func shared(f commands.Filters) commands.Filters {
	return commands.Filters{Since: f.Since, Until: f.Until, Session: f.Session, Workspace: f.Workspace, Author: f.Author}
}

func spanned(f commands.Filters) commands.Filters {
	return commands.Filters{Since: f.Since, Until: f.Until}
}
