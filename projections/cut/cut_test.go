package cut

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"
)

// value is one of everything.
func value() []byte {
	b := binary.AppendUvarint([]byte{7}, 300)
	b = binary.AppendVarint(b, math.MinInt64)
	b = binary.LittleEndian.AppendUint64(b, 1<<40)
	b = append(b, 2, 'h', 'i')
	return append(b, 3)
}

func read(c *Reader) (byte, uint64, int64, uint64, string, int) {
	return c.Byte(), c.Uvarint(), c.Varint(), c.Uint64(), c.Text(), c.Count(3)
}

func TestReads(t *testing.T) {
	c := Of(value())
	one, u, v, word, text, n := read(&c)
	if err := c.End(); err != nil || one != 7 || u != 300 || v != math.MinInt64 || word != 1<<40 || text != "hi" || n != 3 {
		t.Errorf("got %d %d %d %d %q %d, %v", one, u, v, word, text, n, err)
	}
}

// TestShort: wherever a value is cut, that is the error, and what is behind is zero.
func TestShort(t *testing.T) {
	for whole := value(); len(whole) > 0; whole = whole[:len(whole)-1] {
		c := Of(whole[:len(whole)-1])
		if _, _, _, _, _, n := read(&c); n != 0 {
			t.Errorf("%d bytes: got %d behind the end", len(whole)-1, n)
		}
		if err := c.End(); !errors.Is(err, ErrShort) || err.Error() != "value cut short" {
			t.Errorf("%d bytes: got %v", len(whole)-1, err)
		}
	}
}

func TestEnd(t *testing.T) {
	for want, read := range map[string]func(*Reader){
		"2 bytes too many":                func(c *Reader) { c.Byte() },
		"9 things where at most 3 can be": func(c *Reader) { c.Count(3); c.Fail(errors.New("second")) },
		"value cut short":                 func(c *Reader) { c.Bytes() },
	} {
		c := Of([]byte{9, 1, 1})
		if read(&c); c.End() == nil || c.End().Error() != want {
			t.Errorf("got %v, want %s", c.End(), want)
		}
	}
}
