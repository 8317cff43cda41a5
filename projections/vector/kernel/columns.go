package kernel

// Codes of many rows may be stored by element: the first element of each row, then the second of
// each, and so on. The vector of a query with few words has few non-zero elements, and a scan then
// reads only those columns, while in row order it would read every code as a whole.

// ColumnAlign is the alignment of the number of rows in a column.
const ColumnAlign = 64

// ColumnStride returns the length of the columns of that many rows, whose ends are filled with
// zeros.
func ColumnStride(rows int) int { return (rows + ColumnAlign - 1) / ColumnAlign * ColumnAlign }

// Pair is two elements of a query's code and their indexes A and B. Codes has the first element in
// its lower half.
type Pair struct {
	A, B  uint32
	Codes uint32
}

// AppendPairs appends the non-zero elements of a query. If their number is odd, the last pair is
// completed with a zero.
func AppendPairs(all []Pair, query []int8) []Pair {
	first := true
	for i, q := range query {
		if q == 0 {
			continue
		}
		if code := uint32(uint16(q)); first {
			all = append(all, Pair{uint32(i), uint32(i), code})
		} else {
			p := &all[len(all)-1]
			p.B, p.Codes = uint32(i), p.Codes|code<<16
		}
		first = !first
	}
	return all
}

// Columns sets out[i] to the dot product of the query and the code of row i. The first element of
// row i is codes[i]; its other elements follow at multiples of stride. The length of out is the
// number of rows, a multiple of ColumnAlign. Nothing is checked: the caller must pass valid
// lengths.
func (s *Set) Columns(codes []int8, stride int, query []Pair, out []int32) {
	clear(out)
	if len(query) == 0 || len(out) == 0 {
		return
	}
	s.columns(codes, stride, query, out)
}

func columnsGeneric(codes []int8, stride int, query []Pair, out []int32) {
	for _, p := range query {
		a, b := codes[int(p.A)*stride:], codes[int(p.B)*stride:]
		a, b = a[:len(out)], b[:len(out)]
		qa, qb := int32(int16(p.Codes)), int32(int16(p.Codes>>16))
		for i := range out {
			out[i] += qa*int32(a[i]) + qb*int32(b[i])
		}
	}
}
