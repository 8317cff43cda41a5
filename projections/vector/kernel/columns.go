package kernel

// Codes of many rows may stand by element instead: the first of each row, then the second
// of each. A query of few words has few elements that are not zero, and reads no others
// then, where a row's code is read as a whole.

// ColumnAlign is what the number of rows in a column is a multiple of.
const ColumnAlign = 64

// ColumnStride is how long the columns of so many rows are; what is behind the rows is zero.
func ColumnStride(rows int) int { return (rows + ColumnAlign - 1) / ColumnAlign * ColumnAlign }

// Pair is two elements of a query's code, and which they are: the first in the lower half.
type Pair struct {
	A, B  uint32
	Codes uint32
}

// AppendPairs appends the elements of a query that are not zero, and zeros where another
// one is wanted for a pair.
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

// Columns sets out[i] to the query times the code of row i, summed: codes begins with the
// row's first element, its others follow at multiples of stride. There are as many rows
// as out has room for, a multiple of ColumnAlign. Whoever calls sees to all of it.
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
