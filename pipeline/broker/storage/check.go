package storage

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

// Damage is a place in the log that differs from what was written.
type Damage struct {
	Topic     string
	Partition int32
	Offset    int64 // first damaged offset
	What      string
}

func (d Damage) String() string {
	return fmt.Sprintf("%s/%d at offset %d: %s", d.Topic, d.Partition, d.Offset, d.What)
}

// Check reads every batch of the log and reports damage: wrong checksums, holes between batches,
// ends that are not where they should be, files that cannot be read. It may run concurrently with
// everything else, at the speed of the disk. The error is about the check, not the log.
func (l *Log) Check(ctx context.Context) ([]Damage, error) {
	if !l.enter() {
		return nil, ErrClosed
	}
	defer l.leave()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.ctx, cancel)()
	var found []Damage
	for _, t := range l.topics.all() {
		for _, p := range *t.parts.Load() {
			d, err := p.check(ctx, l.store)
			if err != nil {
				return found, fmt.Errorf("check %s: %w", p, err)
			}
			if !p.Retired() {
				found = append(found, d...)
			}
		}
	}
	return found, nil
}

func (p *Partition) check(ctx context.Context, s *store) ([]Damage, error) {
	var found []Damage
	view := p.View()
	next := view.Start
	report := func(format string, args ...any) {
		found = append(found, Damage{p.topic.Name, p.Num, next, fmt.Sprintf(format, args...)})
	}
	gaps, err := p.gaps(s)
	if err != nil {
		report("its gaps cannot be read: %v", err)
	}
	_, hi := partitionSpan(keyBatch, p.topic.num, p.Num)
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: batchKey(p.topic.num, p.Num, next), UpperBound: hi})
	if err != nil {
		report("cannot be read: %v", err)
		return found, nil
	}
	defer it.Close() // repeats an error that has been reported
	var raw []byte
	for ok := it.First(); ok && ctx.Err() == nil; ok = it.Next() {
		last := lastOfBatchKey(it.Key())
		if last >= view.End {
			break
		}
		raw, err = s.appendBatch(raw[:0], it, p.topic.num)
		if bt := wire.Batch(raw); err != nil {
			if last < p.View().Start {
				next = last + 1
				continue // deleted in the meantime
			}
			report("%v", err)
			if !errors.Is(err, ErrDamaged) {
				return found, nil // the iterator cannot be used after any other error
			}
		} else if !bt.ChecksumOK() {
			report("the batch ending at offset %d is not what was written", last)
		} else if base := bt.BaseOffset(); base > next && !gaps.cover(next, base) {
			report("%d records are missing", base-next)
		} else if base < next && next > view.Start {
			report("the batch ending at offset %d begins before, at %d", last, base)
		}
		next = last + 1
	}
	if ctx.Err() != nil {
		return found, ctx.Err()
	}
	if err := it.Error(); err != nil {
		report("cannot be read from here on: %v", err)
		return found, nil
	}
	if next < view.End && !gaps.cover(next, view.End) {
		report("%d records are missing at the end", view.End-next)
	}
	return found, nil
}

// gaps returns the ranges of offsets whose records were lost and given up by AcceptLoss: the first
// offset and the one after the last.
func (p *Partition) gaps(s *store) (gaps, error) {
	found := gaps{}
	lo, hi := partitionSpan(keyGap, p.topic.num, p.Num)
	err := s.scan(lo, hi, func(k, v []byte) error {
		if len(v) != 8 {
			return damaged("a gap of %d bytes", len(v))
		}
		found[lastOfBatchKey(k)] = int64(binary.BigEndian.Uint64(v))
		return nil
	})
	return found, err
}

type gaps map[int64]int64

func (g gaps) cover(from, to int64) bool {
	for a, b := range g {
		if a <= from && to <= b {
			return true
		}
	}
	return false
}
