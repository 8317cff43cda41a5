package graph

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/recountdb/recount/schemas"
)

var errShort = errors.New("value cut short")

// cutter takes a value apart. After an error it gives zeros, so that it is enough
// to ask for the error at the end.
type cutter struct {
	b   []byte
	err error
}

// fail keeps the first error.
func (c *cutter) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// end is the error there was, or that of bytes left over.
func (c *cutter) end(what string, at schemas.Position) error {
	if c.err == nil && len(c.b) > 0 {
		c.fail(fmt.Errorf("%d bytes too many", len(c.b)))
	}
	if c.err == nil {
		return nil
	}
	return fmt.Errorf("%s at %s: %w", what, at, c.err)
}

func (c *cutter) take(n int) []byte {
	if c.err != nil || n > len(c.b) {
		c.fail(errShort)
		return nil
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

func (c *cutter) byte() byte {
	if b := c.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (c *cutter) uint64() uint64 {
	if b := c.take(8); len(b) == 8 {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (c *cutter) uvarint() uint64 {
	v, n := binary.Uvarint(c.b)
	if c.take(max(n, 0)); n <= 0 {
		c.fail(errShort)
	}
	if c.err != nil {
		return 0
	}
	return v
}

func (c *cutter) varint() int64 {
	u := c.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (c *cutter) text() string {
	n := c.uvarint()
	if n > uint64(len(c.b)) {
		c.fail(errShort)
		return ""
	}
	return string(c.take(int(n)))
}

// count reads how many of something follow.
func (c *cutter) count(most int) int {
	n := c.uvarint()
	if n > uint64(most) {
		c.fail(fmt.Errorf("%d things where at most %d can be", n, most))
		return 0
	}
	return int(n)
}

// exit reads what exitBits made.
func (c *cutter) exit() *int32 {
	code := c.uvarint()
	if code > 1+math.MaxUint32 {
		c.fail(fmt.Errorf("exit code %d", code))
	}
	if code == 0 || c.err != nil {
		return nil
	}
	u := uint32(code - 1)
	exit := int32(u>>1) ^ -int32(u&1)
	return &exit
}
