package segment

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"slices"
	"unicode/utf8"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
)

// index is what a file holds besides its rows. All of it is computed from the rows.
type index struct {
	csr, csc  edges
	bloom     []byte
	idOrder   []uint32 // rows in the order of their ids
	timeOrder []uint32 // rows in the order of (time, row)
	topic     []byte
}

// edges holds the edges of each row in [off[row], off[row+1]).
type edges struct {
	off    []int32
	row    []uint32
	typ    []int8
	weight []float32
}

// region binds a region of the format to the memory that holds it: get returns its bytes, in
// pieces; set reads bytes in place.
type region struct {
	kind   schemas.TBFKind
	column schemas.TBFColumn
	get    func() iter.Seq[[]byte]
	set    func([]byte) bool
}

func slot[T sealed.Fixed](kind schemas.TBFKind, column schemas.TBFColumn, s *[]T) region {
	return region{
		kind, column,
		func() iter.Seq[[]byte] { return whole(sealed.BytesOf(*s)) },
		func(b []byte) (ok bool) { *s, ok = sealed.ViewOf[T](b); return ok },
	}
}

// whole returns bytes as one piece.
func whole(b []byte) iter.Seq[[]byte] { return func(yield func([]byte) bool) { yield(b) } }

// regions lists every region of a file whose embeddings have the given type, in the order in which
// they are written.
func regions(c *columns, x *index, embeddings uint8) []region {
	valid := func(col schemas.TBFColumn, v *validity) region {
		return region{
			schemas.TBFValidity, col,
			func() iter.Seq[[]byte] { return whole(v.bitmap(c.n)) },
			func(b []byte) bool { v.bits, v.flags = b, nil; return true },
		}
	}
	var rs []region
	add := func(r ...region) { rs = append(rs, r...) }

	add(
		slot(schemas.TBFData, schemas.TBFID, &c.id),
		slot(schemas.TBFData, schemas.TBFOffset, &c.offset),
		slot(schemas.TBFData, schemas.TBFTime, &c.time),
		slot(schemas.TBFData, schemas.TBFEventTime, &c.eventTime),
	)
	for i, col := range textColumns {
		add(slot(schemas.TBFOffsets, col, &c.text[i].off), slot(schemas.TBFData, col, &c.text[i].data))
	}
	for i, col := range dictColumns[:nRowDict] {
		add(slot(schemas.TBFIndex, col, &c.dict[i].idx))
	}
	add(
		slot(schemas.TBFData, schemas.TBFCategory, &c.category),
		slot(schemas.TBFData, schemas.TBFConfidence, &c.confidence),
		slot(schemas.TBFData, schemas.TBFComplexity, &c.complexity),
		valid(schemas.TBFExitCode, &c.hasExit), slot(schemas.TBFData, schemas.TBFExitCode, &c.exitCode),
		valid(schemas.TBFDuration, &c.hasDuration), slot(schemas.TBFData, schemas.TBFDuration, &c.duration),
		slot(schemas.TBFData, schemas.TBFContextHash, &c.contextHash),
		slot(schemas.TBFData, schemas.TBFContentHash, &c.contentHash),
		valid(schemas.TBFParentID, &c.hasParent), slot(schemas.TBFData, schemas.TBFParentID, &c.parent),
	)
	for i, col := range listColumns {
		add(slot(schemas.TBFList, col, &c.list[i]))
	}
	for i := nRowDict; i < nDict; i++ {
		add(slot(schemas.TBFIndex, dictColumns[i], &c.dict[i].idx))
	}
	add(
		slot(schemas.TBFData, schemas.TBFResourceKind, &c.resourceKind),
		slot(schemas.TBFData, schemas.TBFResourceAccess, &c.resourceAccess),
		slot(schemas.TBFData, schemas.TBFTokenKind, &c.tokenKind),
		slot(schemas.TBFData, schemas.TBFTokenOffset, &c.tokenOffset),
		valid(schemas.TBFEmbedding, &c.hasEmbedding), slot(schemas.TBFIndex, schemas.TBFEmbedding, &c.embedding),
	)
	if embeddings == schemas.TBFPacked {
		add(
			slot(schemas.TBFOffsets, schemas.TBFEmbedding, &c.vectors.where),
			region{schemas.TBFData, schemas.TBFEmbedding, c.vectors.packedBytes, c.vectors.setPacked},
		)
	} else {
		add(region{schemas.TBFData, schemas.TBFEmbedding, c.vectors.bytes, c.vectors.set})
	}
	for _, g := range []struct {
		list, row, typ, weight schemas.TBFColumn
		edges                  *edges
	}{
		{schemas.TBFCSR, schemas.TBFCSRRow, schemas.TBFCSRType, schemas.TBFCSRWeight, &x.csr},
		{schemas.TBFCSC, schemas.TBFCSCRow, schemas.TBFCSCType, schemas.TBFCSCWeight, &x.csc},
	} {
		add(
			slot(schemas.TBFList, g.list, &g.edges.off), slot(schemas.TBFData, g.row, &g.edges.row),
			slot(schemas.TBFData, g.typ, &g.edges.typ), slot(schemas.TBFData, g.weight, &g.edges.weight),
		)
	}
	for i, col := range dictColumns {
		add(slot(schemas.TBFDictOffsets, col, &c.dict[i].val.off), slot(schemas.TBFDictData, col, &c.dict[i].val.data))
	}
	add(
		slot(schemas.TBFData, schemas.TBFBloom, &x.bloom),
		slot(schemas.TBFData, schemas.TBFIDOrder, &x.idOrder),
		slot(schemas.TBFData, schemas.TBFTimeOrder, &x.timeOrder),
		slot(schemas.TBFData, schemas.TBFTopic, &x.topic),
	)
	return rs
}

// buildIndex computes the index of c.
func buildIndex(c *columns, topic string) *index {
	x := &index{topic: []byte(topic), bloom: make([]byte, sealed.BloomBytes(c.n))}
	x.timeOrder = make([]uint32, c.n)
	for i := range c.n {
		x.timeOrder[i] = uint32(i)
		sealed.BloomAdd(x.bloom, c.id[i])
	}
	x.idOrder = sealed.OrderIDs(c.id)
	sortByTime(x.timeOrder, c.time)

	// An edge leads from a parent to the row that names it. Rows are visited in order, so the
	// children of a row are in order too.
	parentRow := make([]int32, c.n)
	x.csr.off, x.csc.off = make([]int32, c.n+1), make([]int32, c.n+1)
	for row := range c.n {
		parentRow[row] = -1
		if !c.hasParent.at(row) {
			continue
		}
		if p := sealed.FindID(c.id, x.idOrder, c.parent[row]); p >= 0 && p != row {
			parentRow[row] = int32(p)
			x.csr.off[p+1]++
			x.csc.off[row+1]++
		}
	}
	for row := range c.n {
		x.csr.off[row+1] += x.csr.off[row]
		x.csc.off[row+1] += x.csc.off[row]
	}
	n := int(x.csr.off[c.n])
	for _, e := range [2]*edges{&x.csr, &x.csc} {
		e.row, e.typ, e.weight = make([]uint32, n), make([]int8, n), make([]float32, n)
		for i := range n {
			e.typ[i], e.weight[i] = schemas.TBFEdgeParent, 1
		}
	}
	next := slices.Clone(x.csr.off)
	for row, p := range parentRow {
		if p >= 0 {
			x.csr.row[next[p]] = uint32(row)
			next[p]++
			x.csc.row[x.csc.off[row]] = uint32(p)
		}
	}
	return x
}

// sortByTime sorts rows by (time, row).
func sortByTime(rows []uint32, time []int64) {
	slices.SortFunc(rows, func(a, b uint32) int { return cmp.Or(cmp.Compare(time[a], time[b]), cmp.Compare(a, b)) })
}

// check checks that columns read from a file can be used without further bounds checks: every
// length fits, every index is in range, every order is sorted. On an error it returns the column at
// fault.
func check(c *columns, x *index, h schemas.TBFHeader) (schemas.TBFColumn, error) {
	n := c.n
	for _, l := range []struct {
		column schemas.TBFColumn
		have   int
	}{
		{schemas.TBFID, len(c.id)},
		{schemas.TBFOffset, len(c.offset)},
		{schemas.TBFTime, len(c.time)},
		{schemas.TBFEventTime, len(c.eventTime)},
		{schemas.TBFCategory, len(c.category)},
		{schemas.TBFConfidence, len(c.confidence)},
		{schemas.TBFComplexity, len(c.complexity)},
		{schemas.TBFExitCode, len(c.exitCode)},
		{schemas.TBFDuration, len(c.duration)},
		{schemas.TBFContextHash, len(c.contextHash)},
		{schemas.TBFContentHash, len(c.contentHash)},
		{schemas.TBFParentID, len(c.parent)},
		{schemas.TBFEmbedding, len(c.embedding)},
		{schemas.TBFIDOrder, len(x.idOrder)},
		{schemas.TBFTimeOrder, len(x.timeOrder)},
	} {
		if l.have != n {
			return l.column, fmt.Errorf("%d values for %d rows", l.have, n)
		}
	}
	for i := range n {
		if c.offset[i] < h.Base || c.offset[i] >= h.Next || i > 0 && c.offset[i] <= c.offset[i-1] {
			return schemas.TBFOffset, fmt.Errorf("row %d: offset %d out of order", i, c.offset[i])
		}
	}
	for i := range c.text {
		if err := checkTexts(&c.text[i], n); err != nil {
			return textColumns[i], err
		}
	}
	for i := range c.list {
		if err := checkEnds(c.list[i], n, len(c.dict[listItems[i]].idx)); err != nil {
			return listColumns[i], err
		}
	}
	for i := range c.dict {
		d := &c.dict[i]
		if i < nRowDict && len(d.idx) != n {
			return dictColumns[i], fmt.Errorf("%d values for %d rows", len(d.idx), n)
		}
		if err := checkTexts(&d.val, -1); err != nil {
			return dictColumns[i], err
		}
		if err := checkRange(d.idx, d.val.len()); err != nil {
			return dictColumns[i], err
		}
	}
	for _, e := range []struct {
		column schemas.TBFColumn
		values []int8
		items  int
		names  []string
	}{
		{schemas.TBFCategory, c.category, n, schemas.CategoryNames},
		{schemas.TBFResourceKind, c.resourceKind, len(c.dict[dictResource].idx), schemas.ResourceKindNames},
		{schemas.TBFResourceAccess, c.resourceAccess, len(c.dict[dictResource].idx), schemas.AccessNames},
		{schemas.TBFTokenKind, c.tokenKind, len(c.dict[dictToken].idx), schemas.TokenKindNames},
	} {
		if len(e.values) != e.items {
			return e.column, fmt.Errorf("%d values for %d items", len(e.values), e.items)
		}
		if err := checkRange(e.values, len(e.names)); err != nil {
			return e.column, err
		}
	}
	if len(c.tokenOffset) != len(c.tokenKind) {
		return schemas.TBFTokenOffset, fmt.Errorf("%d values for %d items", len(c.tokenOffset), len(c.tokenKind))
	}
	for _, v := range []struct {
		column schemas.TBFColumn
		*validity
	}{
		{schemas.TBFExitCode, &c.hasExit},
		{schemas.TBFDuration, &c.hasDuration},
		{schemas.TBFParentID, &c.hasParent},
		{schemas.TBFEmbedding, &c.hasEmbedding},
	} {
		if len(v.bits) != (n+7)/8 {
			return v.column, fmt.Errorf("validity of %d bytes for %d rows", len(v.bits), n)
		}
	}
	if uint32(c.vectors.n) != h.Vectors {
		return schemas.TBFEmbedding, fmt.Errorf("%d vectors, the header says %d", c.vectors.n, h.Vectors)
	}
	if err := c.vectors.checkPacked(); err != nil {
		return schemas.TBFEmbedding, err
	}
	for i, e := range c.embedding {
		if e < 0 || int(e) >= c.vectors.n && (e != 0 || c.hasEmbedding.at(i)) {
			return schemas.TBFEmbedding, fmt.Errorf("row %d: vector %d of %d", i, e, c.vectors.n)
		}
	}
	return checkIndex(c, x, h)
}

func checkIndex(c *columns, x *index, h schemas.TBFHeader) (schemas.TBFColumn, error) {
	n := c.n
	for _, g := range []struct {
		column schemas.TBFColumn
		*edges
	}{{schemas.TBFCSR, &x.csr}, {schemas.TBFCSC, &x.csc}} {
		if len(g.row) != int(h.Edges) || len(g.typ) != len(g.row) || len(g.weight) != len(g.row) {
			return g.column, fmt.Errorf("%d edges, the header says %d", len(g.row), h.Edges)
		}
		if err := checkEnds(g.off, n, len(g.row)); err != nil {
			return g.column, err
		}
		if err := checkRange(g.row, n); err != nil {
			return g.column, err
		}
	}
	if len(x.bloom) != sealed.BloomBytes(n) {
		return schemas.TBFBloom, fmt.Errorf("%d bytes, want %d for %d rows", len(x.bloom), sealed.BloomBytes(n), n)
	}
	if err := checkRange(x.idOrder, n); err != nil {
		return schemas.TBFIDOrder, err
	}
	if err := checkRange(x.timeOrder, n); err != nil {
		return schemas.TBFTimeOrder, err
	}
	for i := 1; i < n; i++ {
		if a, b := x.idOrder[i-1], x.idOrder[i]; bytes.Compare(c.id[a][:], c.id[b][:]) >= 0 {
			return schemas.TBFIDOrder, fmt.Errorf("entry %d is out of order", i)
		}
		if a, b := x.timeOrder[i-1], x.timeOrder[i]; c.time[a] > c.time[b] || c.time[a] == c.time[b] && a >= b {
			return schemas.TBFTimeOrder, fmt.Errorf("entry %d is out of order", i)
		}
	}
	if n > 0 && (c.time[x.timeOrder[0]] != h.MinTime || c.time[x.timeOrder[n-1]] != h.MaxTime) {
		return schemas.TBFTime, fmt.Errorf("the header gives other bounds of time")
	}
	return 0, nil
}

// checkTexts checks a column of n strings, or of any number of them if n is -1.
func checkTexts(c *utf8Column, n int) error {
	if n < 0 {
		n = len(c.off) - 1
	}
	if err := checkEnds(c.off, n, len(c.data)); err != nil {
		return err
	}
	if !utf8.Valid(c.data) {
		return fmt.Errorf("not UTF-8")
	}
	for i, end := range c.off {
		if int(end) < len(c.data) && !utf8.RuneStart(c.data[end]) {
			return fmt.Errorf("string %d begins inside a character", i)
		}
	}
	return nil
}

// checkEnds checks that off divides items into n runs.
func checkEnds(off []int32, n, items int) error {
	if n < 0 || len(off) != n+1 {
		return fmt.Errorf("%d ends for %d rows", len(off), n)
	}
	if off[0] != 0 || int(off[n]) != items || !slices.IsSorted(off) {
		return fmt.Errorf("ends do not divide %d items", items)
	}
	return nil
}

// checkRange checks that every value is in [0, n).
func checkRange[T int8 | int32 | uint32](values []T, n int) error {
	for i, v := range values {
		if v < 0 || int(v) >= n {
			return fmt.Errorf("entry %d: %d is not below %d", i, v, n)
		}
	}
	return nil
}
