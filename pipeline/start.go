package pipeline

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/recountdb/recount/schemas"
)

// StartProjections and the constants below are values of ReaderOptions.Start: where reading of a
// partition starts.
const (
	// StartProjections is where the projections stand.
	StartProjections = "projections"
	// StartCheckpoint is where the projections stood when they were last flushed, for topics
	// derived from the log.
	StartCheckpoint = "checkpoint"
	// StartCommitted is what the consumer group committed, or the start.
	StartCommitted = "committed"
	StartEarliest  = "earliest"
	StartLatest    = "latest"
)

// starting is a parsed start_from: a keyword, offsets, or a time.
type starting struct {
	word    string
	offsets schemas.Watermark // nil except for startOffsets
	at      time.Time         // zero except for startTime
}

const (
	startOffsets = "offsets"
	startTime    = "a time"
)

// StartPattern is a regular expression for ReaderOptions.Start; NewReader makes the other checks.
const StartPattern = `^(projections|checkpoint|committed|earliest|latest|[0-9]{4}-.+|.+[/:][0-9]+:[0-9]+)$`

// StartWanted says what ReaderOptions.Start may be.
const StartWanted = "want projections, checkpoint, committed, earliest, latest, a time as in 2026-11-20T10:00:00Z, or offsets TOPIC/PARTITION:OFFSET,…"

var colons = regexp.MustCompile(`:([0-9]+):([0-9]+)$`)

func parseStart(text string) (starting, error) {
	switch text {
	case StartProjections, StartCheckpoint, StartCommitted, StartEarliest, StartLatest:
		return starting{word: text}, nil
	}
	for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", time.DateTime, time.DateOnly} {
		if at, err := time.Parse(form, text); err == nil {
			return starting{word: startTime, at: at}, nil
		}
	}
	var parts []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, colons.ReplaceAllString(part, "/$1:$2")) // topic:partition:offset
		}
	}
	w, err := schemas.ParseWatermark(strings.Join(parts, ","))
	if err != nil || len(w) == 0 {
		return starting{}, fmt.Errorf("start_from: %q: %s", text, StartWanted)
	}
	return starting{word: startOffsets, offsets: w}, nil
}

// After returns, for each partition of the topics, the first offset whose record was appended at
// the given time or later; the partition's end if there is none.
func (l *Log) After(ctx context.Context, at time.Time, topics ...string) (schemas.Watermark, error) {
	return l.offsets(ctx, "after "+at.Format(time.RFC3339), func(ctx context.Context, topics ...string) (kadm.ListedOffsets, error) {
		return l.admin.ListOffsetsAfterMilli(ctx, at.UnixMilli(), topics...)
	}, topics)
}
