package api

import (
	"time"

	"github.com/recountdb/recount/schemas"
)

// RetainRequest selects what retention removes. Without AgeSeconds and Bytes the configured limits
// apply.
type RetainRequest struct {
	Topic      string `json:"topic,omitempty" maxLength:"249" example:"spans" doc:"The topic: spans (default), commands or agents. Any other is refused with a hint at what to use instead."`
	AgeSeconds int64  `json:"age_seconds,omitempty" minimum:"1" maximum:"9000000000" example:"2592000" doc:"Remove events older than this, in seconds."`
	Bytes      int64  `json:"bytes,omitempty" minimum:"1" example:"10737418240" doc:"Remove the oldest events until the topic takes no more than about this many bytes."`
	DryRun     bool   `json:"dry_run,omitempty" doc:"Report what would be removed, and remove nothing."`
}

// RetainReport reports what retention removed, or with DryRun what it would remove.
type RetainReport struct {
	Topic   string            `json:"topic" example:"recount.spans" doc:"The topic."`
	Rule    string            `json:"rule" example:"age 720h0m0s" doc:"The rule that was applied."`
	Events  int64             `json:"events" example:"52100" doc:"The number of events that are removed."`
	Bytes   int64             `json:"bytes,omitempty" example:"12884901888" doc:"The size of the topic before, if the rule limits the size."`
	Starts  schemas.Watermark `json:"starts" example:"recount.spans/0:5210" doc:"The first offset that is kept, for each partition that loses events."`
	Known   *time.Time        `json:"known,omitempty" doc:"The time from which the topic's events are complete afterwards."`
	Event   *schemas.Position `json:"event,omitempty" doc:"The position of records.retired."`
	Sums    int64             `json:"sums,omitempty" example:"310" doc:"The number of hourly sums that are kept of the removed spans."`
	Rebuilt []string          `json:"rebuilt,omitempty" doc:"The projections that were rebuilt."`
	DryRun  bool              `json:"dry_run,omitempty" doc:"Nothing was removed."`
	Elapsed int64             `json:"elapsed_ms" example:"1200" doc:"Duration in milliseconds."`
}
