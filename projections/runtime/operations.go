package runtime

import (
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"
)

// Other is the operation of spans whose own is beyond maxOperations.
const Other = "other"

// maxOperations is how many distinct operations of a service a partition keeps by name,
// the first in its order; each has rows of its own for every minute, hour and day. Spans
// of the others count as Other, whose count says how many they are. A service has more
// where names hold values that nobody recognises, or where somebody asks for whatever he
// can think of.
const maxOperations = 10_000

// operationKey names an operation of a service in a partition; operation is zero for how
// many there are.
type operationKey struct {
	shard              uint16
	service, operation uint64
}

// siteKey names a site as a partition tells it.
type siteKey struct {
	shard uint16
	site  uint64
}

const (
	operationSize = 64
	toldSize      = 48
)

func ofOperation(*uint64) int { return operationSize }
func ofTold(*site) int        { return toldSize }

// keeps reports whether the partition keeps an operation of a service by name, and notes
// it where there is room. Only the order of the partition decides.
func (f *fold) keeps(service, operation string) (bool, error) {
	k := operationKey{f.shard, xxh3.HashString(service), max(1, xxh3.HashString(operation))}
	known, err := f.operation(k)
	if err != nil || *known > 0 {
		return err == nil, err
	}
	all, err := f.operation(operationKey{k.shard, k.service, 0})
	if err != nil || *all >= f.m.maxOperations {
		return false, err
	}
	*known = 1
	*all++
	if err := f.t.Set(f.operationKey(k), nil); err != nil {
		return false, err
	}
	k.operation = 0
	return true, f.t.Set(f.operationKey(k), binary.AppendUvarint(nil, *all))
}

// operation is 1 where the operation is kept; of operation zero it is how many are.
func (f *fold) operation(k operationKey) (*uint64, error) {
	if n, ok := f.m.operations.get(k, ofOperation); ok {
		return n, nil
	}
	n := new(uint64)
	value, ok, err := f.t.Get(f.operationKey(k))
	if err != nil {
		return nil, err
	}
	switch {
	case ok && k.operation != 0:
		*n = 1
	case ok:
		r := reader{b: value}
		*n = r.uvarint()
		if err := r.end(); err != nil {
			return nil, damage{fmt.Errorf("operations: %w", err)}
		}
	}
	f.m.operations.put(k, n, operationSize)
	return n, nil
}

// operationKey is the key of a row; the count's has no operation.
func (f *fold) operationKey(k operationKey) []byte {
	f.k = hashKey(f.k[:0], kindOperation, k.service)
	f.k = append(f.k, f.key...)
	if k.operation != 0 {
		f.k = binary.BigEndian.AppendUint64(f.k, k.operation)
	}
	return f.k
}
