package segment

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
)

// exportRows is the maximum number of rows of a record batch. It bounds how much is copied at a
// time if a batch cannot be a view of the segment.
const exportRows = 8192

// Export selects what WriteIPC writes, and how.
type Export struct {
	Filter Filter
	// Match, if not nil, selects among the rows that match Filter.
	Match func(*View) (bool, error)
	// Outcome, if not nil, is called for each row that lacks an exit code or a duration. It returns
	// what other sources know of them, nil for an unknown one.
	Outcome func(*View) (exit *int32, duration *int64, err error)
}

// WriteIPC writes rows as an Arrow IPC stream of schemas.IntentSchema, ordered by partition and offset, and
// returns their number.
//
// Without a filter, batches are views of the segments' memory. The following is copied because it
// is small or must change: ends of strings and lists; indices into dictionaries, since the
// dictionaries of all segments become one; outcomes; and embeddings that several rows share.
func (p *Projection) WriteIPC(ctx context.Context, w io.Writer, x Export) (int, error) {
	if err := p.enter(); err != nil {
		return 0, err
	}
	defer p.leave()
	filter := x.Filter
	e := exporter{x: x, all: filter.isZero() && x.Match == nil}
	for _, s := range p.snapshot() {
		for _, f := range s.files {
			if filter.excludesTimes(f.h.MinTime, f.h.MaxTime) {
				continue
			}
			c, _, err := f.rows()
			if err == nil {
				err = f.vectors()
			}
			if err == nil {
				err = e.add(ctx, View{c: c, tp: s.tp, f: f})
			}
			if err != nil {
				return 0, err
			}
		}
		if err := e.add(ctx, View{c: &s.hot, tp: s.tp}); err != nil {
			return 0, err
		}
	}
	return e.write(ctx, w)
}

// exporter writes several tables as one. Every batch refers to the same dictionaries: IPC files
// allow nothing else, and readers of streams handle it better.
type exporter struct {
	x      Export
	all    bool // export every row of every table
	tables []exportTable
	dicts  [nDict]unified
	topics unified
}

// exportTable is a table, its chosen rows (nil for all), and for each dictionary the indexes of its
// values in the unified one (nil if they are the same).
type exportTable struct {
	View
	rows []uint32
	to   [nDict][]int32
	// topic is the index of the topic in the unified topics.
	topic int32
}

// maxText is the maximum size in bytes of a dictionary of Arrow's string type, whose offsets are
// int32. It is a variable so that a test need not fill memory.
var maxText = math.MaxInt32

// unified is a dictionary over several tables.
type unified struct {
	val  utf8Column
	at   map[string]int32
	over bool // values beyond maxText were left out
	data *array.Data
}

func (u *unified) index(s string) int32 {
	i, ok := u.at[s]
	if !ok {
		if len(s) > maxText-len(u.val.data) {
			u.over = true
			return 0
		}
		if u.at == nil {
			u.at, u.val.off = map[string]int32{}, []int32{0}
		}
		i = int32(len(u.at))
		u.val.append(s)
		u.at[u.val.at(int(i))] = i
	}
	return i
}

// add adds a table: it chooses its rows and unifies its dictionaries.
func (e *exporter) add(ctx context.Context, v View) error {
	c, tp := v.c, v.tp
	if c.n == 0 {
		return nil
	}
	t := exportTable{View: v}
	if !e.all {
		chosen, some := e.x.Filter.on(c, tp)
		for row := 0; row < c.n && some; row++ {
			if row&1023 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			ok := chosen.match(row)
			if ok && e.x.Match != nil {
				var err error
				v.row = row
				if ok, err = e.x.Match(&v); err != nil {
					return err
				}
			}
			if ok {
				t.rows = append(t.rows, uint32(row))
			}
		}
		if len(t.rows) == 0 {
			return nil
		}
	}
	t.topic = e.topics.index(tp.Topic)
	for i := range c.dict {
		t.to[i] = e.unify(&e.dicts[i], c, i, t.rows)
		if e.dicts[i].over {
			return fmt.Errorf("export: the distinct values of %s exceed the %d bytes that Arrow allows: narrow the filter", dictColumns[i], maxText)
		}
	}
	e.tables = append(e.tables, t)
	return nil
}

// unify adds the dictionary values that the rows use (all values if rows is nil) and returns their
// new indexes, nil if these equal the old ones.
func (e *exporter) unify(u *unified, c *columns, dict int, rows []uint32) []int32 {
	d := &c.dict[dict]
	to := make([]int32, d.val.len())
	if rows == nil {
		same := true
		for i := range to {
			to[i] = u.index(d.val.at(i))
			same = same && int(to[i]) == i
		}
		if same {
			return nil
		}
		return to
	}
	for i := range to {
		to[i] = -1
	}
	use := func(i int) {
		if k := d.idx[i]; to[k] < 0 {
			to[k] = u.index(d.val.at(int(k)))
		}
	}
	for _, row := range rows {
		if dict < nRowDict {
			use(int(row))
			continue
		}
		for i, hi := c.span(listOfDict[dict], int(row)); i < hi; i++ {
			use(i)
		}
	}
	return to
}

// listOfDict is the inverse of listItems.
var listOfDict = map[int]int{dictProgram: listPrograms, dictConcept: listConcepts, dictResource: listResources, dictToken: listTokens}

func (e *exporter) write(ctx context.Context, w io.Writer) (n int, err error) {
	for i := range e.dicts {
		e.dicts[i].seal()
	}
	e.topics.seal()
	out := ipc.NewWriter(w, ipc.WithSchema(schemas.IntentSchema))
	defer func() {
		if cerr := out.Close(); err == nil {
			err = cerr
		}
	}()
	// At least one batch is written: without it a file would lack the dictionaries that its schema
	// refers to.
	if len(e.tables) == 0 {
		empty := newHot(0)
		e.tables = append(e.tables, exportTable{View: View{c: &empty.columns}, rows: []uint32{}})
	}
	for i := range e.tables {
		t := &e.tables[i]
		rows := t.c.n
		if t.rows != nil {
			rows = len(t.rows)
		}
		for lo := 0; lo == 0 || lo < rows; lo += exportRows {
			if err := ctx.Err(); err != nil {
				return n, err
			}
			hi := min(lo+exportRows, rows)
			var c columns
			if t.rows == nil {
				c = t.c.slice(lo, hi)
			} else {
				c = t.c.gather(t.rows[lo:hi])
			}
			if err := e.complete(t, lo, &c); err != nil {
				return n, err
			}
			if err := out.Write(e.batch(t, &c)); err != nil {
				return n, err
			}
			n += hi - lo
		}
	}
	return n, nil
}

// complete fills in outcomes that Export.Outcome knows for the rows of a batch; lo is the first of
// them in its table. The table's own columns stay unchanged.
func (e *exporter) complete(t *exportTable, lo int, c *columns) error {
	if e.x.Outcome == nil {
		return nil
	}
	copied := false
	for i := range c.n {
		if c.hasExit.at(i) && c.hasDuration.at(i) {
			continue
		}
		v := t.View
		if v.row = lo + i; t.rows != nil {
			v.row = int(t.rows[lo+i])
		}
		exit, duration, err := e.x.Outcome(&v)
		if err != nil {
			return err
		}
		if exit == nil && duration == nil {
			continue
		}
		if !copied {
			copied = true
			c.exitCode, c.duration = slices.Clone(c.exitCode), slices.Clone(c.duration)
			c.hasExit, c.hasDuration = c.hasExit.toFlags(c.n), c.hasDuration.toFlags(c.n)
		}
		if exit != nil && !c.hasExit.at(i) {
			c.exitCode[i], c.hasExit.flags[i] = *exit, true
		}
		if duration != nil && !c.hasDuration.at(i) {
			c.duration[i], c.hasDuration.flags[i] = *duration, true
		}
	}
	return nil
}

// batch returns c, a part of t, as an Arrow record batch.
func (e *exporter) batch(t *exportTable, c *columns) arrow.RecordBatch {
	n := c.n
	schema := schemas.IntentSchema
	var cols []arrow.Array
	add := func(d *array.Data) { cols = append(cols, array.MakeFromData(d)) }
	typ := func() arrow.DataType { return schema.Field(len(cols)).Type }
	plain := func(b []byte) { add(newData(typ(), n, nil, b)) }
	nullable := func(v *validity, b []byte) { add(newData(typ(), n, v, b)) }
	text := func(u *utf8Column) { add(newText(typ(), u)) }
	dict := func(i int) { add(e.dict(typ(), t, c, i)) }
	// items are the items of a list: all texts of a dictionary, or structs.
	list := func(l int, items *array.Data) {
		off := memory.NewBufferBytes(sealed.BytesOf(c.list[l]))
		add(array.NewData(typ(), n, []*memory.Buffer{nil, off}, []arrow.ArrayData{items}, 0, 0))
	}
	item := func() arrow.DataType { return typ().(*arrow.ListType).Elem() }
	structs := func(children ...arrow.ArrayData) *array.Data {
		return array.NewData(item(), children[0].Len(), []*memory.Buffer{nil}, children, 0, 0)
	}
	field := func(i int) arrow.DataType { return item().(*arrow.StructType).Field(i).Type }

	topics := make([]int32, n)
	partitions := make([]int32, n)
	for i := range n {
		topics[i], partitions[i] = t.topic, t.tp.Partition
	}
	add(newDict(typ(), sealed.BytesOf(topics), n, e.topics.data))
	plain(sealed.BytesOf(partitions))
	plain(sealed.BytesOf(c.offset))
	plain(sealed.BytesOf(c.id))
	plain(sealed.BytesOf(c.time))
	plain(sealed.BytesOf(c.eventTime))
	for i := range c.text {
		text(&c.text[i])
	}
	for i := range nRowDict {
		dict(i)
	}
	add(newDict(typ(), sealed.BytesOf(c.category), n, categoryData))
	plain(sealed.BytesOf(c.confidence))
	plain(sealed.BytesOf(c.complexity))
	nullable(&c.hasExit, sealed.BytesOf(c.exitCode))
	nullable(&c.hasDuration, sealed.BytesOf(c.duration))
	plain(sealed.BytesOf(c.contextHash))
	plain(sealed.BytesOf(c.contentHash))
	nullable(&c.hasParent, sealed.BytesOf(c.parent))
	list(listPrograms, e.dict(item(), t, c, dictProgram))
	list(listConcepts, e.dict(item(), t, c, dictConcept))
	list(listResources, structs(
		newDict(field(0), sealed.BytesOf(c.resourceKind), len(c.resourceKind), resourceKindData),
		newDict(field(1), sealed.BytesOf(c.resourceAccess), len(c.resourceAccess), accessData),
		e.dict(field(2), t, c, dictResource),
	))
	list(listTokens, structs(
		newDict(field(0), sealed.BytesOf(c.tokenKind), len(c.tokenKind), tokenKindData),
		newData(field(1), len(c.tokenOffset), nil, sealed.BytesOf(c.tokenOffset)),
		e.dict(field(2), t, c, dictToken),
	))
	floats := newData(arrow.PrimitiveTypes.Float32, n*schemas.EmbeddingDim, nil, c.embeddings())
	add(array.NewData(typ(), n, []*memory.Buffer{c.hasEmbedding.buffer(n)}, []arrow.ArrayData{floats}, c.hasEmbedding.nulls(n), 0))
	return array.NewRecordBatch(schema, cols, int64(n))
}

// dict returns a dictionary column with its indices into the unified dictionary.
func (e *exporter) dict(typ arrow.DataType, t *exportTable, c *columns, i int) *array.Data {
	idx := c.dict[i].idx
	if to := t.to[i]; to != nil {
		moved := make([]int32, len(idx))
		for k, v := range idx {
			moved[k] = to[v]
		}
		idx = moved
	}
	return newDict(typ, sealed.BytesOf(idx), len(idx), e.dicts[i].data)
}

// seal makes the dictionary Arrow data. All batches share this one value, by which the writer
// recognises that it need not write it again.
func (u *unified) seal() {
	if u.val.off == nil {
		u.val.off = []int32{0}
	}
	u.data = newText(arrow.BinaryTypes.String, &u.val)
}

// The dictionaries of enumerations.
var (
	categoryData     = enumData(schemas.CategoryNames)
	resourceKindData = enumData(schemas.ResourceKindNames)
	accessData       = enumData(schemas.AccessNames)
	tokenKindData    = enumData(schemas.TokenKindNames)
)

func enumData(names []string) *array.Data {
	u := utf8Column{off: []int32{0}}
	for _, s := range names {
		u.append(s)
	}
	return newText(arrow.BinaryTypes.String, &u)
}

func newData(typ arrow.DataType, n int, v *validity, b []byte) *array.Data {
	if v == nil {
		return array.NewData(typ, n, []*memory.Buffer{nil, memory.NewBufferBytes(b)}, nil, 0, 0)
	}
	return array.NewData(typ, n, []*memory.Buffer{v.buffer(n), memory.NewBufferBytes(b)}, nil, v.nulls(n), 0)
}

func newText(typ arrow.DataType, u *utf8Column) *array.Data {
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(sealed.BytesOf(u.off)), memory.NewBufferBytes(u.data)}
	return array.NewData(typ, u.len(), buffers, nil, 0, 0)
}

func newDict(typ arrow.DataType, idx []byte, n int, dict *array.Data) *array.Data {
	return array.NewDataWithDictionary(typ, n, []*memory.Buffer{nil, memory.NewBufferBytes(idx)}, 0, 0, dict)
}

func (v *validity) buffer(n int) *memory.Buffer { return memory.NewBufferBytes(v.bitmap(n)) }

func (v *validity) nulls(n int) (nulls int) {
	for i := range n {
		if !v.at(i) {
			nulls++
		}
	}
	return nulls
}

// embeddings returns the embeddings of all rows as bytes, one after the other: in place if they are
// stored so, else copied. A row without one has zeros.
func (c *columns) embeddings() []byte {
	if c.n == 0 {
		return nil
	}
	first := int(c.embedding[0])
	inPlace := c.vectors.flat != nil && first+c.n <= c.vectors.n
	for row := 0; row < c.n && inPlace; row++ {
		inPlace = c.hasEmbedding.at(row) && int(c.embedding[row]) == first+row
	}
	if inPlace {
		return sealed.BytesOf(c.vectors.flat[first*schemas.EmbeddingDim:][:c.n*schemas.EmbeddingDim])
	}
	var room dense
	b := make([]float32, c.n*schemas.EmbeddingDim)
	for row := range c.n {
		copy(b[row*schemas.EmbeddingDim:], c.embeddingOf(row, &room))
	}
	return sealed.BytesOf(b)
}
