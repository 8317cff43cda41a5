package commands

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// Gathered are commands with all their fields, in the order in which they ran: by time, then by
// position.
type Gathered struct {
	Commands []Scanned
	// Watermark has the offsets below which all was seen.
	Watermark schemas.Watermark
	// More means that there were more than the limit; those are the newest.
	More bool
}

// Gather returns the commands that pass the filters, and those at the given positions, as of a
// moment; at most limit, the newest. Filters without a field select none. An error is a
// *RequestError, a *NotVisibleError, the context's, or one of the projections.
func Gather(ctx context.Context, s Sources, f Filters, at []schemas.Position, m query.Moment, limit int) (Gathered, error) {
	if err := f.Check(); err != nil {
		return Gathered{}, err
	}
	m, err := m.Normal()
	if err != nil {
		return Gathered{}, err
	}
	a, err := s.open(ctx, m, segment.Name, narrative.Name)
	if err != nil {
		return Gathered{}, err
	}
	defer a.Close()
	g := Gathered{Watermark: a.Visible}
	var inner error
	take := func(v *segment.View) bool {
		if !a.knows(v.Position(), v.UnixNano()) {
			return true
		}
		var row Scanned
		row.Intent, row.Detail = fill(v)
		if inner = a.complete(&row.Intent); inner != nil {
			return false
		}
		g.Commands = append(g.Commands, row)
		return true
	}
	if f != (Filters{}) {
		ended := compile(Filters{Exit: f.Exit}, query.AsOf{}, a.exitCode)
		err = a.segment.Scan(ctx, pushed(f, m.AsOf, a.Visible), segment.NewestFirst, func(v *segment.View) bool {
			var ok bool
			if ok, inner = matchAll(ended, v, nil); inner != nil || !ok {
				return inner == nil
			}
			if g.More = len(g.Commands) == limit; g.More {
				return false
			}
			return take(v)
		})
	}
	if err == nil && inner == nil && len(at) > 0 {
		err = a.segment.ViewAt(ctx, at, func(_ int, v *segment.View) error {
			take(v)
			return inner
		})
	}
	if err = cmp.Or(inner, err); err != nil {
		return Gathered{}, err
	}
	slices.SortFunc(g.Commands, func(x, y Scanned) int {
		return cmp.Or(x.Time.Compare(y.Time), strings.Compare(x.Position.Topic, y.Position.Topic), cmp.Compare(x.Position.Partition, y.Position.Partition), cmp.Compare(x.Position.Offset, y.Position.Offset))
	})
	g.Commands = slices.CompactFunc(g.Commands, func(x, y Scanned) bool { return x.ID == y.ID })
	return g, nil
}

// Locate returns the position of the command that a reference names, as of a moment. An error is a
// *NotFoundError, an *AmbiguousError, the context's, or one of the projections.
func Locate(ctx context.Context, s Sources, ref string, m query.Moment) (schemas.Position, error) {
	m, err := m.Normal()
	if err != nil {
		return schemas.Position{}, err
	}
	a, err := s.open(ctx, m, segment.Name, narrative.Name)
	if err != nil {
		return schemas.Position{}, err
	}
	defer a.Close()
	l, err := a.locate(ref)
	return l.pos, err
}
