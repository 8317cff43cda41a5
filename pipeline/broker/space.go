package broker

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// space guards the free space of the disk. A store that runs into a full disk fails for good; one
// that stops a little earlier continues by itself when there is space again.
type space struct {
	free func() (uint64, error)
	min  uint64
	low  atomic.Pointer[error]
}

const spaceEvery = 250 * time.Millisecond

// full returns why nothing more may be written, or nil.
func (s *space) full() error {
	if p := s.low.Load(); p != nil {
		return *p
	}
	return nil
}

// Full returns why produces are refused for lack of disk space, or nil. This may change before the
// next produce.
func (b *Broker) Full() error { return b.space.full() }

// check measures the free space.
func (s *space) check() error {
	free, err := s.free()
	if err != nil {
		return err
	}
	if free >= s.min {
		s.low.Store(nil)
		return nil
	}
	low := fmt.Errorf("the disk is nearly full: %d MiB free, %d MiB wanted", free>>20, s.min>>20)
	s.low.Store(&low)
	return nil
}

// guardSpace measures at intervals until the broker closes.
func (b *Broker) guardSpace() {
	tick := time.NewTicker(spaceEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-b.ctx.Done():
			return
		}
		if !b.measureSpace() {
			return
		}
	}
}

// measureSpace measures and logs when space runs out or is available again; false if it cannot be
// measured.
func (b *Broker) measureSpace() bool {
	was := b.space.full()
	err := b.space.check()
	if errors.Is(err, vfs.ErrUnsupported) {
		return false
	}
	if err != nil {
		b.log.Warn("measure free space", "err", err)
	}
	switch now := b.space.full(); {
	case was == nil && now != nil:
		b.log.Error("produces are refused until there is room", "err", now)
	case was != nil && now == nil:
		b.log.Info("produces are accepted again")
	}
	return true
}
