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

	// MinSessionTimeout and MaxSessionTimeout limit the session timeout of a member. Default 1
	// second and 30 minutes.
	MinSessionTimeout, MaxSessionTimeout time.Duration

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
	duration := func(v *time.Duration, d time.Duration) {
		if *v == 0 {
			*v = d
		}
	}
	duration(&o.InitialRebalanceDelay, 50*time.Millisecond)
	o.InitialRebalanceDelay = max(0, o.InitialRebalanceDelay)
	duration(&o.MinSessionTimeout, time.Second)
	duration(&o.MaxSessionTimeout, 30*time.Minute)
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
	case o.MinSessionTimeout < 0 || o.MaxSessionTimeout < o.MinSessionTimeout:
		return fmt.Errorf("option Groups.MaxSessionTimeout is %s, want at least MinSessionTimeout (%s)", o.MaxSessionTimeout, o.MinSessionTimeout)
	case o.MaxGroups < 1:
		return fmt.Errorf("option Groups.MaxGroups is %d, want at least 1", o.MaxGroups)
	case o.MaxMembers < 1:
		return fmt.Errorf("option Groups.MaxMembers is %d, want at least 1", o.MaxMembers)
	case o.MaxBytes < 1:
		return fmt.Errorf("option Groups.MaxBytes is %d, want at least 1", o.MaxBytes)
	}
	return nil
}
