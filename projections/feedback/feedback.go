package feedback

import (
	"context"
	"encoding/binary"
	"errors"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Name is the projection's name, and Version that of its format.
const (
	Name    = "feedback"
	Version = 1
)

// Kind describes the projection to a node.
var Kind = projections.Definition{Name: Name, Version: Version, Topics: []string{schemas.TopicFacts}, Open: func(dir string) (projections.Projection, error) {
	return Open(dir, store.Options{})
}}

// Feedback is the open projection.
type Feedback struct{ *store.DB }

// Open opens or creates the projection in dir.
func Open(dir string, o store.Options) (*Feedback, error) {
	o.Name = Name
	db, err := store.Open(dir, o)
	if err != nil {
		return nil, err
	}
	return &Feedback{db}, nil
}

// Apply writes the rows of each event.
func (f *Feedback) Apply(ctx context.Context, b schemas.Batch) error {
	t, err := f.Begin(ctx, b, func(r *recountv1.Record) bool { _, _, _, ok := voteOf(r); return ok })
	if err != nil || t == nil {
		return err
	}
	if err := t.Do(func() error { return f.write(t) }); err != nil {
		t.Discard()
		return err
	}
	return t.Commit()
}

func (f *Feedback) write(t *store.Txn) error {
	newest := map[hash]summary{} // of this batch
	for _, r := range t.New {
		m, stand, at, _ := voteOf(r)
		tenant := tenantHash(m.GetTenant())
		row, err := proto.MarshalOptions{Deterministic: true}.Marshal(r)
		if err != nil {
			return err
		}
		offset := r.GetOrigin().GetOffset()
		set := func(prefix, value []byte) {
			if err == nil {
				err = t.Set(eventKey(prefix, t.Shard(), offset), value)
			}
		}
		set(prefix(kindEvent, tenant), row)
		v := Vote{Stand: stand, Time: at, Voter: voter(m), Task: taskHash(m.GetTask()), Workspace: m.GetWorkspace()}
		vote := v.append(nil)
		for _, s := range m.GetSubjects() {
			set(prefix(kindSubject, tenant, subjectHash(s)), vote)
		}
		// What was shown is no evidence of use, so only judged tasks are found again.
		var words []string
		if stand != Shown {
			words = Words(m.GetTask())
		}
		for _, w := range words {
			set(prefix(kindWord, tenant, wordHash(w)), binary.AppendUvarint(nil, uint64(len(words))))
		}
		if err != nil {
			return err
		}
		s, ok := newest[tenant]
		if !ok {
			if s, err = f.summary(t, tenant); err != nil {
				return err
			}
		}
		s.time = max(s.time, at.UnixNano())
		if len(words) > 0 {
			s.tasks++
		}
		newest[tenant] = s
	}
	for tenant, s := range newest {
		if err := t.Set(append(prefix(kindTenant, tenant), t.Shard()...), s.append(nil)); err != nil {
			return err
		}
	}
	return nil
}

// summary is what is known of all events of a tenant in a partition.
type summary struct {
	// time is the newest of their times, in nanoseconds; tasks is how many have words to find them by.
	time  int64
	tasks uint64
}

func (f *Feedback) summary(t *store.Txn, tenant hash) (summary, error) {
	value, ok, err := t.Get(append(prefix(kindTenant, tenant), t.Shard()...))
	if err != nil || !ok {
		return summary{time: math.MinInt64}, err
	}
	s, err := parseSummary(value)
	if err != nil {
		return s, f.Damaged(err)
	}
	return s, nil
}

func (s summary) append(b []byte) []byte {
	return binary.AppendUvarint(binary.BigEndian.AppendUint64(b, uint64(s.time)^1<<63), s.tasks)
}

func parseSummary(b []byte) (s summary, err error) {
	if len(b) < 9 {
		return s, errors.New("a summary that ends early")
	}
	s.time = int64(binary.BigEndian.Uint64(b) ^ 1<<63)
	n, size := binary.Uvarint(b[8:])
	if size <= 0 {
		return s, errors.New("a summary without a count")
	}
	s.tasks = n
	return s, nil
}
