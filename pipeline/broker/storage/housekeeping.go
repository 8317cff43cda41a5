package storage

import "time"

const (
	// highwaterEvery is how much of the newest history a power cut may remove from the high-water
	// file.
	highwaterEvery = time.Second
	expireEvery    = time.Hour
)

// runHousekeeping runs periodic work until the log closes.
func (l *Log) runHousekeeping() {
	marks, readers, windows := time.NewTicker(highwaterEvery), time.NewTicker(readerIdle), time.NewTicker(expireEvery)
	defer marks.Stop()
	defer readers.Stop()
	defer windows.Stop()
	for {
		select {
		case <-marks.C:
			if err := l.store.highwater.sync(); err != nil {
				l.store.fail(err)
			}
			if err := l.store.segments.reading.sweep(); err != nil {
				l.log.Warn("log store", "err", err)
			}
		case <-readers.C:
			l.sweepReaders(readerIdle)
		case <-windows.C:
			if n, err := l.expireWindows(time.Now().Add(-l.opts.ProducerExpiry)); err != nil {
				l.log.Warn("expire producers", "err", err)
			} else if n > 0 {
				l.log.Info("dropped the state of idle producers", "windows", n)
			}
		case <-l.ctx.Done():
			return
		}
	}
}
