package replays

import (
	"bytes"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// View is one state of the projection.
type View struct{ v *store.View }

// View opens a view, which the caller must close.
func (p *Replays) View() (*View, error) {
	v, err := p.DB.View()
	if err != nil {
		return nil, err
	}
	return &View{v}, nil
}

// Close ends the view.
func (v *View) Close() { v.v.Close() }

// Watermark returns the next offset of every partition in this state.
func (v *View) Watermark() (schemas.Watermark, error) { return v.v.Watermark() }

// Run returns the records of a run's events; those of one partition are in log order.
func (v *View) Run(run string) ([]*recountv1.Record, error) {
	var all []*recountv1.Record
	prefix := runPrefix(run)
	err := v.each(prefix, func(it store.Iterator) (bool, error) {
		r := &recountv1.Record{}
		if err := proto.Unmarshal(it.Value(), r); err != nil {
			return false, err
		}
		all = append(all, r)
		return true, nil
	})
	return all, err
}

// Begun is a run that was begun, or one that began to run a command.
type Begun struct {
	Run      string
	Position schemas.Position
}

// Latest calls yield for the runs, the latest begun first, until it returns false.
func (v *View) Latest(yield func(Begun) bool) error {
	it, err := v.v.Iter([]byte{kindTime}, []byte{kindTime + 1})
	if err != nil {
		return err
	}
	defer it.Close()
	for ok := it.Last(); ok; ok = it.Prev() {
		key := it.Key()
		at, err := store.ParsePosition(key[min(1+8, len(key)):])
		if err != nil {
			return v.v.Damaged(err)
		}
		if !yield(Begun{string(it.Value()), at}) {
			return nil
		}
	}
	if err := it.Error(); err != nil {
		return v.v.Explain(err)
	}
	return nil
}

// Of returns the steps that began to run a command again, at most limit; 0 means all.
func (v *View) Of(command schemas.EventID, limit int) ([]Begun, error) {
	var all []Begun
	prefix := append([]byte{kindCommand}, command[:]...)
	err := v.each(prefix, func(it store.Iterator) (bool, error) {
		at, err := store.ParsePosition(bytes.TrimPrefix(it.Key(), prefix))
		all = append(all, Begun{string(it.Value()), at})
		return len(all) != limit, err
	})
	return all, err
}

// each calls do for the rows below a prefix until it returns false.
func (v *View) each(prefix []byte, do func(it store.Iterator) (more bool, err error)) error {
	it, err := v.v.Iter(prefix, store.PrefixEnd(prefix))
	if err != nil {
		return err
	}
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		more, err := do(it)
		if err != nil {
			return v.v.Damaged(err)
		}
		if !more {
			return nil
		}
	}
	if err := it.Error(); err != nil {
		return v.v.Explain(err)
	}
	return nil
}
