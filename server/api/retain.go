package api

import (
	"time"

	"github.com/recountdb/recount/schemas"
)

// RetainRequest selects what retention removes. Without AgeSeconds and Bytes the configured limits
// apply.
type RetainRequest struct {
	Topic      string `json:"topic,omitempty" maxLength:"249" example:"spans" doc:"The topic: spans, commands or agents; spans unless it is given. Another one is refused, and the answer says what does instead."`
	AgeSeconds int64  `json:"age_seconds,omitempty" minimum:"1" maximum:"9000000000" example:"2592000" doc:"Events that are older go."`
	Bytes      int64  `json:"bytes,omitempty" minimum:"1" example:"10737418240" doc:"The oldest events go until the topic takes no more than this, about."`
	DryRun     bool   `json:"dry_run,omitempty" doc:"Say what would go, and remove nothing."`
}

// RetainReport reports what retention removed, or with DryRun what it would remove.
type RetainReport struct {
	Topic   string            `json:"topic" example:"recount.spans" doc:"The topic."`
	Rule    string            `json:"rule" example:"age 720h0m0s" doc:"What holds."`
	Events  int64             `json:"events" example:"52100" doc:"How many events go."`
	Bytes   int64             `json:"bytes,omitempty" example:"12884901888" doc:"What the topic took before, where a size was asked for."`
	Starts  schemas.Watermark `json:"starts" example:"recount.spans/0:5210" doc:"The first offsets that stay, of partitions that lose something."`
	Known   *time.Time        `json:"known,omitempty" doc:"Since when the topic is known then."`
	Event   *schemas.Position `json:"event,omitempty" doc:"Where records.retired stands."`
	Sums    int64             `json:"sums,omitempty" example:"310" doc:"How many sums of an hour stay of what went."`
	Rebuilt []string          `json:"rebuilt,omitempty" doc:"The projections that were made anew."`
	DryRun  bool              `json:"dry_run,omitempty" doc:"Nothing was removed."`
	Elapsed int64             `json:"elapsed_ms" example:"1200" doc:"How long it took, in milliseconds."`
}
