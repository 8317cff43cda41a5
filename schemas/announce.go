package schemas

import "time"

// These limit how long an announcement of work holds, from the time of its event.
const (
	// DefaultAnnounced is used if the event does not say until when.
	DefaultAnnounced = 2 * time.Hour
	MaxAnnounced     = 30 * 24 * time.Hour
)

// These say how a remembered statement is meant (Statement.form); producers may use others.
const (
	FormDecision = "decision"
	FormFact     = "fact"
	FormNote     = "note"
)
