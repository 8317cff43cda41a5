package store

import (
	"io"

	"github.com/cockroachdb/pebble/v2"
)

// This file hides Pebble's types behind interfaces. The compiler reads every type that it can reach
// through the fields and methods of an imported type, and compiles the methods of each generic one
// again in each importing package: with *pebble.DB as a field of DB, every package that used a
// projection compiled 900 functions of Pebble.

// Iterator walks keys in ascending order of bytes. What Key and Value return is valid until the
// iterator moves. It is used by one goroutine and must be closed.
type Iterator interface {
	First() bool
	Last() bool
	Next() bool
	Prev() bool
	SeekGE(key []byte) bool // moves to the first key that is not below
	SeekLT(key []byte) bool // moves to the last key that is below
	// SeekPrefixGE is SeekGE, but may skip tables and blocks that have no key with the same prefix as
	// key: see Options.Prefix. Only keys with that prefix may be looked for then.
	SeekPrefixGE(key []byte) bool
	Valid() bool
	Key() []byte
	Value() []byte
	ValueAndErr() ([]byte, error)
	Error() error
	Close() error
}

// reader is one state of Pebble: the present one or a snapshot's.
type reader interface {
	Get(key []byte) (value []byte, closer io.Closer, err error)
	// iter iterates from lower (included) to upper (excluded); nil means no bound.
	iter(lower, upper []byte) (Iterator, error)
	Close() error
}

// engine is an open Pebble.
type engine interface {
	reader
	snapshot() reader
	batch(bytes int) batch
	Flush() error
	EstimateDiskUsage(lower, upper []byte) (uint64, error)
	// sync makes everything committed durable.
	sync() error
}

// batch is a batch of writes. Exactly one of commit and Close ends it, or commit and then Close.
type batch interface {
	set(key, value []byte) error
	merge(key, part []byte) error
	remove(key []byte) error
	// commit stores the batch without waiting for the disk.
	commit() error
	Close() error
}

type (
	pebbleDB       struct{ *pebble.DB }
	pebbleSnapshot struct{ *pebble.Snapshot }
	pebbleBatch    struct{ *pebble.Batch }
)

func (p pebbleDB) iter(lower, upper []byte) (Iterator, error) {
	return asIterator(p.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper}))
}

func (p pebbleDB) snapshot() reader { return pebbleSnapshot{p.NewSnapshot()} }
func (p pebbleDB) batch(bytes int) batch {
	return pebbleBatch{p.NewBatchWithSize(bytes)}
}
func (p pebbleDB) sync() error { return p.LogData(nil, pebble.Sync) }

func (p pebbleSnapshot) iter(lower, upper []byte) (Iterator, error) {
	return asIterator(p.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper}))
}

func (p pebbleBatch) set(key, value []byte) error  { return p.Set(key, value, nil) }
func (p pebbleBatch) merge(key, part []byte) error { return p.Merge(key, part, nil) }
func (p pebbleBatch) remove(key []byte) error      { return p.Delete(key, nil) }
func (p pebbleBatch) commit() error                { return p.Commit(pebble.NoSync) }

// asIterator returns nil, not an interface that holds a nil pointer, with an error.
func asIterator(it *pebble.Iterator, err error) (Iterator, error) {
	if err != nil {
		return nil, err
	}
	return it, nil
}
