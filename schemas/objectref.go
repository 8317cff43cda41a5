package schemas

import (
	"cmp"
	"fmt"
	"strconv"
)

// ObjectRef identifies one version of an object: the position of the event that made it, and the
// index in that event's ObjectBatch.
type ObjectRef struct {
	Position
	Index uint32
}

// String returns the form "recount.agents/3/1042#1", which ParseObjectRef reads.
func (r ObjectRef) String() string {
	return r.Position.String() + "#" + strconv.FormatUint(uint64(r.Index), 10)
}

// Compare orders by topic, partition, offset and index.
func (r ObjectRef) Compare(o ObjectRef) int {
	return cmp.Or(r.TP().Compare(o.TP()), cmp.Compare(r.Offset, o.Offset), cmp.Compare(r.Index, o.Index))
}

// ParseObjectRef parses the form that String returns.
func ParseObjectRef(s string) (ObjectRef, error) {
	at, index, ok := cutLast(s, "#")
	p, err := ParsePosition(at)
	i, err2 := strconv.ParseUint(index, 10, 32)
	if !ok || err != nil || err2 != nil {
		return ObjectRef{}, fmt.Errorf("object %q: want TOPIC/PARTITION/OFFSET#INDEX, such as recount.agents/3/1042#1", s)
	}
	return ObjectRef{p, uint32(i)}, nil
}

// MarshalText returns the form of String.
func (r ObjectRef) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText parses the form that MarshalText returns.
func (r *ObjectRef) UnmarshalText(b []byte) error {
	parsed, err := ParseObjectRef(string(b))
	if err == nil {
		*r = parsed
	}
	return err
}
