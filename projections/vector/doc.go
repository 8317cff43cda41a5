// Package vector finds the commands and the passages of agents' objects whose embeddings are nearest
// to a vector, and stores for each command the earlier ones that are most similar.
//
// One engine keeps both. A partition is a shard. A passage is a text with an embedding: a command's
// intent, or a part of an object (Object.parts). A caller may rely on the following:
//
//   - Only vectors of one embedder and one audience (schemas.Audience) are compared with each other:
//     they form a space. Commands have no audience. A search visits the spaces that it names; no
//     other space affects its answer, its counts or its duration.
//   - A passage is a run. Runs of a space with the same vector, and of commands also the same content
//     (Intent.content_hash), are one row. A shell history consists largely of such repeats, and a
//     repeat costs 28 bytes in files and 20 in memory. A content with two stated intents has two
//     vectors and so two rows; Query.Distinct merges them into one hit.
//   - A passage can be found as soon as its batch has been applied.
//   - Rows are numbered in the order of the log, so the rows at a watermark are the first ones.
//   - An event is stored once in its partition, at the first offset at which it was seen. Events
//     without an embedding are ignored. A record whose embedding cannot be indexed (index.Check:
//     NaN, Inf, zero, not of unit length or of another dimension) can never be applied
//     (projections.RecordError).
//   - The same log gives the same steps, byte for byte, however it was batched and whatever crashes
//     there were. The links of a number of rows are a function of these rows (of the backend flat),
//     and not part of the state: losing them loses nothing else.
//   - The content of a step is checked when it is opened, and the vector of a command when it is first
//     read. Damage is a *CorruptError that names file and region.
//
// What differs between commands and objects (source):
//
//   - Rows of commands are linked into the graph as they are added, at 0.1 ms each, since the search
//     for links also finds the similar rows that are stored. Spaces with few rows are searched by
//     comparing all of them (index.Options.ScanBelow). The backend coder, whose graph differs from
//     run to run, finds similar rows by comparing the new row with all others.
//   - Rows of objects are appended, which takes a hundredth of that time. A search compares codes one
//     by one and then vectors. When a space has 16,384 sealed rows, they are linked in the background
//     (linker) while nothing is appended in bulk (throttle); a search walks the linked rows and scans
//     the rest. A search for a vector of few elements scans everything, up to some hundred thousand
//     rows. If a space is scanned, an answer below a watermark is the answer that there was then.
//
// On disk, below the directory of the projection:
//
//	recount.commands-0/              one folder a partition, topic-partition
//	    00000000.step.vec            the runs of a step and the rows new with them, with their
//	    00000001.step.vec            vectors, of all spaces; without gaps, never changed
//	    tail.vec                     checkpoint of what no step has: only a shortcut
//	    codes-00000007-00000000.vec  codes of 16,384 rows of space 7, in the form that its
//	                                 graph reads
//	    links-00000007.vec           the links of that graph, up to some row
//	    00000002.step.vec.tmp        what a crash may leave; Open removes it
//
// A step is sealed by the event that makes it SealRows runs long (its vectors are in memory until
// then), and its rename advances state and position. Codes and links are checked before they are used
// and built again when they are missing, damaged or of other rows. The links of commands are stored by
// Flush, and when a step is sealed that makes the graph a file of codes and an eighth longer; Open
// links the rows that came later. What came after the last step is read from the
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
//	     2 tail, 3 codes, 4 links      40  zero
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
// A step covers the offsets from base up to next. It numbers rows and runs over the whole shard. Its
// rows are grouped by space and follow the order of the log within one. The regions, by tag, are as
// follows. Every file has the first two; a tail has those of a step, but for its vectors:
//
//	"para"  all    the options that the state depends on, as text
//	"topc"  all    the topic
//	"ids "  step   of each event: its id, 16 bytes
//	"offs"  step   of each run: its offset, int64
//	"indx"  step   of each run: the object's number in its event, uint32; 0 of a command
//	"prts"  step   of each run: the part's number in its object, uint32; 0 of a command
//	"rows"  step   of each run: its row in the shard, uint32
//	"keys"  step   of each new row: xxh3 of its vector's bytes, uint64; seeded with the
//	               content hash, of objects with xxh3 of the embedder xor the audience's
//	               first 8 bytes
//	"frst"  step   of each new row: its first run, of those of the step, uint32
//	"grps"  step   pairs of uint32: a space that has new rows, how many
//	"audi"  step   of each new space: the audience, 16 bytes
//	"embd"  step   of each new space: the embedder's number in the shard, uint32
//	"name"  step   an embedder that is new; its space is its number among these
//	"vecs"  step   of each new row: its vector, 384 float32; not in a tail
//	"pvec"  tail   instead: its vector without the zeros (sealed.Pack)
//	"cont"  step   of each new row of commands: the content hash, uint64
//	"like"  step   likewise: the SimilarK most similar earlier rows of other contents, by
//	               their number in the space, uint32 each, 0xffffffff if there are fewer
//	"cos "  step   likewise: their cosines, float32
//	"code"  step   of each new row of objects: its code, 384 int8, by element: of 1,024 rows,
//	               or those that are left, the first of each, then the second of each, each
//	               followed by zeros up to a multiple of 64
//	"scal"  step   likewise: its scale, float32 (package rows)
//	"code"  codes  chunks of codes and scales, as package rows describes them
//	"link"  links  the result of flat.AppendLinks; the header's next is the number of rows
//	"code"  links  the chunks of rows that are in no file of codes
//	"keys"  codes, links: xxh3 of the keys of the rows that the file is about, uint64
//
// In memory, an event of a step has a slot in a hash table; a row has its newest run, a slot in a hash
// table, and of commands the chains of similar (similar); a run has a link to an earlier one of its row
// and two numbers (chains); a linked row has its code's links, about 75 bytes of objects and 140 of
// commands; a space with a few rows takes some 300 bytes. The rest is read from the mapped files.
package vector
