package ask

import (
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// FindResponse is the answer of find.
type FindResponse struct {
	Status         string                `json:"status" enum:"ok,empty" example:"ok" doc:"ok, or empty if there is no hit."`
	Hint           string                `json:"hint,omitempty" doc:"Why there are no hits and what to change, or from when on commands are known."`
	Variants       []Variant             `json:"variants,omitempty" doc:"Words of the text that no command has, and what was searched for instead."`
	Hits           []Hit                 `json:"hits" nullable:"false" doc:"The hits, best first."`
	Watermark      schemas.Watermark     `json:"watermark" example:"recount.commands/0:42" doc:"The answer is computed from everything below these offsets and nothing above: TOPIC/PARTITION:NEXT."`
	AppliedFilters []query.AppliedFilter `json:"applied_filters" nullable:"false" doc:"The filters that were applied before ranking."`
	Proof          []query.Step          `json:"proof" nullable:"false" doc:"The steps by which the answer was computed, in order."`
	Timing         query.Timing          `json:"timing" doc:"Durations. This is the only part of an answer that differs from run to run."`
}

// AddHint adds to the hint.
func (r *FindResponse) AddHint(hint string) { r.Hint = query.Joined(r.Hint, hint) }

// Variant is a word of the text that no command has.
type Variant struct {
	Word string   `json:"word" example:"dokcer" doc:"The word, without its ending."`
	As   []string `json:"as" example:"docker" nullable:"false" doc:"What was searched for instead."`
	Kind string   `json:"kind" enum:"shorter,longer,corrected,within" example:"corrected" doc:"shorter: words that it begins with; longer: words that begin with it; corrected: words that are spelled nearly like it; within: words that contain it."`
}

// Intent has the fields of a command that every answer shows.
type Intent struct {
	ID        schemas.EventID   `json:"id" format:"uuid" example:"018f3c2a-9d1e-8b7a-9c44-2f1d6a0b3e55" doc:"The id of the command's event."`
	Position  schemas.Position  `json:"position" doc:"The event's position in the log."`
	Time      time.Time         `json:"time" doc:"When the command started."`
	Untimed   bool              `json:"time_unknown,omitempty" doc:"The start time is unknown, because the command is from a history without times. time then only keeps the order of the history, before all known times."`
	Command   string            `json:"command" example:"docker image prune -af" doc:"The command line, secrets redacted."`
	Cwd       string            `json:"cwd,omitempty" example:"/src/app" doc:"The directory it ran in."`
	Session   string            `json:"session,omitempty" example:"tty7-4711" doc:"The shell session."`
	Workspace string            `json:"workspace,omitempty" example:"/src/app" doc:"The workspace."`
	Host      string            `json:"host,omitempty" example:"laptop" doc:"The host."`
	User      string            `json:"user,omitempty" example:"ada" doc:"The user."`
	Author    string            `json:"author,omitempty" example:"claude" doc:"The author."`
	Shell     string            `json:"shell,omitempty" example:"zsh" doc:"The shell."`
	ExitCode  *int32            `json:"exit_code,omitempty" example:"0" doc:"The exit code; absent if unknown."`
	Duration  *int64            `json:"duration_ns,omitempty" example:"1500000000" doc:"The duration in nanoseconds; absent if unknown."`
	Outcome   *schemas.Position `json:"outcome_position,omitempty" doc:"The position of the event with exit code and duration, if it is not the command's own."`
	Template  string            `json:"template,omitempty" example:"docker image prune -af" doc:"The command with its values replaced."`
	Category  string            `json:"category,omitempty" example:"configure" doc:"The category of the command."`
}

// Hit is one command found.
type Hit struct {
	Intent
	Score  float64           `json:"score" example:"12.5" doc:"The fused score; comparable within one answer only."`
	Scores []query.PathScore `json:"scores,omitempty" doc:"The rank and score from each path."`
}
