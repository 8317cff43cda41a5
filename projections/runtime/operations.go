package runtime

import (
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"
)

// Other is the operation of spans whose own operation exceeds maxOperations.
const Other = "other"

// maxOperations is the number of distinct operations of a service that a partition keeps by name:
// the first in its order. Each has rows of its own for every minute, hour and day. Spans of further
// operations count as Other, whose count shows how many they are. A service exceeds the limit if
// names contain values that are not recognised as such, or if a client requests arbitrary names.
const maxOperations = 10_000

// operationKey identifies an operation of a service in a partition. With operation zero it is the
// key of the number of operations.
type operationKey struct {
	shard              uint16
	service, operation uint64
}

// siteKey identifies a site as a partition reports it.
type siteKey struct {
	shard uint16
	site  uint64
}

const (
	operationSize = 64
	toldSize      = 48
	endsSize      = 64
)

// keeps reports whether the partition keeps an operation of a service by name, and records it if
// there is room. Only the order of the partition decides.
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

// operation returns 1 if the operation is kept, else 0. For operation zero it returns the number of
// kept operations.
func (f *fold) operation(k operationKey) (*uint64, error) {
	if n, ok := f.m.operations.Get(k); ok {
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
	f.m.operations.Put(k, n, operationSize)
	return n, nil
}

// operationKey returns the key of a row. The key of the number has no operation.
func (f *fold) operationKey(k operationKey) []byte {
	f.k = hashKey(f.k[:0], kindOperation, k.service)
	f.k = append(f.k, f.key...)
	if k.operation != 0 {
		f.k = binary.BigEndian.AppendUint64(f.k, k.operation)
	}
	return f.k
}
