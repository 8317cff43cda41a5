package sealed

import (
	"io"
	"os"
	"unsafe"
)

// Align is the alignment of memory from Bytes. A region of a file that begins at a multiple of it
// can be read in place as numbers of any size.
const Align = 64

// read reads a file into memory.
func read(f *os.File) ([]byte, func() error, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	b := Bytes(int(st.Size()))
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, st.Size()), b); err != nil {
		return nil, nil, err
	}
	return b, func() error { return nil }, nil
}

// Bytes returns n bytes of memory that begin at a multiple of Align, as a mapping does.
func Bytes(n int) []byte {
	b := make([]byte, n+Align)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (Align - 1)
	return b[skip : skip+n : skip+n]
}

// Fixed is the element types of the arrays that a region may hold.
type Fixed interface {
	~int8 | ~uint8 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~[16]byte
}

// BytesOf returns the memory of s as bytes, without a copy.
func BytesOf[T Fixed](s []T) []byte {
	var t T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(t)))
}

// ViewOf returns b as elements of T, without a copy; false if its length or its alignment does not
// allow it.
func ViewOf[T Fixed](b []byte) ([]T, bool) {
	var t T
	size := int(unsafe.Sizeof(t))
	p := unsafe.Pointer(unsafe.SliceData(b))
	if len(b)%size != 0 || uintptr(p)%unsafe.Alignof(t) != 0 {
		return nil, false
	}
	if len(b) == 0 {
		return []T{}, true
	}
	return unsafe.Slice((*T)(p), len(b)/size), true
}

// LittleEndian reports whether this machine is little-endian and so can read such files in place.
func LittleEndian() bool {
	x := uint16(1)
	return *(*byte)(unsafe.Pointer(&x)) == 1
}
