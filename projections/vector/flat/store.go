package flat

import (
	"encoding/binary"
	"fmt"

	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/rows"
)

// magic begins the result of AppendLinks; its last byte is the version.
const magic = "RFLAT\x00\x00\x02"

// isDuplicate is stored in place of the number of links for a row that has only a head.
const isDuplicate = 255

// AppendLinks appends the links, as the package comment describes.
func (x *Index) AppendLinks(b []byte) []byte {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := uint32(x.rows.Len())
	e := unpackEntry(x.entry.Load())
	b = append(b, magic...)
	for _, v := range []uint32{
		uint32(x.opt.Dim), uint32(x.opt.M), uint32(x.opt.EfConstruction), n,
		e.row, uint32(e.level), x.upper,
	} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	g := x.graph.Load()
	heads := map[uint32]uint32{} // of duplicates
	for row := range n {
		if g.duplicate(row) {
			continue
		}
		for copied := *g.next(row); copied != none; copied = *g.next(copied) {
			heads[copied] = row
		}
	}
	for row := range n {
		if head, ok := heads[row]; ok {
			b = binary.LittleEndian.AppendUint32(append(b, isDuplicate), head)
			continue
		}
		for layer := range level(row, x.opt.M) + 1 {
			ls, i := g.list(row, layer)
			links := ls.own(i)
			b = append(b, byte(len(links)))
			for _, id := range links {
				b = binary.LittleEndian.AppendUint32(b, id)
			}
		}
	}
	return b
}

// Load returns the index whose AppendLinks and Chunk gave links and chunks. Full chunks are used in
// place: the caller must keep their memory as it is while the index is in use. The options must be
// those of the stored index, except for Ef, ScanBelow and Generic. Inconsistent input is an
// index.ErrCorrupt. Load does not detect changed codes; checksums must.
func Load(opt index.Options, links []byte, chunks [][]byte, vectors index.Vectors) (*Index, error) {
	opt, err := opt.WithDefaults()
	if err != nil {
		return nil, err
	}
	d := decoder{b: links}
	if string(d.take(len(magic))) != magic {
		return nil, fmt.Errorf("%w: links do not begin with %q", index.ErrCorrupt, magic)
	}
	for _, f := range []struct {
		name string
		want int
	}{{"Dim", opt.Dim}, {"M", opt.M}, {"EfConstruction", opt.EfConstruction}} {
		if got := d.uint32(); d.err == nil && int64(got) != int64(f.want) {
			return nil, fmt.Errorf("stored vector index has %s %d, not %d: open it with that, or rebuild it", f.name, got, f.want)
		}
	}
	n, e := d.uint32(), entry{row: d.uint32(), level: int(d.uint32())}
	upper := d.uint32()
	if d.err == nil && uint64(n) > uint64(len(links)) { // each row has at least one byte
		d.fail("%d rows in %d bytes", n, len(links))
	}
	if d.err != nil {
		return nil, d.err
	}
	r, err := rows.Load(opt.Dim, int(n), chunks)
	if err != nil {
		return nil, err
	}
	x := open(opt, r, vectors)
	x.loadGraph(&d, n)
	if d.err == nil && (x.upper != upper || len(d.b) != 0) {
		d.fail("%d lists above layer 0, not %d, and %d bytes behind", x.upper, upper, len(d.b))
	}
	if d.err == nil && n > 0 && (e.row >= n || e.level != level(e.row, opt.M) || x.graph.Load().duplicate(e.row)) {
		d.fail("entry %d, level %d, of %d rows", e.row, e.level, n)
	}
	if d.err != nil {
		return nil, d.err
	}
	x.entry.Store(e.pack())
	return x, nil
}

// loadGraph reads the links of n rows and checks the invariants of duplicates (see duplicates.go).
func (x *Index) loadGraph(d *decoder, n uint32) {
	duplicate, any := make([]bool, n), false
	for row := uint32(0); row < n && d.err == nil; row++ {
		top := level(row, x.opt.M)
		g := x.room(row, top)
		for layer := range top + 1 {
			ls, i := g.list(row, layer)
			count := int(d.byte())
			if layer == 0 && count == isDuplicate {
				head := d.uint32()
				if head >= row || duplicate[head] {
					d.fail("row %d is a duplicate of row %d", row, head)
					return
				}
				duplicate[row], any = true, true
				x.appendDuplicate(g, head, row)
				break
			}
			if layer == 0 && count == 0 && row > 0 {
				d.fail("row %d has no links", row)
				return
			}
			if count > ls.width {
				d.fail("row %d has %d links on layer %d, %d are allowed", row, count, layer, ls.width)
				return
			}
			stored, links := d.take(4*count), ls.all(i) // no reader can see the list yet
			for k := range len(stored) / 4 {
				id := binary.LittleEndian.Uint32(stored[4*k:])
				if id >= n || id == row || layer > 0 && level(id, x.opt.M) < layer {
					d.fail("row %d has a link to row %d on layer %d", row, id, layer)
					return
				}
				links[k] = id
			}
		}
	}
	g := x.graph.Load()
	for row := uint32(0); row < n && any && d.err == nil; row++ {
		for layer := range level(row, x.opt.M) + 1 {
			ls, i := g.list(row, layer)
			for _, id := range ls.own(i) {
				if duplicate[id] {
					d.fail("row %d has a link to row %d, a duplicate", row, id)
				}
			}
		}
	}
}

// decoder reads numbers until an error occurs.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", index.ErrCorrupt, fmt.Sprintf(format, args...))
	}
}

func (d *decoder) take(n int) []byte {
	if len(d.b) < n {
		d.fail("it ends early")
		d.b = nil
		return nil
	}
	out := d.b[:n]
	d.b = d.b[n:]
	return out
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uint32() uint32 {
	if b := d.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}
