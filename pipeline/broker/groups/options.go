package groups

import (
	"fmt"
	"time"
)

// Options limit consumer groups. Membership is kept in memory and limited by them; committed
// offsets are stored, and not limited.
type Options struct {
	// InitialRebalanceDelay is how long the first rebalance of an empty group waits for more
	// members after each one that joins. A longer delay saves rebalances when many members start
	// together; a shorter one lets a single member start sooner. Default 50 ms; negative: none.
	InitialRebalanceDelay time.Duration

	// MaxGroups is the maximum number of groups in memory, which are those that have members or had
	// some in the last ten minutes. Default 10,000.
	MaxGroups int

	// MaxMembers is the maximum number of members of one group. Default 1,000.
	MaxMembers int

	// MaxBytes is the maximum size of the metadata and assignments of all members of all groups
	// together. Default 64 MiB.
	MaxBytes int64
}

func (o Options) withDefaults() Options {
	if o.InitialRebalanceDelay == 0 {
		o.InitialRebalanceDelay = 50 * time.Millisecond
	}
	o.InitialRebalanceDelay = max(0, o.InitialRebalanceDelay)
	if o.MaxGroups == 0 {
		o.MaxGroups = 10_000
	}
	if o.MaxMembers == 0 {
		o.MaxMembers = 1000
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 64 << 20
	}
	return o
}

// Validate returns an error that names the first invalid option.
func (o Options) Validate() error {
	o = o.withDefaults()
	switch {
	case o.MaxGroups < 1:
		return fmt.Errorf("option Groups.MaxGroups is %d, want at least 1", o.MaxGroups)
	case o.MaxMembers < 1:
		return fmt.Errorf("option Groups.MaxMembers is %d, want at least 1", o.MaxMembers)
	case o.MaxBytes < 1:
		return fmt.Errorf("option Groups.MaxBytes is %d, want at least 1", o.MaxBytes)
	}
	return nil
}
