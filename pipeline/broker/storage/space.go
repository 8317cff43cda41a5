package storage

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
func (l *Log) Full() error { return l.space.full() }

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
	low := fmt.Errorf("the disk is nearly full: %d MiB free, %d MiB required", free>>20, s.min>>20)
	s.low.Store(&low)
	return nil
}

// guardSpace measures at intervals until the log closes.
func (l *Log) guardSpace() {
	tick := time.NewTicker(spaceEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-l.ctx.Done():
			return
		}
		if !l.measureSpace() {
			return
		}
	}
}

// measureSpace measures and logs when space runs out or is available again; false if it cannot be
// measured.
func (l *Log) measureSpace() bool {
	was := l.space.full()
	err := l.space.check()
	if errors.Is(err, vfs.ErrUnsupported) {
		return false
	}
	if err != nil {
		l.log.Warn("measure free space", "err", err)
	}
	switch now := l.space.full(); {
	case was == nil && now != nil:
		l.log.Error("produce requests are refused until there is space", "err", now)
	case was != nil && now == nil:
		l.log.Info("produce requests are accepted again")
	}
	return true
}
