package pipeline

import (
	"github.com/recountdb/recount/schemas"
)

// Records that the embedded broker lost, and that were given up, are gaps in the log. The client
// does not report offsets without records, so a reader that follows up to an end inside a gap would
// wait for ever. The broker's list of gaps is used instead; it does not change while the broker is
// open.

// readGaps loads the gaps of an embedded log.
func (l *Log) readGaps() error {
	if l.embedded == nil {
		return nil
	}
	all, err := l.embedded.Gaps()
	if err != nil {
		return err
	}
	l.gaps = map[schemas.TopicPartition]map[int64]int64{}
	for _, g := range all {
		tp := schemas.TopicPartition{Topic: g.Topic, Partition: g.Partition}
		if l.gaps[tp] == nil {
			l.gaps[tp] = map[int64]int64{}
		}
		l.gaps[tp][g.From] = g.To
	}
	return nil
}

// skipGaps returns the first offset, from off on, that is not in a gap.
func (l *Log) skipGaps(tp schemas.TopicPartition, off int64) int64 {
	for moved := true; moved; {
		moved = false
		for from, to := range l.gaps[tp] {
			if from <= off && off < to {
				off, moved = to, true
			}
		}
	}
	return off
}
