// Package vector finds the intents whose embeddings are nearest to a vector, and
// keeps for each intent the earlier ones that are most like it. It does the same for
// the passages of agents' objects, without what they are like.
//
// A caller may rely on this, of intents:
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
// And of objects:
//
//   - Only vectors of one embedder and one audience (schemas.Audience) are compared:
//     they are a space. A search visits the spaces that it names, and no other has a
//     part in its answer, in what it counts or in what it takes.
//   - A passage (Object.parts) is a run; passages of a space with the same vector,
//     bit by bit, are one row.
//   - A passage is found as soon as its batch has been applied, by comparing codes
//     one by one and then vectors: that takes a hundredth of what linking a row does.
//     Where a space has 16,384 sealed rows, they are linked in the background (linker)
//     while nothing is appended in bulk (pace); a search walks what is linked and scans
//     the rest. One for a vector of few elements scans all, up to some hundred thousand
//     rows. Nothing waits for links, and nothing is lost with them.
//   - Rows are numbered in the order of the log, so what there was at a watermark is
//     the first of them. Where a space is scanned, an answer below a watermark is the
//     answer that there was then.
//   - The same log gives the same steps, byte for byte. Links of so many rows are a
//     function of these rows; how far linking has come is not part of the state.
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
//	    00000007-00000000.codes.vec  codes of 16,384 rows of space 7, as its graph
//	                               reads them
//	    00000007.links.vec         the links of that graph, up to some multiple
//
// A step of objects is sealed by the event that makes it an eighth of SealRows long
// (their vectors are in memory until then), and moves state and position by its
// rename. Codes and links are written again when they are missing or damaged.
//
// A step of commands is sealed by the run that makes it SealRows long, a chunk by the row that
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
// Of objects, whose steps number rows and runs over the shard; rows stand by space,
// and those of a space in the order of the log. A tail has the same regions:
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
//	               each with zeros behind it up to a multiple of 64
//	"scal"  step   of each new row: its scale, float32 (package rows)
//	"vecs"  step   of each new row: its vector, 384 float32
//	"code"  codes  chunks of codes and scales, as rows.NewCodes has them
//	"link"  links  what flat.AppendLinks gives; the header's next is how many rows
//
// In memory a run has its offset, its row and the run before it of the same row;
// a row has its key, its content, what it is like, the newest run, the newest row
// that is like it, and a place in a hash table: about 300 bytes with its links. All
// of it is made from the steps when they are opened. Ids are in memory for the
// tail only; those of steps are looked for in the mapped files.
//
// Of objects a sealed row has its newest run and a place in a hash table in memory,
// an event likewise, a run the one before it of the same row; a space with a few
// rows some 300 bytes. The rest is read from the mapped steps. A linked row has its
// links in memory besides, 75 bytes.
package vector
