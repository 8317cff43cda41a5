package segment

import (
	"unsafe"

	"github.com/recountdb/recount/schemas"
)

// columns is a table of intents in Arrow's memory layout. The hot buffer's are
// on the heap, a sealed segment's are views of its mapped file; whatever reads
// rows reads columns and need not know which.
//
// The hot buffer only ever appends behind n, so that a copy of the struct is a
// snapshot: its slices stay as they are.
type columns struct {
	n int

	id, parent       []schemas.EventID
	offset           []int64
	time, eventTime  []int64
	text             [nText]utf8Column
	dict             [nDict]dictColumn
	list             [nList][]int32 // ends of the lists, n+1
	category         []int8
	confidence       []float32
	complexity       []uint32
	exitCode         []int32
	duration         []int64
	contextHash      []uint64
	contentHash      []uint64
	resourceKind     []int8
	resourceAccess   []int8
	tokenKind        []int8
	tokenOffset      []uint32
	hasExit          validity
	hasDuration      validity
	hasParent        validity
	hasEmbedding     validity
	embedding        []int32 // into vectors; 0 where there is none
	vectors          vectors
	minTime, maxTime int64
}

// Texts that rarely repeat.
const (
	textCommand = iota
	textStatedIntent
	textOutputTail
	nText
)

// Texts that repeat. The last four belong to items of lists, the others to rows.
const (
	dictWorkspace = iota
	dictCwd
	dictSession
	dictShell
	dictUser
	dictHost
	dictAuthor
	dictTemplate
	dictGitHead
	dictEmbedder
	dictProgram
	dictConcept
	dictResource
	dictToken
	nDict
	nRowDict = dictProgram
)

const (
	listPrograms = iota
	listConcepts
	listResources
	listTokens
	nList
)

var (
	textColumns = [nText]schemas.TBFColumn{schemas.TBFCommand, schemas.TBFStatedIntent, schemas.TBFOutputTail}
	dictColumns = [nDict]schemas.TBFColumn{
		schemas.TBFWorkspace, schemas.TBFCwd, schemas.TBFSession, schemas.TBFShell, schemas.TBFUser, schemas.TBFHost,
		schemas.TBFAuthor, schemas.TBFTemplate, schemas.TBFGitHead, schemas.TBFEmbedder,
		schemas.TBFPrograms, schemas.TBFConcepts, schemas.TBFResourceName, schemas.TBFTokenText,
	}
	listColumns = [nList]schemas.TBFColumn{schemas.TBFPrograms, schemas.TBFConcepts, schemas.TBFResources, schemas.TBFTokens}
)

// utf8Column holds strings back to back; off has one entry more than strings.
type utf8Column struct {
	off  []int32
	data []byte
}

func (c *utf8Column) len() int { return len(c.off) - 1 }

// at is a view: good as long as the columns are.
func (c *utf8Column) at(i int) string {
	b := c.data[c.off[i]:c.off[i+1]]
	return unsafe.String(unsafe.SliceData(b), len(b))
}

func (c *utf8Column) append(s string) {
	c.data = append(c.data, s...)
	c.off = append(c.off, int32(len(c.data)))
}

// dictColumn holds an index into its distinct values for each row or item.
type dictColumn struct {
	idx []int32
	val utf8Column
}

func (c *dictColumn) at(i int) string { return c.val.at(int(c.idx[i])) }

// validity says which rows have a value: as Arrow's bitmap in a file, and a byte
// a row in the hot buffer, where a bit would share its byte with rows that
// readers already look at.
type validity struct {
	bits  []byte
	flags []bool
}

func (v *validity) at(i int) bool {
	if v.flags != nil {
		return v.flags[i]
	}
	return v.bits[i>>3]>>(i&7)&1 == 1
}

// bitmap is the first n rows as Arrow's bitmap.
func (v *validity) bitmap(n int) []byte {
	if v.flags == nil {
		return v.bits
	}
	b := make([]byte, (n+7)/8)
	for i, ok := range v.flags[:n] {
		if ok {
			b[i>>3] |= 1 << (i & 7)
		}
	}
	return b
}

// span is where the items of a row's list lie.
func (c *columns) span(list, row int) (lo, hi int) {
	return int(c.list[list][row]), int(c.list[list][row+1])
}
