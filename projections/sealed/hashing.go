package sealed

import (
	"crypto/sha256"
	"hash"
	"io"
)

// Hashing writes a file region by region. It counts and hashes what it writes and keeps the first
// error, after which it writes nothing more.
type Hashing struct {
	w   io.Writer
	h   hash.Hash
	pos uint64
	err error
}

// NewHashing returns a Hashing that writes to w.
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

// PadTo writes zeros up to position pos, which is less than Align ahead.
func (w *Hashing) PadTo(pos uint64) {
	if w.err != nil {
		return // w.pos stopped at the error
	}
	var zero [Align]byte
	w.Write(zero[:pos-w.pos])
}

// Sum appends the SHA-256 of what was written to b.
func (w *Hashing) Sum(b []byte) []byte { return w.h.Sum(b) }

// Err returns the first error.
func (w *Hashing) Err() error { return w.err }
