package feedback

import (
	"bytes"
	"math"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// View is one state of the projection, of one tenant.
type View struct {
	v      *store.View
	tenant hash
}

// View opens a view of a tenant's feedback, which the caller must close. Nothing of another tenant
// can be read by it.
func (f *Feedback) View(tenant string) (*View, error) {
	v, err := f.DB.View()
	if err != nil {
		return nil, err
	}
	return &View{v, tenantHash(tenant)}, nil
}

// Close ends the view.
func (v *View) Close() { v.v.Close() }

// Watermark returns the next offset of every partition in this state.
func (v *View) Watermark() (schemas.Watermark, error) { return v.v.Watermark() }

// Newest returns the newest time that the tenant's events state, and the number of tasks that were
// judged. The time is zero if there are no events.
func (v *View) Newest() (newest time.Time, tasks uint64, err error) {
	latest := int64(math.MinInt64)
	err = v.each(prefix(kindTenant, v.tenant), 0, func(_, value []byte) error {
		s, err := parseSummary(value)
		latest, tasks = max(latest, s.time), tasks+s.tasks
		return err
	})
	if latest != math.MinInt64 {
		newest = time.Unix(0, latest).UTC()
	}
	return newest, tasks, err
}

// Votes returns the votes about a subject, at most limit, by partition and offset from the last on.
func (v *View) Votes(s *recountv1.FeedbackSubject, limit int) ([]Vote, error) {
	var all []Vote
	at := prefix(kindSubject, v.tenant, subjectHash(s))
	err := v.each(at, limit, func(key, value []byte) error {
		vote, err := parseVote(value)
		if err != nil {
			return err
		}
		vote.Position, err = store.ParsePosition(key)
		all = append(all, vote)
		return err
	})
	return all, err
}

// Tasks returns the judged tasks that have a word, at most limit.
func (v *View) Tasks(word string, limit int) ([]schemas.Position, error) {
	var all []schemas.Position
	err := v.each(prefix(kindWord, v.tenant, wordHash(word)), limit, func(key, _ []byte) error {
		at, err := store.ParsePosition(key)
		all = append(all, at)
		return err
	})
	return all, err
}

// Event returns the event at a position, or nil if the tenant has none there.
func (v *View) Event(at schemas.Position) (r *recountv1.Record, err error) {
	key := eventKey(prefix(kindEvent, v.tenant), store.AppendShard(nil, at.TP()), at.Offset)
	_, err = v.v.Get(key, func(value []byte) error {
		r = &recountv1.Record{}
		if err := proto.Unmarshal(value, r); err != nil {
			return v.v.Damaged(err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// each calls do for the keys below a prefix, without it, from the last on; limit 0 means all.
func (v *View) each(prefix []byte, limit int, do func(key, value []byte) error) error {
	it, err := v.v.Iter(prefix, store.PrefixEnd(prefix))
	if err != nil {
		return err
	}
	defer it.Close()
	for ok := it.Last(); ok; ok = it.Prev() {
		if err := do(bytes.TrimPrefix(it.Key(), prefix), it.Value()); err != nil {
			return v.v.Damaged(err)
		}
		if limit--; limit == 0 {
			break
		}
	}
	if err := it.Error(); err != nil {
		return v.v.Explain(err)
	}
	return nil
}
