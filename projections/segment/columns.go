package segment

import (
	"unsafe"

	"github.com/recountdb/recount/schemas"
)

// columns is a table of intents in Arrow's memory layout. The columns of the hot buffer are on the
// heap; those of a sealed segment are views of its mapped file. Code that reads rows need not know
// which it reads.
//
// The hot buffer only appends after n, so a copy of the struct is a snapshot: the rows below its n
// never change.
type columns struct {
	n int

	id, parent       []schemas.EventID
	offset           []int64
	time, eventTime  []int64
	text             [nText]utf8Column
	dict             [nDict]dictColumn
	list             [nList][]int32 // n+1 ends of each row's items
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
	embedding        []int32 // index into vectors; 0 if the row has none
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

// utf8Column holds strings back to back; off has one entry more than there are strings.
type utf8Column struct {
	off  []int32
	data []byte
}

func (c *utf8Column) len() int { return len(c.off) - 1 }

// at returns the i-th string as a view of the column, valid as long as the columns are.
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

// validity says which rows have a value. In a file it is Arrow's bitmap. In the hot buffer it is a
// byte a row, because a bit would share its byte with rows that readers already look at.
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

// bitmap returns the first n rows as Arrow's bitmap.
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

// span returns the range of the items of a row's list.
func (c *columns) span(list, row int) (lo, hi int) {
	return int(c.list[list][row]), int(c.list[list][row+1])
}
