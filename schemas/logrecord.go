package schemas

import "time"

// LogRecord is one record as it is stored in the log.
type LogRecord struct {
	Position  Position
	Timestamp time.Time
	Headers   []Header
	Key       []byte
	Value     []byte
}

// Event decodes the record's event. An error is of class ErrPoison.
func (r LogRecord) Event() (Event, error) {
	return DecodeEvent(r.Position.Topic, r.Headers, r.Key, r.Value, r.Timestamp)
}
