package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

var (
	// ErrLocked reports that another process, or another Log of this one, has the directory
	// open. Stop it, or use another directory.
	ErrLocked = errors.New("the directory is in use")

	// ErrNewerFormat reports that a newer version of the program wrote the directory. Use that
	// version.
	ErrNewerFormat = errors.New("written by a newer version")

	// ErrLoss reports that acknowledged records are missing, because a file was damaged, removed or
	// replaced. A *LossError in the chain names them. Restore the directory from a copy, or open it
	// with Options.AcceptLoss to continue without them.
	ErrLoss = errors.New("acknowledged writes are missing")

	// ErrDamaged reports that the stored data is inconsistent. Restore it from a copy.
	ErrDamaged = errors.New("the log is damaged")
)

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// LossError lists what was acknowledged and is missing now.
type LossError struct {
	// Commits is the number of group commits missing at the end; 0 if unknown.
	Commits uint64
	// Lost lists the missing records by topic and partition.
	Lost []LostRange
	// Cause describes what else is wrong.
	Cause string
}

// LostRange is the records of a partition from offset From to before To.
type LostRange struct {
	Topic     string
	Partition int32
	From, To  int64
	num       topicNum
}

func (e *LossError) Error() string {
	var s strings.Builder
	s.WriteString(ErrLoss.Error())
	if e.Cause != "" {
		s.WriteString(": " + e.Cause)
	}
	if e.Commits > 0 {
		fmt.Fprintf(&s, ": the last %d commits are gone", e.Commits)
	}
	for i, lost := range e.Lost {
		if i == 20 {
			fmt.Fprintf(&s, "; and %d more partitions", len(e.Lost)-i)
			break
		}
		fmt.Fprintf(&s, "; %s/%d: offsets %d to %d", lost.Topic, lost.Partition, lost.From, lost.To-1)
	}
	if len(e.Lost) == 0 {
		s.WriteString("; no known records are among them")
	}
	s.WriteString(" (restore the directory from a copy, or open it with AcceptLoss to continue without them)")
	return s.String()
}

// Is makes errors.Is(err, ErrLoss) true.
func (e *LossError) Is(target error) bool { return target == ErrLoss }

// compare returns what the high-water files record and the store does not have; nil if nothing is
// missing.
func (l *Log) compare(m marks) *LossError {
	loss := &LossError{}
	if l.store.lastCommit < m.commit {
		loss.Commits = m.commit - l.store.lastCommit
	}
	byNum := map[topicNum]*Topic{}
	for _, t := range l.topics.all() {
		byNum[t.num] = t
	}
	for id, end := range m.ends {
		lost := LostRange{Topic: m.names[id.topic], Partition: id.partition, To: end, num: id.topic}
		t := byNum[id.topic]
		if t == nil && loss.Commits == 0 {
			continue // deleted by the last commit before a crash
		}
		if t != nil {
			if p := t.Partition(id.partition); p != nil {
				lost.From = p.tail.End
			}
		}
		if lost.From < lost.To {
			loss.Lost = append(loss.Lost, lost)
		}
	}
	if loss.Commits == 0 && len(loss.Lost) == 0 {
		return nil
	}
	slices.SortFunc(loss.Lost, func(a, b LostRange) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.num, b.num), cmp.Compare(a.Partition, b.Partition))
	})
	return loss
}

// fillGap writes batches without records where records were lost, as compaction would leave them.
// Without these a consumer could not move past a gap at the end of the log.
func (p *Partition) fillGap(w *pebble.Batch, from, to int64) error {
	for from < to {
		b := wire.EmptyBatch(from, min(to, from+math.MaxInt32)-1, LeaderEpoch)
		from = b.LastOffset() + 1
		p.tail.Bytes += int64(len(b))
		if err := w.Set(batchKey(p.topic.num, p.Num, b.LastOffset()), b, nil); err != nil {
			return err
		}
	}
	return nil
}

// acceptLoss continues without what is lost: the logs end where they had ended, so that no offset
// and no producer id is assigned twice.
func (l *Log) acceptLoss(loss *LossError) error {
	l.log.Error("continuing without the lost records, as AcceptLoss allows", "err", loss)
	l.store.lastCommit += loss.Commits
	return l.store.update(context.Background(), func(w *pebble.Batch) error {
		for _, lost := range loss.Lost {
			t := l.topics.named(lost.Topic)
			if t == nil || t.num != lost.num {
				continue // the topic itself is missing
			}
			if p := t.Partition(lost.Partition); p != nil {
				p.tail.End = lost.To
				if err := w.Set(gapKey(t.num, p.Num, lost.From), encodeUint64(uint64(lost.To)), nil); err != nil {
					return err
				}
				if err := p.fillGap(w, lost.From, lost.To); err != nil {
					return err
				}
				l.store.commit.touch(p)
			}
		}
		l.store.lastProducer += 1 << 20
		return w.Set(metaNextProducer, encodeUint64(l.store.lastProducer), nil)
	}, nil)
}

// openHighwater compares the store with the high-water files, and begins a new file. It runs before
// anything can be read.
func (l *Log) openHighwater() error {
	d := l.disk
	loss := l.compare(d.marks)
	if loss == nil && !d.marked && l.store.lastCommit > 0 {
		loss = &LossError{Cause: "the high-water files are missing or unreadable, so it cannot be known"}
	}
	if loss != nil && !l.opts.AcceptLoss {
		return loss
	}
	// The new file records everything that the old ones did, so that nothing is forgotten if the
	// process stops before the loss is accepted.
	now := d.marks
	now.commit = max(now.commit, l.store.lastCommit)
	present := map[topicNum]bool{}
	for _, t := range l.topics.all() {
		present[t.num] = true
		now.names[t.num] = t.Name
		for _, p := range *t.parts.Load() {
			id := logID{t.num, p.Num}
			now.ends[id] = max(now.ends[id], p.tail.End)
		}
	}
	for num := range now.names {
		if !present[num] {
			now.forget(num)
		}
	}
	var err error
	if l.store.highwater, err = startHighwater(d.fs, d.dir, d.lastMark, now); err != nil {
		return err
	}
	l.store.start()
	if loss != nil {
		return l.acceptLoss(loss)
	}
	return nil
}
