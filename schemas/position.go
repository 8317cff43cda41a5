package schemas

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TopicPartition names one partition: the unit of order and of sharding.
type TopicPartition struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
}

func (tp TopicPartition) String() string {
	return tp.Topic + "/" + strconv.Itoa(int(tp.Partition))
}

// Compare orders by topic, then by partition.
func (tp TopicPartition) Compare(o TopicPartition) int {
	return cmp.Or(cmp.Compare(tp.Topic, o.Topic), cmp.Compare(tp.Partition, o.Partition))
}

// Compare orders by topic, partition and offset.
func (p Position) Compare(o Position) int {
	return cmp.Or(p.TP().Compare(o.TP()), cmp.Compare(p.Offset, o.Offset))
}

// Position identifies a record of the log: a topic, a partition and an offset.
type Position struct {
	Topic     string `json:"topic" example:"recount.commands" doc:"The topic."`
	Partition int32  `json:"partition" example:"3" doc:"The partition."`
	Offset    int64  `json:"offset" example:"1042" doc:"The offset."`
}

// String returns the form "recount.commands/3/1042", which ParsePosition reads.
func (p Position) String() string {
	return p.Topic + "/" + strconv.Itoa(int(p.Partition)) + "/" + strconv.FormatInt(p.Offset, 10)
}

// TP returns the partition of the position.
func (p Position) TP() TopicPartition { return TopicPartition{p.Topic, p.Partition} }

// Proto returns the position in the form used in events and records.
func (p Position) Proto() *recountv1.Position {
	return &recountv1.Position{Topic: p.Topic, Partition: p.Partition, Offset: p.Offset}
}

// PositionOf converts a position from its protobuf form; nil gives the zero Position.
func PositionOf(p *recountv1.Position) Position {
	return Position{Topic: p.GetTopic(), Partition: p.GetPartition(), Offset: p.GetOffset()}
}

// ParsePosition parses the form that String returns.
func ParsePosition(s string) (Position, error) {
	rest, offset, ok := cutLast(s, "/")
	topic, partition, ok2 := cutLast(rest, "/")
	p, err := strconv.ParseInt(partition, 10, 32)
	o, err2 := strconv.ParseInt(offset, 10, 64)
	if !ok || !ok2 || topic == "" || err != nil || err2 != nil || p < 0 || o < 0 {
		return Position{}, fmt.Errorf("position %q: want TOPIC/PARTITION/OFFSET, such as recount.commands/3/1042", s)
	}
	return Position{Topic: topic, Partition: int32(p), Offset: o}, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// Watermark maps each partition to the next offset to read: every lower offset has been applied. A
// partition that is absent is at zero.
type Watermark map[TopicPartition]int64

// Partitions returns the partitions in the order of TopicPartition.Compare.
func (w Watermark) Partitions() []TopicPartition {
	return slices.SortedFunc(maps.Keys(w), TopicPartition.Compare)
}

// Covers reports whether w is at or above o in every partition of o.
func (w Watermark) Covers(o Watermark) bool {
	for tp, next := range o {
		if w[tp] < next {
			return false
		}
	}
	return true
}

// Min returns the lower offset for each partition that both contain; the other partitions are
// omitted.
func (w Watermark) Min(o Watermark) Watermark {
	m := Watermark{}
	for tp, next := range w {
		if other, ok := o[tp]; ok {
			m[tp] = min(next, other)
		}
	}
	return m
}

// MarshalText returns "topic/partition:next,…" in order of partitions, the form of `at_least` and
// `as_of` on the command line.
func (w Watermark) MarshalText() ([]byte, error) {
	var b []byte
	for i, tp := range w.Partitions() {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, tp.String()...)
		b = append(b, ':')
		b = strconv.AppendInt(b, w[tp], 10)
	}
	return b, nil
}

// UnmarshalText parses the form that MarshalText returns.
func (w *Watermark) UnmarshalText(b []byte) error {
	parsed, err := ParseWatermark(string(b))
	if err == nil {
		*w = parsed
	}
	return err
}

// String returns the form of MarshalText.
func (w Watermark) String() string {
	b, _ := w.MarshalText()
	return string(b)
}

// ParseWatermark parses the form that MarshalText returns.
func ParseWatermark(s string) (Watermark, error) {
	w := Watermark{}
	if s == "" {
		return w, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		tp, next, ok := cutLast(part, ":")
		p, err := ParsePosition(tp + "/" + next)
		if !ok || err != nil {
			return nil, fmt.Errorf("watermark %q: want TOPIC/PARTITION:NEXT, such as recount.commands/3:1042", part)
		}
		w[p.TP()] = p.Offset
	}
	return w, nil
}
