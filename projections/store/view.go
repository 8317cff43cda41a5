package store

import (
	"errors"
	"maps"

	"github.com/cockroachdb/pebble/v2"

	"github.com/recountdb/recount/schemas"
)

// View is one state of the store, for reading.
type View struct {
	d *DB
	s reader
	// mark is its watermark, nil if a batch was being committed when it was opened.
	mark schemas.Watermark
}

// View opens a view, which the caller must close.
func (d *DB) View() (*View, error) {
	if err := d.Failed(); err != nil {
		return nil, err
	}
	d.mu.RLock()
	defer d.mu.RUnlock() // no commit begins or ends meanwhile
	v := &View{d: d, s: d.db.snapshot()}
	if d.committing == 0 {
		v.mark = maps.Clone(d.next)
	}
	return v, nil
}

// Close ends the view.
func (v *View) Close() { _ = v.s.Close() }

// Get calls use with the value of a key, which is valid only during the call, and reports whether
// the key exists.
func (v *View) Get(key []byte, use func(value []byte) error) (bool, error) {
	value, closer, err := v.s.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, v.d.explain("read", err)
	}
	err = use(value)
	return true, errors.Join(err, closer.Close())
}

// Iter iterates over the keys from lower (included) to upper (excluded); nil means no bound.
func (v *View) Iter(lower, upper []byte) (Iterator, error) {
	it, err := v.s.iter(lower, upper)
	return it, v.d.explain("read", err)
}

// Explain turns an error of an iterator into one that tells the operator what to do.
func (v *View) Explain(err error) error { return v.d.explain("read", err) }

// Damaged returns the error for a stored value that cannot be decoded.
func (v *View) Damaged(cause error) error { return v.d.Damaged(cause) }

// Watermark returns the next offset of every partition in this state.
func (v *View) Watermark() (schemas.Watermark, error) {
	if v.mark != nil {
		return maps.Clone(v.mark), nil
	}
	w := schemas.Watermark{}
	// An iterator would visit every version that the last batches left; Get does not.
	for _, tp := range v.d.partitions() {
		key := AppendShard([]byte{kindNext}, tp)
		_, err := v.Get(key, func(value []byte) error {
			_, next, err := decodeNext(key, value)
			if err != nil {
				return v.Damaged(err)
			}
			w[tp] = next
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return w, nil
}

// PrefixEnd returns the first key after all keys that start with the prefix, or nil if there is
// none.
func PrefixEnd(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}
