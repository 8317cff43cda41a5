// Package vector finds the intents whose embeddings are nearest to a vector, and stores for each
// intent the earlier ones that are most similar. It also finds passages of agents' objects, for
// which it stores no similar ones.
//
// For intents a caller may rely on the following:
//
//   - Only vectors of one embedder are compared with each other: a shard has a *space* for each
//     embedder's name, with an index of its own.
//   - An intent is one *run*; runs of the same content (Intent.content_hash) with the same vector
//     are one *row* of the index. A history consists largely of such repeats, and a run costs only
//     16 bytes. A content with two stated intents has two vectors and so two rows; Query.Distinct
//     merges them into one hit.
//   - A run can be found as soon as its batch has been applied. Rows are added to the graph one by
//     one in log order, at once. This takes 0.1 ms each. So there is no second kind of row to
//     search, and the state is a function of the log however it was batched. Small spaces are
//     searched by comparing all rows (index.Options.ScanBelow).
//   - An event is stored once in its partition, at the first offset at which it was seen. Intents
//     without an embedding are ignored. A record whose embedding cannot be indexed (index.Check:
//     NaN, Inf, zero, not of unit length or of another dimension) can never be applied
//     (projections.RecordError).
//   - The same log gives the same sealed files, byte for byte, however it was batched and whatever
//     crashes there were. The backend coder, whose graph differs from run to run, stores none of
//     it: the graph is rebuilt at each Open, and the rows similar to a new one are found by
//     comparing it with all.
//   - The whole content of a file is checked when it is opened. Damage is a *CorruptError that
//     names file and region. Opening rebuilds nothing that is sealed: it reads.
//
// For objects:
//
//   - Only vectors of one embedder and one audience (schemas.Audience) are compared: they form a
//     space. A search visits the spaces that it names; no other space affects its answer, its
//     counts or its duration.
//   - A passage (Object.parts) is a run; passages of a space with the same vector, bit by bit, are
//     one row.
//   - A passage can be found as soon as its batch has been applied: a search compares codes one by
//     one and then vectors. Appending takes a hundredth of the time of linking a row. When a space
//     has 16,384 sealed rows, they are linked in the background (linker) while nothing is appended
//     in bulk (pace); a search walks the linked rows and scans the rest. A search for a vector of
//     few elements scans everything, up to some hundred thousand rows. Nothing waits for links, and
//     losing them loses nothing else.
//   - Rows are numbered in the order of the log, so the rows at a watermark are the first ones. If
//     a space is scanned, an answer below a watermark is the answer that there was then.
//   - The same log gives the same steps, byte for byte. The links of a number of rows are a
//     function of these rows; how many rows are linked is not part of the state.
//
// On disk, below the directory of the projection:
//
//	recount.commands-0/            one folder a partition, topic-partition
//	    00000000.step.vec          the runs of a step and the rows new with them,
//	    00000001.step.vec          without gaps, never changed
//	    00000001.links.vec         the indexes' links after the last step
//	    000-00000000.chunk.vec     1,024 vectors: space, number of the chunk
//	    tail.vec                   checkpoint of what no step has: only a shortcut;
//	                               compressed by zstd (sealed.ReplacePacked)
//	    00000002.step.vec.tmp      what a crash may leave; Open removes it
//
//	recount.agents-0/
//	    00000000.objects.vec       the runs of a step, and the rows new with them with
//	                               their vectors, of all spaces; never changed
//	    tail.vec                   as above
//	    00000007-00000000.codes.vec  codes of 16,384 rows of space 7, in the form that
//	                               its graph reads
//	    00000007.links.vec         the links of that graph, up to some multiple of
//	                               16,384 rows
//
// A step of objects is sealed by the event that makes it an eighth of SealRows long (their vectors
// are in memory until then), and its rename advances state and position. Codes and links are
// written again when they are missing or damaged.
//
// A step of commands is sealed by the run that makes it SealRows long, a chunk by the row that
// fills it, and by nothing else. The rename of a step's file advances state and position in one
// step. The links as of the step are in place before it, and the chunks before those; if a crash
// leaves either without the step, they are removed. What came after the last step is read from the
// log again, or from the checkpoint, if there is one that continues that step and is undamaged.
//
// # Files
//
// All are little-endian: a header, regions at multiples of 64 bytes, the directory at the next such
// multiple, and the trailer, which ends the file, at the next after that. Padding is zeros.
//
//	header                            trailer
//	  0  magic "RECOVEC1"               0  SHA-256 of all before the trailer
//	  8  version, uint32               32  regions, uint32
//	 12  kind, uint32: 1 step,         36  CRC32C of the directory, uint32
//	     2 links, 3 chunk, 4 tail,     40  zero
//	     of objects: 5 step, 6 tail,
//	     7 codes, 8 links
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
// A step covers the offsets from base up to next. The regions, by tag, are as follows. Every file
// has the first two; a tail has those of a step and of links:
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
//	"like"  step   likewise: the SimilarK most similar earlier rows, uint32 each,
//	               0xffffffff if there are fewer
//	"cos "  step   likewise: their cosines, float32
//	"link"  links  of a space: the result of index.AppendLinks
//	"part"  links  of a space: the rows of its last chunk, if that is not full:
//	               codes, vectors, scales of as many rows, as in a chunk
//	"chnk"  chunk  a chunk as package rows describes it
//
// For objects, a step numbers rows and runs over the whole shard. Rows are grouped by space and
// follow the order of the log within one. A tail has the same regions:
//
//	"ids "  step   of each event: its id, 16 bytes
//	"offs"  step   of each run: its offset, int64
//	"indx"  step   of each run: the object's number in its event, uint32
//	"prts"  step   of each run: the part's number in its object, uint32
//	"rows"  step   of each run: its row in the shard, uint32
//	"keys"  step   of each new row: xxh3 of its vector's bytes, seeded with xxh3 of
//	               the embedder xor the audience's first 8 bytes, uint64
//	"frst"  step   of each new row: its first run, of those of the step, uint32
//	"grps"  step   pairs of uint32: a space that has new rows, how many
//	"audi"  step   of each new space: the audience, 16 bytes
//	"embd"  step   of each new space: the embedder's number in the shard, uint32
//	"name"  step   an embedder that is new; its space is its number among these
//	"code"  step   of each new row: its code, 384 int8, by element: of 1,024 rows, or
//	               those that are left, the first of each, then the second of each,
//	               each followed by zeros up to a multiple of 64
//	"scal"  step   of each new row: its scale, float32 (package rows)
//	"vecs"  step   of each new row: its vector, 384 float32
//	"code"  codes  chunks of codes and scales, as rows.NewCodes has them
//	"link"  links  the result of flat.AppendLinks; the header's next is the number of rows
//
// In memory a run has its offset, its row and the previous run of the same row; a row has its key,
// its content, the rows similar to it, the newest run, the newest row similar to it, and a slot in
// a hash table: about 300 bytes with its links. All of it is computed from the steps when they are
// opened. Ids are in memory only for the tail; those of steps are looked up in the mapped files.
//
// For objects, a sealed row has its newest run and a slot in a hash table in memory, an event a
// slot, and a run the previous one of the same row; a space with a few rows takes some 300 bytes.
// The rest is read from the mapped steps. A linked row also has its links in memory, 75 bytes.
package vector
