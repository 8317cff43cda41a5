package storage

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Lineage distinguishes logs that were one up to some point: a directory, and an older copy of it
// that was opened and appended to. Offsets cannot distinguish them, since both logs assign the same
// ones to different records.
//
// Each opening of a log has a random id. The commit of an opening's first append to a partition
// stores this id under the offset at which the append begins (keyLineage in doc.go). So a record's
// opening is the last one stored at or below its offset, and two logs that have the same opening at
// an offset hold the same records up to there: only one process can have an opening's id, and it
// appends in one order. Records from before ids were introduced have none, "".
//
// AcceptLoss appends the gap in its own opening, so that what follows is distinguished from the
// lost records as well.

// lineageID is the id of an opening.
type lineageID [16]byte

func newLineageID() (id lineageID) {
	rand.Read(id[:]) // never fails
	return id
}

func (id lineageID) String() string {
	if id == (lineageID{}) {
		return ""
	}
	return fmt.Sprintf("%x", id[:])
}

func lineageKey(t topicNum, p int32, first int64) []byte {
	return binary.BigEndian.AppendUint64(partitionPrefix(keyLineage, t, p), uint64(first))
}

// writeLineage stores where this opening begins to append to the partition, in the commit of its
// first append.
func (p *Partition) writeLineage(w *pebble.Batch, opening lineageID) error {
	if p.lineage || p.tail.End == p.opened {
		return nil
	}
	p.lineage = true // if the commit fails, so does the store
	return w.Set(lineageKey(p.topic.num, p.Num, p.opened), opening[:], nil)
}

// Opening returns the id of this opening of the log, which applies to whatever is appended from now
// on.
func (l *Log) Opening() string { return l.store.opening.String() }

// OpeningAt returns the id of the opening that appended the record at an offset, "" if that was
// before ids were introduced. ok is false if the log does not have the offset, or if its record was
// lost and given up by AcceptLoss.
func (l *Log) OpeningAt(topic string, partition int32, offset int64) (id string, ok bool, err error) {
	if !l.enter() {
		return "", false, ErrClosed
	}
	defer l.leave()
	t := l.topics.named(topic)
	if t == nil {
		return "", false, nil
	}
	p := t.Partition(partition)
	if p == nil {
		return "", false, nil
	}
	if view := p.View(); offset < 0 || offset >= view.End {
		return "", false, nil
	}
	gaps, err := p.gaps(l.store)
	if err != nil || gaps.cover(offset, offset+1) {
		return "", false, err
	}
	lo, _ := partitionSpan(keyLineage, t.num, partition)
	it, err := l.store.db.NewIter(&pebble.IterOptions{LowerBound: lo, UpperBound: lineageKey(t.num, partition, offset+1)})
	if err != nil {
		return "", false, fmt.Errorf("lineage of %s: %w", p, err)
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	if !it.Last() {
		return "", true, it.Error()
	}
	v, err := it.ValueAndErr()
	if err != nil {
		return "", false, fmt.Errorf("lineage of %s: %w", p, err)
	}
	if len(v) != len(lineageID{}) {
		return "", false, damaged("the lineage of %s at %x: %d bytes", p, it.Key(), len(v))
	}
	return lineageID(v).String(), true, nil
}

// Gap is a range of offsets, From to before To, whose records were lost and given up by AcceptLoss.
// Some Kafka clients do not report batches without records to their users, so a program that
// follows the log to its end needs gaps to move past them.
type Gap struct {
	Topic     string
	Partition int32
	From, To  int64
}

// Gaps returns all gaps of the log. They never change while it is open.
func (l *Log) Gaps() ([]Gap, error) {
	if !l.enter() {
		return nil, ErrClosed
	}
	defer l.leave()
	var all []Gap
	for _, t := range l.topics.all() {
		for _, p := range *t.parts.Load() {
			found, err := p.gaps(l.store)
			if err != nil {
				return nil, err
			}
			for from, to := range found {
				all = append(all, Gap{t.Name, p.Num, from, to})
			}
		}
	}
	return all, nil
}

// End returns the next offset of a partition; 0 if it does not exist.
func (l *Log) End(topic string, partition int32) int64 {
	t := l.topics.named(topic)
	if t == nil {
		return 0
	}
	p := t.Partition(partition)
	if p == nil {
		return 0
	}
	return p.View().End
}
