package narrative

import (
	"encoding/binary"
	"fmt"
	"time"
)

// clock gives the intents of a partition times that can be compared with those of other partitions.
// It follows the start times of the intents, never goes back, and advances by at most a day per
// intent, so that one wrong machine clock does not set it to the year 2250 for good. After a long
// silence it catches up by a day with each intent.
type clock struct {
	now     int64 // nanoseconds since 1970
	started bool
}

const clockStep = int64(24 * time.Hour)

func (c clock) tick(t int64) clock {
	switch {
	case !c.started:
		return clock{t, true}
	case t <= c.now:
		return c
	}
	// The subtraction cannot overflow here, because t > now.
	if ahead := uint64(t) - uint64(c.now); ahead > uint64(clockStep) {
		t = c.now + clockStep
	}
	return clock{t, true}
}

func appendClock(b []byte, c clock) []byte { return binary.AppendVarint(b, c.now) }

func decodeClock(b []byte) (clock, error) {
	now, n := binary.Varint(b)
	if n <= 0 || n != len(b) {
		return clock{}, fmt.Errorf("clock: value %x", b)
	}
	return clock{now, true}, nil
}
