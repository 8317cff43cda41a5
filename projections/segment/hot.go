package segment

import (
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// hot is the unsealed rows of a shard. One goroutine appends; readers use copies of its columns
// that it has published.
type hot struct {
	columns
	base  int64  // the offset the segment starts at
	bytes uint64 // the size of its rows for sealing by size
	ids   hotIDs
	// values finds the index of a dictionary's text; seen that of an embedding, by its hash.
	values [nDict]texts
	seen   map[uint64]int32
	packed []uint32 // a buffer for one packed embedding
	// ordered is true while rows arrive in the order of their times, as nearly always.
	ordered bool
}

// hotIDs finds the row of an id: in the checkpoint, by the order of its ids, or among those that were
// added since.
type hotIDs struct {
	order []uint32
	added map[schemas.EventID]int32
}

// find returns the row of an id, -1 if there is none; ids are those of all rows.
func (x *hotIDs) find(ids []schemas.EventID, id schemas.EventID) int {
	if row, ok := x.added[id]; ok {
		return int(row)
	}
	return sealed.FindID(ids, x.order, id)
}

func newHot(base int64) *hot {
	h := &hot{base: base, ids: hotIDs{added: map[schemas.EventID]int32{}}, seen: map[uint64]int32{}, ordered: true}
	for i := range h.text {
		h.text[i].off = []int32{0}
	}
	for i := range h.dict {
		h.dict[i].val.off = []int32{0}
	}
	for i := range h.list {
		h.list[i] = []int32{0}
	}
	for _, v := range []*validity{&h.hasExit, &h.hasDuration, &h.hasParent, &h.hasEmbedding} {
		v.flags = []bool{}
	}
	return h
}

// Sizes that a row counts for sealing by size: what its fields take in a file if it shared nothing
// with other rows. They must depend on nothing but the record.
const (
	rowFixedBytes     = 160
	rowItemBytes      = 12
	rowEmbeddingBytes = schemas.EmbeddingDim * 4
	maxRowBytes       = 512 << 20
	maxSealBytes      = 1 << 30 // one row more still fits int32 ends of strings
	maxSealRows       = 1 << 24
)

// rowBytes returns the size of a record for sealing by size.
func rowBytes(in *recountv1.Intent) uint64 {
	n := rowFixedBytes + len(in.Command) + len(in.StatedIntent) + len(in.OutputTail)
	for _, s := range rowTexts(in) {
		n += len(s)
	}
	for _, list := range [2][]string{in.Programs, in.Concepts} {
		for _, s := range list {
			n += rowItemBytes + len(s)
		}
	}
	for _, r := range in.Resources {
		n += rowItemBytes + len(r.GetName())
	}
	for _, t := range in.Tokens {
		n += rowItemBytes + len(t.GetText())
	}
	if len(in.Embedding) > 0 {
		n += rowEmbeddingBytes
	}
	return uint64(n)
}

// rowTexts returns a row's repeating texts in the order of the dict constants.
func rowTexts(in *recountv1.Intent) [nRowDict]string {
	return [nRowDict]string{
		dictWorkspace: in.Workspace, dictCwd: in.Cwd, dictSession: in.Session, dictShell: in.Shell, dictUser: in.User,
		dictHost: in.Host, dictAuthor: in.Author, dictTemplate: in.Template, dictGitHead: in.GitHead, dictEmbedder: in.Embedder,
	}
}

// append adds a record that checkIntent has accepted. The caller adds its id.
func (h *hot) append(r *recountv1.Record, in *recountv1.Intent) {
	id := schemas.EventID(r.EventId)
	if h.n == 0 {
		h.minTime, h.maxTime = in.TimeUnixNano, in.TimeUnixNano
	} else {
		h.ordered = h.ordered && in.TimeUnixNano >= h.time[h.n-1]
		h.minTime, h.maxTime = min(h.minTime, in.TimeUnixNano), max(h.maxTime, in.TimeUnixNano)
	}
	h.id = append(h.id, id)
	h.offset = append(h.offset, r.Origin.Offset)
	h.time = append(h.time, in.TimeUnixNano)
	h.eventTime = append(h.eventTime, r.TimeUnixNano)
	h.text[textCommand].append(in.Command)
	h.text[textStatedIntent].append(in.StatedIntent)
	h.text[textOutputTail].append(in.OutputTail)
	for i, s := range rowTexts(in) {
		h.intern(i, s)
	}
	h.category = append(h.category, enum(int32(in.Category), schemas.CategoryNames))
	h.confidence = append(h.confidence, in.Confidence)
	h.complexity = append(h.complexity, in.Complexity)
	h.exitCode = append(h.exitCode, in.GetExitCode())
	h.hasExit.flags = append(h.hasExit.flags, in.ExitCode != nil)
	h.duration = append(h.duration, max(in.DurationNano, 0))
	h.hasDuration.flags = append(h.hasDuration.flags, in.DurationNano >= 0)
	h.contextHash = append(h.contextHash, in.ContextHash)
	h.contentHash = append(h.contentHash, in.ContentHash)
	var parent schemas.EventID
	copy(parent[:], in.ParentId)
	h.parent = append(h.parent, parent)
	h.hasParent.flags = append(h.hasParent.flags, !parent.IsZero())
	for _, s := range in.Programs {
		h.intern(dictProgram, s)
	}
	for _, s := range in.Concepts {
		h.intern(dictConcept, s)
	}
	for _, res := range in.Resources {
		h.resourceKind = append(h.resourceKind, enum(int32(res.GetKind()), schemas.ResourceKindNames))
		h.resourceAccess = append(h.resourceAccess, enum(int32(res.GetAccess()), schemas.AccessNames))
		h.intern(dictResource, res.GetName())
	}
	for _, t := range in.Tokens {
		h.tokenKind = append(h.tokenKind, enum(int32(t.GetKind()), schemas.TokenKindNames))
		h.tokenOffset = append(h.tokenOffset, t.GetOffset())
		h.intern(dictToken, t.GetText())
	}
	for list, dict := range listItems {
		h.list[list] = append(h.list[list], int32(len(h.dict[dict].idx)))
	}
	h.hasEmbedding.flags = append(h.hasEmbedding.flags, len(in.Embedding) > 0)
	h.embedding = append(h.embedding, h.vector(in.Embedding))
	h.bytes += rowBytes(in)
	h.n++
}

// listItems maps each list to the dictionary column that holds its items.
var listItems = [nList]int{listPrograms: dictProgram, listConcepts: dictConcept, listResources: dictResource, listTokens: dictToken}

// enum returns n, or 0 (unspecified) if this program does not know it. names are the names of the
// enumeration.
func enum(n int32, names []string) int8 {
	if n < 0 || int(n) >= len(names) {
		return 0
	}
	return int8(n)
}

// intern appends a text to a dictionary column.
func (h *hot) intern(dict int, s string) {
	d := &h.dict[dict]
	if n := len(d.idx); n > 0 && d.at(n-1) == s {
		d.idx = append(d.idx, d.idx[n-1])
		return
	}
	i, ok := h.values[dict].index(&d.val, s)
	if !ok {
		i = int32(d.val.len())
		d.val.append(s)
		h.values[dict].add(&d.val, i)
	}
	d.idx = append(d.idx, i)
}

// vector stores an embedding unless the segment has an equal one, as it does for a repeated
// command, and returns its index.
func (h *hot) vector(e []float32) int32 {
	if len(e) == 0 {
		return 0
	}
	h.packed = sealed.Pack(h.packed[:0], e)
	key := xxh3.Hash(sealed.BytesOf(h.packed))
	i, ok := h.seen[key]
	if ok && slices.Equal(h.vectors.packed(int(i)), h.packed) {
		return i
	}
	i = int32(h.vectors.n)
	h.vectors.append(h.packed)
	if !ok {
		h.seen[key] = i
	}
	return i
}

// restore returns the hot buffer from which a checkpoint was written. Its columns stay in the file:
// they have no room behind them, so that the first append copies them.
func restore(f *file) *hot {
	h := newHot(f.h.Base)
	h.columns, h.bytes, h.ids.order = f.cols, f.h.RowBytes, f.idx.idOrder
	h.ordered = slices.IsSorted(h.time)
	for _, v := range []*validity{&h.hasExit, &h.hasDuration, &h.hasParent, &h.hasEmbedding} {
		*v = v.toFlags(h.n)
	}
	for i := range h.dict {
		for k := range h.dict[i].val.len() {
			h.values[i].add(&h.dict[i].val, int32(k))
		}
	}
	for i := range h.vectors.n {
		h.seen[xxh3.Hash(sealed.BytesOf(h.vectors.packed(i)))] = int32(i)
	}
	return h
}

// toFlags returns the first n rows in the form of the hot buffer.
func (v *validity) toFlags(n int) validity {
	flags := make([]bool, n)
	for i := range flags {
		flags[i] = v.at(i)
	}
	return validity{flags: flags}
}
