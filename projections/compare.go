package projections

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
)

// Difference is one key at which two states, A and B, differ.
type Difference struct {
	Key []byte
	// A and B are the values in the two states; nil if the state lacks the key.
	A, B []byte
}

func (d Difference) String() string {
	switch {
	case d.A == nil:
		return fmt.Sprintf("key %s: missing, want %s", printable(d.Key), printable(d.B))
	case d.B == nil:
		return fmt.Sprintf("key %s: %s, want none", printable(d.Key), printable(d.A))
	}
	return fmt.Sprintf("key %s: %s, want %s", printable(d.Key), printable(d.A), printable(d.B))
}

// printable returns b quoted and cut to a length that fits in an error message.
func printable(b []byte) string {
	const most = 200
	if len(b) <= most {
		return fmt.Sprintf("%q", b)
	}
	return fmt.Sprintf("%q… (%d bytes)", b[:most], len(b))
}

// Compare walks the states of a and b side by side and returns their first differences, at most
// `most` of them; none if the states are equal. It holds one pair of each state in memory at a
// time.
func Compare(ctx context.Context, a, b Projection, most int) ([]Difference, error) {
	nextA, stopA := iter.Pull(pairs(ctx, a))
	defer stopA()
	nextB, stopB := iter.Pull(pairs(ctx, b))
	defer stopB()

	var diffs []Difference
	pa, okA := nextA()
	pb, okB := nextB()
	for okA || okB {
		if pa.err != nil {
			return diffs, fmt.Errorf("dump %s: %w", a.Name(), pa.err)
		}
		if pb.err != nil {
			return diffs, fmt.Errorf("dump %s: %w", b.Name(), pb.err)
		}
		order := 0
		switch {
		case !okB:
			order = -1
		case !okA:
			order = 1
		default:
			order = bytes.Compare(pa.key, pb.key)
		}
		if order != 0 || !bytes.Equal(pa.value, pb.value) {
			if len(diffs) == most {
				return diffs, nil
			}
			var d Difference
			if order <= 0 {
				d.Key, d.A = bytes.Clone(pa.key), notNil(pa.value)
			}
			if order >= 0 {
				d.Key, d.B = bytes.Clone(pb.key), notNil(pb.value)
			}
			diffs = append(diffs, d)
		}
		if order <= 0 {
			pa, okA = nextA()
		}
		if order >= 0 {
			pb, okB = nextB()
		}
	}
	return diffs, nil
}

func notNil(b []byte) []byte { return append([]byte{}, b...) }

type pair struct {
	key, value []byte
	err        error
}

// pairs returns the output of Dump as a sequence. If Dump fails, the error is the last element. The
// slices of a pair are valid until the next pair is requested, since Dump's yield has not returned
// before that.
func pairs(ctx context.Context, p Projection) iter.Seq[pair] {
	return func(yield func(pair) bool) {
		stopped := false
		err := p.Dump(ctx, func(k, v []byte) error {
			if !yield(pair{key: k, value: v}) {
				stopped = true
				return errStop
			}
			return nil
		})
		if err != nil && !stopped {
			yield(pair{err: err})
		}
	}
}

// errStop ends a Dump whose reader needs no more pairs. It never leaves this file.
var errStop = errors.New("stop")
