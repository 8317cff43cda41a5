package runtime

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/DataDog/sketches-go/ddsketch/mapping"
)

// Accuracy is the maximum relative error of a quantile.
const Accuracy = 0.01

// sketch is a DDSketch of durations: the number of durations in each bin of sketches-go's
// logarithmic mapping, whose bin i covers γ^i to γ^(i+1) nanoseconds. Bin 0 here is the duration 0,
// and bin i+1 is the mapping's bin i. Bins are in ascending order and none is empty.
type sketch []bin

type bin struct {
	at uint16
	n  int64
}

var durations = func() *mapping.LogarithmicMapping {
	m, err := mapping.NewLogarithmicMapping(Accuracy)
	if err != nil {
		panic(err) // Accuracy is a constant
	}
	return m
}()

// bounds has at i the minimum duration of the mapping's bin i+1. starts has the index at which to
// begin the search for a duration, by its length in bits and the five bits after the first. The
// mapping itself uses logarithms, whose last bit differs between CPUs; these bounds are computed by
// multiplication, which IEEE 754 specifies exactly.
var bounds, starts = func() (bounds []int64, starts [64 * 32]uint16) {
	const gamma = (1 + Accuracy) / (1 - Accuracy)
	for at := float64(gamma); at < math.MaxInt64; at = float64(at * gamma) {
		bounds = append(bounds, int64(math.Ceil(at)))
	}
	for i := range starts {
		lowest := uint64(32+i%32) << 58 >> (63 - i/32)
		n, _ := slices.BinarySearchFunc(bounds, lowest, func(bound int64, d uint64) int { return cmp.Compare(uint64(bound), d+1) })
		starts[i] = uint16(n)
	}
	return bounds, starts
}()

// binOf returns the bin of a duration.
func binOf(d int64) uint16 {
	if d <= 0 {
		return 0
	}
	length := bits.Len64(uint64(d))
	i := starts[(length-1)*32+int(uint64(d)<<(64-length)>>58&31)]
	for int(i) < len(bounds) && d >= bounds[i] {
		i++
	}
	return i + 1
}

// add adds n, which may be negative, to a bin.
func (s *sketch) add(at uint16, n int64) {
	i := len(*s)
	for i > 0 && (*s)[i-1].at >= at {
		i--
	}
	if i < len(*s) && (*s)[i].at == at {
		if (*s)[i].n += n; (*s)[i].n == 0 {
			*s = slices.Delete(*s, i, i+1)
		}
		return
	}
	if n != 0 {
		*s = slices.Insert(*s, i, bin{at, n})
	}
}

// merge adds another sketch's counts.
func (s *sketch) merge(o sketch) {
	a := *s
	// Bins that both have are added in place. New bins are rare once a row is some minutes old.
	missing := 0
	i := 0
	for _, b := range o {
		for i < len(a) && a[i].at < b.at {
			i++
		}
		if i < len(a) && a[i].at == b.at {
			continue
		}
		missing++
	}
	if missing > 0 {
		a = slices.Grow(a, missing)
		a = a[:len(a)+missing]
	}
	gone := false
	i = len(a) - missing - 1
	for j, k := len(o)-1, len(a)-1; j >= 0; k-- {
		switch {
		case i >= 0 && a[i].at == o[j].at:
			a[k] = bin{a[i].at, a[i].n + o[j].n}
			gone = gone || a[k].n == 0
			i--
			j--
		case i >= 0 && a[i].at > o[j].at:
			a[k] = a[i]
			i--
		default:
			a[k] = o[j]
			j--
		}
	}
	if gone {
		a = slices.DeleteFunc(a, func(b bin) bool { return b.n == 0 })
	}
	*s = a
}

// quantile returns the duration that the share q of all does not exceed, ranked as DDSketch does.
func (s sketch) quantile(q float64) (nanos float64, ok bool) {
	var count int64
	for _, b := range s {
		count += b.n
	}
	if count <= 0 || q < 0 || q > 1 {
		return 0, false
	}
	rank := q * float64(count-1)
	var below int64
	for _, b := range s {
		if below += b.n; float64(below) > rank {
			return b.value(), true
		}
	}
	return s[len(s)-1].value(), true
}

func (b bin) value() float64 {
	if b.at == 0 {
		return 0
	}
	return durations.Value(int(b.at) - 1)
}

// appendSketch appends the number of bins, and for each the difference from the previous bin and
// its count, as uvarints.
func appendSketch(b []byte, s sketch) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	last := uint16(0)
	for _, bin := range s {
		b = binary.AppendUvarint(b, uint64(bin.at-last))
		b = binary.AppendUvarint(b, uint64(bin.n))
		last = bin.at
	}
	return b
}

// decodeSketch decodes a sketch, reusing the memory of room.
func decodeSketch(room sketch, r *reader) sketch {
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.fail("sketch of %d bins in %d bytes", n, len(r.b))
		return nil
	}
	s := slices.Grow(room[:0], int(n))[:n]
	most := uint64(len(bounds)) + 1
	at, b := uint64(0), r.b
	for i := range s {
		var by, count uint64
		if len(b) >= 2 && b[0]|b[1] < 0x80 { // the most common case
			by, count, b = uint64(b[0]), uint64(b[1]), b[2:]
		} else {
			r.b = b
			by, count = r.uvarint(), r.uvarint()
			b = r.b
		}
		at += by
		if i > 0 && by == 0 || by > math.MaxUint16 || at > most || count == 0 {
			r.fail("bin %d of a sketch: %d with %d", i, at, count)
			return nil
		}
		s[i] = bin{uint16(at), int64(count)}
	}
	r.b = b
	return s
}

// reader decodes a value. After the first error all further reads return zero.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
	r.b = nil
}

func (r *reader) uvarint() uint64 {
	if len(r.b) > 0 && r.b[0] < 0x80 {
		v := r.b[0]
		r.b = r.b[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail("number cut short")
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) varint() int64 {
	u := r.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.fail("%d bytes, want %d", len(r.b), n)
		return make([]byte, max(0, min(n, 16)))
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) byte() byte { return r.bytes(1)[0] }

func (r *reader) uint64() uint64 { return binary.BigEndian.Uint64(r.bytes(8)) }

func (r *reader) text() string {
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.fail("text of %d bytes in %d", n, len(r.b))
		return ""
	}
	return string(r.bytes(int(n)))
}

// end returns the error, also if the value was not read to its end.
func (r *reader) end() error {
	if len(r.b) > 0 {
		r.fail("%d bytes too many", len(r.b))
	}
	return r.err
}
