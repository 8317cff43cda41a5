package wire

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"
)

// These bound what a session remembers of the rows that it sent, and from how many equal rows on they
// are repeated by their places: a reader finds a few rows quicker than it counts to them.
const (
	maxRepeated     = 32 // lists
	maxRepeatedRows = 2000
	minRepeatedRow  = 4
)

// run is a number of rows that an earlier list of the session has in this order.
type run struct {
	at, n int    // in the list that is written
	list  uint32 // the earlier list, and its row
	row   int
}

// text returns the line that stands for the rows.
func (r run) text() string {
	return "&" + strconv.Itoa(int(r.list)) + ":" + strconv.Itoa(r.row+1) + "-" + strconv.Itoa(r.row+r.n)
}

// sentList is a list that the other side has: the hashes of its rows.
type sentList struct {
	number uint32
	rows   [][16]byte
}

// sentLists are the last lists of a session, the oldest first.
type sentLists struct {
	all  []sentList
	rows int
	at   map[[16]byte]place // of each row, the newest
}

type place struct {
	list uint32
	row  int
}

// add remembers a list and forgets the oldest ones.
func (s *sentLists) add(l sentList) {
	s.all = append(s.all, l)
	s.rows += len(l.rows)
	for len(s.all) > maxRepeated || s.rows > maxRepeatedRows {
		s.rows -= len(s.all[0].rows)
		s.all = s.all[1:]
	}
	s.at = make(map[[16]byte]place, s.rows)
	for _, l := range s.all {
		for i, row := range l.rows {
			s.at[row] = place{l.number, i}
		}
	}
}

// runs finds the rows of a list that were sent, as far as they stand together there and here.
func (s *sentLists) runs(rows [][16]byte) (all []run) {
	for i := 0; i < len(rows); {
		n := 1
		if p, known := s.at[rows[i]]; known {
			of := slices.IndexFunc(s.all, func(l sentList) bool { return l.number == p.list })
			for before := s.all[of].rows; i+n < len(rows) && p.row+n < len(before) && rows[i+n] == before[p.row+n]; {
				n++
			}
			if n >= minRepeatedRow {
				all = append(all, run{i, n, p.list, p.row})
			}
		}
		i += n
	}
	return all
}

// rowHashes returns a hash of each row of a list with its columns.
func rowHashes(l List) [][16]byte {
	columns := sha256.New()
	put := func(s string) {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(s)))
		columns.Write(size[:])
		columns.Write([]byte(s))
	}
	for _, c := range l.Columns {
		put(c)
	}
	head := columns.Sum(nil)
	out := make([][16]byte, len(l.Rows))
	for i, r := range l.Rows {
		columns.Reset()
		columns.Write(head)
		put(strconv.Itoa(len(r.Nodes)))
		for _, n := range r.Nodes {
			id := n.hash()
			columns.Write(id[:])
		}
		for _, v := range r.Values {
			put(v)
		}
		copy(out[i][:], columns.Sum(nil))
	}
	return out
}
