package segment

import (
	"context"
	"slices"
	"strings"
)

// Each calls fn with every row that the filter selects, table by table, until fn returns false. It
// sees one state, as Scan does, and costs less where the order of time does not matter.
func (p *Projection) Each(ctx context.Context, filter Filter, fn func(*View) bool) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	read := 0
	each := func(v View) (more bool, err error) {
		t, some := filter.on(v.c, v.tp)
		if !some {
			return true, nil
		}
		for v.row = range v.c.n {
			if read&1023 == 0 && ctx.Err() != nil {
				return false, ctx.Err()
			}
			read++
			if t.match(v.row) && !fn(&v) {
				return false, nil
			}
		}
		return true, nil
	}
	for _, s := range p.snapshot() {
		for _, f := range s.files {
			if filter.excludesTimes(f.h.MinTime, f.h.MaxTime) {
				continue
			}
			c, _, err := f.rows()
			if err != nil {
				return err
			}
			if more, err := each(View{c: c, tp: s.tp, f: f}); !more {
				return err
			}
		}
		if more, err := each(View{c: &s.hot, tp: s.tp}); !more {
			return err
		}
	}
	return nil
}

// Column is a column of texts that repeat.
type Column int

// The columns that can be numbered: those of a row, and the programs that it runs.
const (
	ColumnCwd      Column = dictCwd
	ColumnSession  Column = dictSession
	ColumnUser     Column = dictUser
	ColumnHost     Column = dictHost
	ColumnAuthor   Column = dictAuthor
	ColumnTemplate Column = dictTemplate
	ColumnPrograms Column = dictProgram
)

// NoNumber is the number of a text beyond the maximum of a Numbering.
const NoNumber int32 = -1

// Numbering numbers the distinct texts of a column over the tables of a pass (Each), in the order
// in which they are met, so that a pass groups rows by small numbers: a table stores an index for
// each row, and a text is looked at once a table.
type Numbering struct {
	// Texts are the numbered texts.
	Texts []string
	// Capped reports that a text had to go without a number.
	Capped bool

	column  Column
	max     int
	numbers map[string]int32
	table   *columns // the table being read
	local   []int32  // its indexes to numbers, plus 1; NoNumber for one beyond the maximum, 0 for one not yet met
}

// NewNumbering returns a numbering of at most max texts of a column.
func NewNumbering(column Column, max int) *Numbering {
	return &Numbering{column: column, max: max, numbers: map[string]int32{}}
}

// Of returns the number of a row's text. The column is not ColumnPrograms.
func (n *Numbering) Of(v *View) int32 {
	d := n.dict(v)
	return n.number(d, d.idx[v.row])
}

// Items appends the numbers of a row's programs to room, each once.
func (n *Numbering) Items(v *View, room []int32) []int32 {
	d := n.dict(v)
	for i, hi := v.c.span(listPrograms, v.row); i < hi; i++ {
		if x := n.number(d, d.idx[i]); !slices.Contains(room, x) {
			room = append(room, x)
		}
	}
	return room
}

func (n *Numbering) dict(v *View) *dictColumn {
	d := &v.c.dict[n.column]
	if n.table != v.c {
		n.table = v.c
		n.local = append(n.local[:0], make([]int32, d.val.len())...)
	}
	return d
}

func (n *Numbering) number(d *dictColumn, index int32) int32 {
	switch x := n.local[index]; {
	case x > 0:
		return x - 1
	case x < 0:
		return NoNumber
	}
	text := d.val.at(int(index))
	x, known := n.numbers[text]
	if !known {
		if len(n.Texts) == n.max {
			n.Capped, n.local[index] = true, NoNumber
			return NoNumber
		}
		text = strings.Clone(text)
		x = int32(len(n.Texts))
		n.numbers[text], n.Texts = x, append(n.Texts, text)
	}
	n.local[index] = x + 1
	return x
}
