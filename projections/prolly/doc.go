// Package prolly keeps ordered maps from byte strings to byte strings whose shape
// depends on what they hold and on nothing else: prolly trees, search trees in which
// content decides where a node ends. It is the store below the snapshots of package
// graph, and knows nothing of graphs.
//
// What a caller may rely on:
//
//   - A map is named by its root, a SHA-256. The same entries have the same root and
//     the same chunks, whatever the order and the batches in which they were set and
//     deleted; Apply gives the root that Build gives.
//   - A map never changes. Apply makes another one that shares the chunks that are
//     alike, and reads and writes O(edits · log n) chunks. Diff reads only what differs.
//   - A root proves things to who has nothing but the root: Prove shows that a key is
//     there with a value, or that it is not there, in a kilobyte or two; Verify checks
//     that offline.
//   - Everything may be called by many goroutines at once. What is handed out is parts
//     of decoded chunks: it must not be written to, and stays as it is.
//   - Damage is an error that names the chunk (ChunkError, ErrDamaged), never a panic.
//     Reading checks a checksum, the form of a chunk and that it fits the link that
//     led to it; Check computes every hash anew.
//   - Nothing is ever deleted but by Marks.Sweep. A crash in the middle of Build or
//     Apply leaves chunks that no root leads to, and no other harm.
//
// # Where chunks end
//
// The entries of a level, in the order of their keys, are cut into chunks from left to
// right. A chunk ends behind its n-th entry
//
//   - if n is MaxEntries, or its keys and values have 24 KiB or more together; else
//   - if n is MinEntries or more, and the upper 32 bits of xxh3(key, seed = level) are
//     below n · 26,340,229, which makes 16 entries on average. The chance of that grows
//     with the length, so that lengths scatter less than with a fixed chance: a changed
//     entry is more often in a long chunk than in a short one, and that is what an edit
//     costs.
//
// Only the key is hashed. So a changed value never moves a boundary, unless values are
// so long that the 24 KiB count. No chunk has more than MaxEntries entries or MaxChunk
// bytes, whatever the keys. That does not touch the dependence on content alone, since
// where a chunk ends is a function of its own entries, from its first one on; what it
// costs is reach. An edit makes chunks anew until an old one and a new one end at the
// same entry. That is nearly always the chunk that was edited or the one after it. With
// keys that somebody chose so that none ends a chunk, all chunks are cut at MaxEntries,
// and an insertion moves the boundaries behind it: the time of that edit is no longer
// bounded by the logarithm, but by the map; the form is right all the same.
//
// The entries of the level above are links to the chunks. The key of a link is the
// shortest prefix of the first key below it that comes after the last key before it;
// the first link of a level has the empty key. The lowest level that has a single
// chunk is the top, and the hash of that chunk is the root.
//
// # A chunk
//
// In its canonical form. A uvarint is that of encoding/binary, in its shortest form.
//
//	0  version, 2
//	1  level: 0 for entries, above that for links
//	2  n, the number of entries, 1 to MaxEntries
//	3  n uvarints: how many bytes each key begins with that the key before it begins
//	   with, too, as many as there are; 0 of the first
//	   n uvarints: the lengths of what is left of the keys; a key has at most MaxKey bytes
//	   n uvarints: the lengths of the values, at most MaxValue
//	   what is left of the keys, each key above the one before it, bytewise
//	   the values
//
// The value of a link is the hash of a chunk of the level below, 32 bytes, and a uvarint:
// how many entries of level 0 are below it.
//
// The hash of a chunk is not one over these bytes, but
//
//	SHA-256(0x02, level, n as uint32, count as uint64, root)
//
// with integers big-endian, count the number of entries of level 0 at or below the chunk,
// and root that of the Merkle tree of RFC 6962 §2.1 over its entries: the tree of one leaf
// is the leaf, and of more leaves
//
//	SHA-256(0x01, tree of the first k, tree of the others)
//
// with k the largest power of two below their number. A leaf is
//
//	SHA-256(0x00, uvarint length of the key, key, value)            of an entry, value below 129 bytes
//	SHA-256(0x04, uvarint length of the key, key, SHA-256(value))   of an entry with a longer value
//	SHA-256(0x03, uvarint length of the key, key, value)            of a link
//
// The root of the empty map is the hash of a chunk of level 0 without entries, whose
// Merkle root is SHA-256 of nothing. No chunk is stored for it.
//
// # What a Store has
//
//	0  xxh3 of the canonical form, uint64, little-endian;
//	   the seed is the first 8 bytes of the chunk's hash, little-endian
//	8  the canonical form
//
// under a name: the space of the chunk's map (DB.In), the chunk's place, which is the key of the link that leads to it (empty
// for a root), and its hash. Keyed has it at
//
//	prefix space place 00 hash
//
// so that the versions of a chunk lie together, with the neighbours of each. It is for
// the store below to compress them: by blocks of many chunks, nearly all of one is found
// in the one before it.
//
// # A proof
//
// In its binary form (Proof says what the parts mean):
//
//	0  version, 1
//	1  number of steps of the path
//	2  number of steps of the left branch, and of the right one
//	3  uvarint: entries of the map
//	   the steps of the path, then a left and a right one in turn, each:
//	     number of entries of the chunk, index of the first shown, number of those shown:
//	     a byte each
//	     the entries shown: uvarint length of the key, key, and
//	       of a link: hash (32 bytes), uvarint count
//	       of an entry: a byte, the length of the value, and the value;
//	       or 129 and the SHA-256 of a longer one
//	     the siblings, 32 bytes each; how many there are follows from the three bytes
//
// The JSON form has the fields of Proof.
//
// # Sources
//
// Prolly trees are from Noms (github.com/attic-labs/noms, doc/intro.md), the name too;
// Dolt (github.com/dolthub/dolt, go/store/prolly/tree/node_splitter.go) added boundaries by key alone and a chance
// that grows with the length. Here it is otherwise in this:
//
//   - The hash of a chunk is a Merkle root over its entries, not a hash of its bytes. A
//     proof so shows an entry and sibling hashes, and not whole chunks, at the price of
//     two more hashes an entry when a chunk is made.
//   - The growing chance depends on the number of entries, not on bytes, so that values
//     have no say.
//   - Links have a separator as their key, not the last key of the chunk: as in a B+
//     tree with suffix truncation (Bayer and Unterauer, Prefix B-Trees, 1977). Keys of
//     a code graph hold hashes and are long; most of what an edit writes is links.
//   - The keys of a chunk are written without what they share with the one before. The
//     store compresses that away as well, but a block then holds, and a read of one chunk
//     decompresses, half as much.
//   - Chunks are small, 16 entries on average: what 1,000 snapshots take together counts
//     for more than how fast one is scanned (BenchmarkSnapshots).
//   - Chunks are stored by where they stand, and the hash comes after it. By hash alone
//     nothing that is alike lies together, and each is compressed by itself.
package prolly
