// Package vector finds the intents whose embeddings are nearest to a vector, and
// keeps for each intent the earlier ones that are most like it.
//
// A caller may rely on this:
//
//   - Only vectors of one embedder are compared with each other: a shard has a
//     *space* for each embedder's name, with an index of its own.
//   - An intent is one *run*; runs of the same content (Intent.content_hash) with
//     the same vector are one *row* of the index. Most of a history is such
//     repeats: a run costs 16 bytes. A content with two stated intents has two
//     vectors and so two rows; Query.Distinct makes one hit of them.
//   - A run is found as soon as its batch has been applied. Rows go into the graph
//     one by one in log order, at once: 0.1 ms each, so that there is no second kind
//     of row to search, and the state is a function of the log however it was
//     batched. Small spaces are compared in whole (index.Options.ScanBelow).
//   - An event is taken in once in its partition, at the first offset it was seen.
//     Intents without an embedding are of no concern. An embedding that cannot be
//     indexed (index.Check: NaN, Inf, zero, other than unit length or dimension)
//     makes the record one that can never be applied (projections.RecordError).
//   - The same log gives the same sealed files, byte for byte, however it was
//     batched and whatever crashes there were. The backend coder, whose graph differs
//     from run to run, keeps none in files: it is made anew at each Open, and what a
//     new row is like is found by comparing it with all.
//   - A file is checked before it is believed, all of it when it is opened. Damage is
//     a *CorruptError that names file and region. Opening does not make anything
//     anew that is sealed: it reads.
//
// On disk, below the directory of the projection:
//
//	recount.commands-0/            one folder a partition, topic-partition
//	    00000000.step.vec          the runs of a step and the rows new with them,
//	    00000001.step.vec          without gaps, never changed
//	    00000001.links.vec         the indexes' links after the last step
//	    000-00000000.chunk.vec     1,024 vectors: space, number of the chunk
//	    tail.vec                   checkpoint of what no step has: only a shortcut
//	    00000002.step.vec.tmp      what a crash may leave; Open removes it
//
// A step is sealed by the run that makes it SealRows long, a chunk by the row that
// fills it, and by nothing else. The rename of a step's file moves state and
// position in one step: the links of that moment are in place before it, the
// chunks before those, and what a crash leaves of either without the step is
// removed. What came after the last step is read from the log again, or taken
// from the checkpoint, if there is one that continues that step and whose every
// byte holds.
//
// # Files
//
// All are little-endian: a header, regions at multiples of 64 bytes, the
// directory at the next such multiple, and at the next again the trailer, which
// ends the file. Padding is zeros.
//
//	header                            trailer
//	  0  magic "RECOVEC1"               0  SHA-256 of all before the trailer
//	  8  version, uint32               32  regions, uint32
//	 12  kind, uint32: 1 step,         36  CRC32C of the directory, uint32
//	     2 links, 3 chunk, 4 tail      40  zero
//	 16  sequence, uint64              52  magic
//	 24  partition, uint32             60  CRC32C of the trailer's first 60 bytes
//	 28  space, uint32
//	 32  base, int64                   directory entry, one a region
//	 40  next, int64                     0  tag, 4 bytes
//	 48  directory's place, uint64       4  space, uint32; 0xffffffff: of the shard
//	 56  length of the file, uint64      8  place, uint64
//	 64  zero                           16  length, uint64
//	124  CRC32C of the first 124        24  CRC32C of the region, uint32
//	     bytes                          28  zero
//
// A step covers the offsets from base up to next. Regions, by tag; a file of any
// kind has the first two, a tail those of a step and of links:
//
//	"para"  all    the options that the state depends on, as text
//	"topc"  all    the topic
//	"ids "  step   of each run: its event's id, 16 bytes
//	"ordr"  step   runs in the order of their ids, uint32
//	"blom"  step   Bloom filter over the ids (package sealed)
//	"offs"  step   of each run: its offset, int64
//	"spcs"  step   of each run: its space, uint32
//	"rows"  step   of each run: its row in the space, uint32
//	"name"  step   of a space: the embedder
//	"keys"  step   of each new row of a space: xxh3 of its vector's bytes, seeded
//	               with the content hash, uint64
//	"cont"  step   likewise: the content hash, uint64
//	"like"  step   likewise: the SimilarK earlier rows most like it, uint32 each,
//	               0xffffffff where there are fewer
//	"cos "  step   likewise: their cosines, float32
//	"link"  links  of a space: what index.AppendLinks gives
//	"part"  links  of a space: the rows of its last chunk, if that is not full:
//	               codes, vectors, scales of as many rows, as in a chunk
//	"chnk"  chunk  a chunk as package rows describes it
//
// In memory a run has its offset, its row and the run before it of the same row;
// a row has its key, its content, what it is like, the newest run, the newest row
// that is like it, and a place in a hash table: about 300 bytes with its links. All
// of it is made from the steps when they are opened. Ids are in memory for the
// tail only; those of steps are looked for in the mapped files.
package vector
