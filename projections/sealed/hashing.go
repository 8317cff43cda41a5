package sealed

import (
	"crypto/sha256"
	"hash"
	"io"
)

// Hashing writes a file region by region: it counts and hashes what it writes,
// and keeps the first error, after which it writes nothing more.
type Hashing struct {
	w   io.Writer
	h   hash.Hash
	pos uint64
	err error
}

// NewHashing writes to w.
func NewHashing(w io.Writer) *Hashing { return &Hashing{w: w, h: sha256.New()} }

// Write writes b.
func (w *Hashing) Write(b []byte) {
	if w.err != nil || len(b) == 0 {
		return
	}
	w.h.Write(b)
	_, w.err = w.w.Write(b)
	w.pos += uint64(len(b))
}

// PadTo writes zeros up to a place less than Align ahead.
func (w *Hashing) PadTo(pos uint64) {
	if w.err != nil {
		return // pos is not what it would be
	}
	var zero [Align]byte
	w.Write(zero[:pos-w.pos])
}

// Sum appends the SHA-256 of what was written.
func (w *Hashing) Sum(b []byte) []byte { return w.h.Sum(b) }

// Err is the first error.
func (w *Hashing) Err() error { return w.err }
