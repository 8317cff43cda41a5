package broker

import "time"

const (
	// highwaterEvery is how much of the newest history a power cut may remove from the high-water
	// file.
	highwaterEvery = time.Second
	expireEvery    = time.Hour
)

// keepHouse runs periodic work until the broker closes.
func (b *Broker) keepHouse() {
	marks, readers, windows := time.NewTicker(highwaterEvery), time.NewTicker(readerIdle), time.NewTicker(expireEvery)
	defer marks.Stop()
	defer readers.Stop()
	defer windows.Stop()
	for {
		select {
		case <-marks.C:
			if err := b.store.highwater.sync(); err != nil {
				b.store.fail(err)
			}
			if err := b.store.segments.reading.sweep(); err != nil {
				b.log.Warn("log store", "err", err)
			}
		case <-readers.C:
			b.sweepReaders(readerIdle)
		case <-windows.C:
			if n, err := b.expireWindows(time.Now().Add(-b.opts.ProducerExpiry)); err != nil {
				b.log.Warn("expire producers", "err", err)
			} else if n > 0 {
				b.log.Info("forgot producers that had been silent", "windows", n)
			}
		case <-b.ctx.Done():
			return
		}
	}
}
