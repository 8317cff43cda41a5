package query

import (
	"fmt"
	"time"

	"github.com/recountdb/recount/schemas"
)

// Limits of requests, whatever they ask about. They are part of the API.
const (
	// MaxText is the longest question in bytes.
	MaxText = 4096
	// DefaultWait and MaxWait bound how long at_least waits.
	DefaultWait = 5 * time.Second
	MaxWait     = 60 * time.Second
)

// Moment says which state a question is asked of.
type Moment struct {
	AtLeast schemas.Watermark `json:"at_least,omitempty" example:"recount.commands/0:42" doc:"Wait until everything below these offsets is visible, to read your own writes. TOPIC/PARTITION:NEXT, comma-separated, as in a response's watermark."`
	WaitMS  int               `json:"wait_ms,omitempty" minimum:"1" maximum:"60000" default:"5000" example:"5000" doc:"The maximum time to wait for at_least, in milliseconds."`
	AsOf    AsOf              `json:"as_of,omitzero" example:"2026-11-20T12:00:00Z" doc:"Answer from what was known at a time or watermark: an RFC 3339 time (only commands started and outcomes observed until then) or a watermark (only events below its offsets; partitions that it does not name are left out)."`
}

// Normal fills in the defaults and checks the moment. The error is a *RequestError.
func (m Moment) Normal() (Moment, error) {
	if m.WaitMS == 0 {
		m.WaitMS = int(DefaultWait / time.Millisecond)
	}
	return m, CheckWait(m.WaitMS)
}

// AsOf is a moment in the past, by time or by offsets.
type AsOf struct {
	Time    time.Time
	Offsets schemas.Watermark
}

// IsZero reports whether nothing was asked for.
func (a AsOf) IsZero() bool { return a.Time.IsZero() && a.Offsets == nil }

// MarshalText is the RFC 3339 time or the watermark.
func (a AsOf) MarshalText() ([]byte, error) {
	if !a.Time.IsZero() {
		return a.Time.UTC().AppendFormat(nil, time.RFC3339Nano), nil
	}
	return a.Offsets.MarshalText()
}

// UnmarshalText reads the form that MarshalText writes.
func (a *AsOf) UnmarshalText(b []byte) error {
	s := string(b)
	if s == "" {
		*a = AsOf{}
		return nil
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		*a = AsOf{Time: t.UTC()}
		return nil
	}
	w, err := schemas.ParseWatermark(s)
	if err != nil {
		return fmt.Errorf("as_of %q: want an RFC 3339 time or TOPIC/PARTITION:NEXT,…", s)
	}
	*a = AsOf{Offsets: w}
	return nil
}
