package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// checkArrays checks the arrays of a produce request before it is decoded. The decoder accepts an
// array's length if there is a byte for each element, and allocates a hundred times that: for
// control requests the frame limit bounds it, but a produce may have a hundred megabytes.
func checkArrays(req kmsg.Request, body []byte) error {
	p, ok := req.(*kmsg.ProduceRequest)
	if !ok {
		return nil
	}
	w := walker{b: body, flexible: p.IsFlexible()}
	w.str() // the transactional id
	w.skip(6)
	parts := 0
	for range w.array(maxProduceTopics) {
		if p.Version >= 13 {
			w.skip(16)
		} else {
			w.str()
		}
		for range w.array(maxProducePartitions - parts) {
			parts++
			w.skip(4)
			w.bytes()
			w.tags()
		}
		w.tags()
	}
	w.tags()
	if w.err != nil {
		return fmt.Errorf("%w: produce v%d: %w", ErrFrame, p.Version, w.err)
	}
	return nil
}

const (
	maxProduceTopics     = 10_000
	maxProducePartitions = 100_000 // of all topics together
)

// walker steps over the wire format. After the first error every step returns zero values.
type walker struct {
	b        []byte
	flexible bool
	err      error
}

func (w *walker) skip(n int) {
	if w.err == nil && (n < 0 || n > len(w.b)) {
		w.err = fmt.Errorf("%d bytes wanted, %d left", n, len(w.b))
	}
	if w.err != nil {
		w.b = nil
		return
	}
	w.b = w.b[n:]
}

// compact reads a compact length: 0 encodes null, n+1 encodes n.
func (w *walker) compact() int {
	v, k := binary.Uvarint(w.b)
	if k <= 0 || v > 1<<31 {
		w.skip(-1)
		return 0
	}
	w.skip(k)
	return max(int(v)-1, 0)
}

func (w *walker) length(size int) int {
	if w.flexible {
		return w.compact()
	}
	if len(w.b) < size {
		w.skip(-1)
		return 0
	}
	n := 0
	if size == 2 {
		n = int(int16(binary.BigEndian.Uint16(w.b)))
	} else {
		n = int(int32(binary.BigEndian.Uint32(w.b)))
	}
	w.skip(size)
	return max(n, 0)
}

func (w *walker) str()   { w.skip(w.length(2)) }
func (w *walker) bytes() { w.skip(w.length(4)) }

func (w *walker) array(limit int) int {
	n := w.length(4)
	if n > limit && w.err == nil {
		w.err = fmt.Errorf("array of %d, at most %d", n, limit)
	}
	if w.err != nil {
		return 0
	}
	return n
}

func (w *walker) tags() {
	if !w.flexible || w.err != nil {
		return
	}
	rest, err := skipTags(w.b)
	if err != nil {
		w.err = err
		rest = nil
	}
	w.b = rest
}
