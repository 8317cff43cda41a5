package chunks_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/recountdb/recount/projections/chunks"
)

func TestReadersSeeWhatWasAdded(t *testing.T) {
	const chunk, total = 4, 1000
	var l chunks.List[[chunk]uint32]
	var n atomic.Uint32
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for n.Load() < total {
				for i := range n.Load() {
					if got := l.At(i / chunk)[i%chunk]; got != i {
						t.Errorf("element %d is %d", i, got)
						return
					}
				}
			}
		})
	}
	for i := range uint32(total) {
		if i%chunk == 0 {
			l.Add(new([chunk]uint32))
		}
		l.At(i / chunk)[i%chunk] = i
		n.Store(i + 1)
	}
	readers.Wait()

	var same chunks.List[[chunk]uint32]
	same.Set(&l)
	if got := same.At(total/chunk - 1)[chunk-1]; got != total-1 {
		t.Errorf("the last element of the copy is %d", got)
	}
}
