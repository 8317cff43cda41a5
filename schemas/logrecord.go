package schemas

import "time"

// LogRecord is one record as it stands in the log, before anything is made of it.
type LogRecord struct {
	Position  Position
	Timestamp time.Time
	Headers   []Header
	Key       []byte
	Value     []byte
}

// Event reads the record's event; an error is of class ErrPoison.
func (r LogRecord) Event() (Event, error) {
	return DecodeEvent(r.Position.Topic, r.Headers, r.Key, r.Value, r.Timestamp)
}
