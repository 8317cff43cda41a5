package narrative

import (
	"encoding/binary"
	"fmt"
	"time"
)

// clock orders the intents of one partition among those of others: it follows
// the times at which they started, never goes back, and jumps ahead by at most
// a day an intent, so that one broken clock does not set it to the year 2250 for
// good. After a long silence it catches up a day with each intent.
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
	// In this order nothing overflows: t > now.
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
