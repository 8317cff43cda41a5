package api

import "github.com/recountdb/recount/schemas"

// LogTopics lists the topics of the log.
type LogTopics struct {
	Topics []LogTopic `json:"topics" nullable:"false" doc:"The topics by name."`
}

// LogTopic is one topic.
type LogTopic struct {
	Name       string         `json:"name" example:"recount.commands" doc:"The topic's full name."`
	Partitions []LogPartition `json:"partitions" nullable:"false" doc:"Its partitions."`
}

// LogPartition is one partition, whose events have the offsets from start to end, without end.
type LogPartition struct {
	Partition int32 `json:"partition" example:"2" doc:"The partition."`
	Start     int64 `json:"start" example:"0" doc:"The first offset that is kept."`
	End       int64 `json:"end" example:"1042" doc:"The offset that the next event will get."`
}

// MaxLogPage is the maximum number of events in a LogPage, DefaultLogPage the default.
const (
	MaxLogPage     = 500
	DefaultLogPage = 100
)

// LogRequest asks for consecutive events of a partition.
type LogRequest struct {
	Topic     string
	Partition int32
	// From is the first offset; nil means as many events before the end as Limit.
	From *int64
	// Limit is the maximum number of events; 0 means DefaultLogPage.
	Limit int
	// Raw asks for the stored bytes too.
	Raw bool
}

// LogPage holds consecutive events of a partition.
type LogPage struct {
	Topic string `json:"topic" example:"recount.commands" doc:"The topic."`
	LogPartition
	From   int64      `json:"from" example:"942" doc:"The offset at which the page begins."`
	Next   int64      `json:"next" example:"1042" doc:"The offset at which the next page begins."`
	Events []LogEvent `json:"events" nullable:"false" doc:"The events in order; fewer than the limit if they are large."`
}

// LogEvent is one event of a page.
type LogEvent struct {
	StoredEvent
	Raw []byte `json:"raw,omitempty" doc:"The stored bytes of the payload, if they were asked for."`
}

// NewLogEvent describes a record of the log.
func NewLogEvent(r schemas.LogRecord, raw bool) (LogEvent, error) {
	s, err := NewStoredEvent(r)
	e := LogEvent{StoredEvent: s}
	if raw {
		e.Raw = r.Value
	}
	return e, err
}
