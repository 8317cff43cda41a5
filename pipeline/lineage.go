package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/recountdb/recount/schemas"
)

// State that was made from a log (a projection, a checkpoint, what an import remembers) is invalid
// with another log: after the log was restored from a copy, cut or exchanged, its offsets identify
// other records. Such state is therefore stored with the lineage of its log, and Diverged compares
// the two when the state is used again.
//
// A lineage identifies a record by its mark. With the embedded broker, the mark is the id of the
// opening that appended the record (broker/lineage.go): state that this process makes contains only
// records that existed when the process opened the log, and records that it appended since. An
// external Kafka has no such id. There the mark is a hash over the record, and the lineage does not
// cover what was read after it was noted.

// lineage is the JSON form of Lineage.
type lineage struct {
	// Log is the cluster's id, Topics are the ids of topics. They may be empty: old versions of
	// Kafka have none.
	Log    string            `json:"log"`
	Topics map[string]string `json:"topics,omitempty"`
	// Opening is the id of the process's opening of an embedded log.
	Opening    string            `json:"opening,omitempty"`
	Partitions []markedPartition `json:"partitions,omitempty"`
}

// markedPartition is the end of a partition when the lineage was noted, and the mark of the last
// record before it.
type markedPartition struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	End       int64  `json:"end"`
	Mark      string `json:"mark,omitempty"`
}

// unknownMark is the mark of a record that cannot be distinguished from others: it is erased, or
// below the log's start.
const unknownMark = "?"

// identity is the part of the lineage that does not change while the log is open.
type identity struct {
	mu     sync.Mutex
	log    string // "" until it is known
	noted  string // the Lineage of an embedded log
	topics map[string]string
}

// Lineage returns the lineage to store with state that was made of this log up to w; Diverged takes
// it later. Store it before reading more. With an external log, renew it as often as its cost
// allows: records read since then are not covered.
func (l *Log) Lineage(ctx context.Context, w schemas.Watermark) (string, error) {
	s, err := l.lineage(ctx, w)
	if err != nil {
		return "", fmt.Errorf("record the log's identity: %w", err)
	}
	return s, nil
}

func (l *Log) lineage(ctx context.Context, w schemas.Watermark) (string, error) {
	if err := l.identify(ctx); err != nil {
		return "", err
	}
	l.identity.mu.Lock()
	defer l.identity.mu.Unlock()
	if l.identity.noted != "" {
		return l.identity.noted, nil
	}
	return l.note(ctx, w)
}

// note returns the lineage up to w.
func (l *Log) note(ctx context.Context, w schemas.Watermark) (string, error) {
	n := lineage{Log: l.identity.log, Topics: l.identity.topics}
	if l.embedded != nil {
		n.Opening = l.embedded.Opening()
	}
	var last []schemas.Position
	for _, tp := range w.Partitions() {
		if w[tp] > 0 {
			last = append(last, schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: w[tp] - 1})
		}
	}
	marks, err := l.marks(ctx, last)
	if err != nil {
		return "", err
	}
	for _, at := range last {
		n.Partitions = append(n.Partitions, markedPartition{at.Topic, at.Partition, at.Offset + 1, marks[at]})
	}
	b, err := json.Marshal(n)
	return string(b), err
}

// identify reads the ids of the log and its topics. The lineage of an embedded log is noted at the
// same time, as it is that of the opening.
func (l *Log) identify(ctx context.Context) error {
	l.identity.mu.Lock()
	defer l.identity.mu.Unlock()
	if l.identity.topics != nil {
		return nil
	}
	meta, err := l.admin.Metadata(ctx)
	if err != nil {
		return classify(err)
	}
	l.identity.log = meta.Cluster
	topics := map[string]string{}
	for _, t := range meta.Topics {
		if t.Err == nil && t.ID != ([16]byte{}) {
			topics[t.Topic] = t.ID.String()
		}
	}
	l.identity.topics = topics
	if l.embedded == nil {
		return nil
	}
	ends, err := l.Ends(ctx)
	if err == nil {
		l.identity.noted, err = l.note(ctx, ends)
	}
	if err != nil {
		l.identity.topics = nil
	}
	return err
}

// Diverged returns why state made up to w, stored with the lineage kept, does not belong to this
// log, "" if it does. Older versions stored no lineage; the log then only has to be long enough.
func (l *Log) Diverged(ctx context.Context, kept string, w schemas.Watermark) (why string, err error) {
	if why, err = l.diverged(ctx, kept, w); err != nil {
		return "", fmt.Errorf("compare with the log: %w", err)
	}
	return why, nil
}

func (l *Log) diverged(ctx context.Context, kept string, w schemas.Watermark) (string, error) {
	if err := l.identify(ctx); err != nil {
		return "", err
	}
	var was lineage
	if kept != "" {
		if json.Unmarshal([]byte(kept), &was) != nil {
			return "the note of the log it was made from cannot be read", nil
		}
		if differ(was.Log, l.identity.log) {
			return fmt.Sprintf("it was made from log %s, but this is log %s", was.Log, l.identity.log), nil
		}
	}
	ends := schemas.Watermark{}
	for _, tp := range w.Partitions() {
		if _, known := ends[tp]; known {
			continue
		}
		more, err := l.Ends(ctx, tp.Topic)
		if errors.Is(err, schemas.ErrPoison) {
			return fmt.Sprintf("it has read topic %s, which this log does not have", tp.Topic), nil
		}
		if err != nil {
			return "", err
		}
		for tp, end := range more {
			ends[tp] = end
		}
	}
	noted := map[schemas.TopicPartition]markedPartition{}
	for _, p := range was.Partitions {
		noted[schemas.TopicPartition{Topic: p.Topic, Partition: p.Partition}] = p
	}
	want := map[schemas.Position]string{}
	var look []schemas.Position
	for _, tp := range w.Partitions() {
		if w[tp] > ends[tp] {
			return fmt.Sprintf("it has read %s up to offset %d, but this log ends at %d", tp, w[tp], ends[tp]), nil
		}
		if id := was.Topics[tp.Topic]; differ(id, l.identity.topics[tp.Topic]) {
			return fmt.Sprintf("it has read topic %s with the id %s, but in this log it has the id %s", tp.Topic, id, l.identity.topics[tp.Topic]), nil
		}
		p := noted[tp]
		at := schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: w[tp] - 1}
		mark := was.Opening
		switch {
		case w[tp] == 0:
			continue
		case kept == "":
			// Only the existence of the record is checked.
			mark = unknownMark
		case w[tp] <= p.End, l.embedded == nil:
			at.Offset, mark = p.End-1, p.Mark
		}
		if at.Offset < 0 {
			continue
		}
		want[at] = mark
		look = append(look, at)
	}
	if kept == "" && l.embedded == nil {
		return "", nil
	}
	marks, err := l.marks(ctx, look)
	if err != nil {
		return "", err
	}
	for _, at := range look {
		switch have := marks[at]; {
		case want[at] == unknownMark && have == "":
			return fmt.Sprintf("the record at %s, which it has read, was lost", at), nil
		case want[at] != have && want[at] != unknownMark && have != unknownMark:
			return fmt.Sprintf("the record at %s is not the one that it has read", at), nil
		}
	}
	return "", nil
}

// differ compares two ids and reports false if either is unknown.
func differ(a, b string) bool { return a != b && a != "" && b != "" }

// RecordMark returns a value that distinguishes the record at a position from records of other logs at
// the same position. If it is the same as before, so are all records of the partition up to there.
// It is "" if there is no record.
func (l *Log) RecordMark(ctx context.Context, at schemas.Position) (string, error) {
	if err := l.identify(ctx); err != nil {
		return "", err
	}
	if _, err := l.partitionCount(ctx, at.Topic); errors.Is(err, schemas.ErrPoison) {
		return "", nil
	}
	marks, err := l.marks(ctx, []schemas.Position{at})
	if err != nil || marks[at] == "" {
		return "", err
	}
	sum := schemas.NewCanon("recount/mark/1").String(l.identity.log).String(l.identity.topics[at.Topic]).String(marks[at]).Sum()
	return sum.String()[:32], nil
}

// noOpening is the mark of records from before the embedded log's openings had ids.
const noOpening = "-"

// marks returns the marks of the records at some positions, at most one per partition.
func (l *Log) marks(ctx context.Context, positions []schemas.Position) (map[schemas.Position]string, error) {
	marks := map[schemas.Position]string{}
	if len(positions) == 0 {
		return marks, nil
	}
	if l.embedded != nil {
		for _, at := range positions {
			id, ok, err := l.embedded.OpeningAt(at.Topic, at.Partition, at.Offset)
			if err != nil {
				return nil, err
			}
			if ok && id == "" {
				id = noOpening
			}
			marks[at] = id
		}
		return marks, nil
	}
	starts, ends, err := l.bounds(ctx, positions)
	if err != nil {
		return nil, err
	}
	from, until := schemas.Watermark{}, schemas.Watermark{}
	for _, at := range positions {
		switch tp := at.TP(); {
		case at.Offset >= ends[tp]:
		case at.Offset < starts[tp]:
			marks[at] = unknownMark
		default:
			marks[at] = noOpening // a gap, or a record that readers do not receive
			from[tp], until[tp] = at.Offset, at.Offset+1
		}
	}
	if len(until) == 0 {
		return marks, nil
	}
	err = l.readEach(ctx, from, until, func(r schemas.LogRecord) {
		if _, erased := r.Erased(); erased {
			marks[r.Position] = unknownMark
			return
		}
		marks[r.Position] = contentMark(r)
	})
	return marks, err
}

func contentMark(r schemas.LogRecord) string {
	c := schemas.NewCanon("recount/mark/content/1").Int(r.Position.Offset).Int(r.Timestamp.UnixMilli()).Bytes(r.Key).Bytes(r.Value)
	for _, h := range r.Headers {
		c.String(h.Key).Bytes(h.Value)
	}
	return c.Sum().String()[:32]
}

// Identity returns the log's id, which is the cluster's.
func (l *Log) Identity(ctx context.Context) (string, error) {
	if err := l.identify(ctx); err != nil {
		return "", err
	}
	return l.identity.log, nil
}

// Checkpoint puts a consistent copy of an embedded log into dir, which exists while use runs
// (broker.Checkpoint).
func (l *Log) Checkpoint(ctx context.Context, dir string, use func() error) error {
	if l.embedded == nil {
		return errors.New("the log is on other brokers")
	}
	return l.embedded.Checkpoint(ctx, dir, use)
}
