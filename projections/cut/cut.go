// Package cut decodes the values that projections store: unsigned and signed varints,
// little-endian words, and bytes after their length.
package cut

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrShort says that a value ends before what it should hold.
var ErrShort = errors.New("value cut short")

// Reader takes a value apart. After an error it gives zeros, so that it is enough to
// ask for the error at the end.
type Reader struct {
	Rest []byte // what is left
	Err  error  // the first that there was
}

// Of begins a value. What is taken of it as bytes is part of it.
func Of(value []byte) Reader { return Reader{Rest: value} }

// Fail keeps the first error.
func (c *Reader) Fail(err error) {
	if c.Err == nil {
		c.Err = err
	}
}

// End is the error that there was, or that of bytes left over.
func (c *Reader) End() error {
	if c.Err == nil && len(c.Rest) > 0 {
		c.Fail(fmt.Errorf("%d bytes too many", len(c.Rest)))
	}
	return c.Err
}

// Take reads n bytes.
func (c *Reader) Take(n int) []byte {
	if c.Err != nil || n > len(c.Rest) {
		c.Fail(ErrShort)
		return nil
	}
	b := c.Rest[:n]
	c.Rest = c.Rest[n:]
	return b
}

// Byte reads one.
func (c *Reader) Byte() byte {
	if b := c.Take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

// Uint64 reads eight bytes, the smallest first.
func (c *Reader) Uint64() uint64 {
	if b := c.Take(8); len(b) == 8 {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// Uvarint reads a number of one to ten bytes.
func (c *Reader) Uvarint() uint64 {
	v, n := binary.Uvarint(c.Rest)
	if c.Take(max(n, 0)); n <= 0 {
		c.Fail(ErrShort)
	}
	if c.Err != nil {
		return 0
	}
	return v
}

// Varint reads a number that may be negative.
func (c *Reader) Varint() int64 {
	u := c.Uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// Bytes reads a length and as many bytes.
func (c *Reader) Bytes() []byte {
	n := c.Uvarint()
	if n > uint64(len(c.Rest)) {
		c.Fail(ErrShort)
		return nil
	}
	return c.Take(int(n))
}

// Text reads a length and as many bytes, as text.
func (c *Reader) Text() string { return string(c.Bytes()) }

// AppendText appends what Text reads.
func AppendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// Count reads how many of something follow, at most so many.
func (c *Reader) Count(most int) int {
	n := c.Uvarint()
	if n > uint64(most) {
		c.Fail(fmt.Errorf("%d things where at most %d can be", n, most))
		return 0
	}
	return int(n)
}
