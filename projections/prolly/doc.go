// Package prolly stores ordered maps from byte strings to byte strings whose shape depends only on
// their content: prolly trees, search trees in which content decides where a node ends. It is the
// store below the snapshots of package code, and does not depend on what the maps contain.
//
// What a caller may rely on:
//
//   - A map is identified by its root, a SHA-256. The same entries have the same root
//     and the same chunks, whatever the order and the batches in which they were set
//     and deleted; Apply gives the root that Build gives.
//   - A map never changes. Apply makes a new one that shares the chunks they have in
//     common, and reads and writes O(edits · log n) chunks. Diff reads only what differs.
//   - A root is enough to verify statements: Prove shows that a key is present with a
//     value, or that it is absent, in a kilobyte or two; Verify checks that offline.
//   - Everything is safe for concurrent use. Returned slices are parts of decoded
//     chunks: they must not be written to, and never change.
//   - Damage is reported as an error that names the chunk (ChunkError, ErrDamaged),
//     never as a panic. Reading verifies a checksum, the form of a chunk and that it
//     matches the link that led to it; Check recomputes every hash.
//   - It never deletes a chunk: Marks tells the owner of a store which ones are still
//     needed. A crash in the middle of Build or Apply leaves chunks that no root leads
//     to, and no other harm.
//
// # Where chunks end
//
// The entries of a level, in key order, are divided into chunks from left to right. A chunk ends
// after its n-th entry
//
//   - if n is MaxEntries, or its keys and values have 24 KiB or more together; else
//   - if n is MinEntries or more, and the upper 32 bits of xxh3(key, seed = level) are
//     below n · 26,340,229, which makes 16 entries on average. This probability grows
//     with the length, so lengths vary less than with a fixed probability: a changed
//     entry is more likely to be in a long chunk than in a short one, and the length
//     of that chunk is the cost of an edit.
//
// Only the key is hashed. So a changed value never moves a boundary, unless values are so long that
// the 24 KiB count. No chunk has more than MaxEntries entries or MaxChunk bytes, whatever the keys.
// These limits keep the shape a function of the content, since the end of a chunk depends only on
// its own entries, from the first one on. They do affect how far an edit reaches. An edit rewrites
// chunks until an old and a new chunk end at the same entry. That is nearly always the edited chunk
// or the one after it. But with keys chosen so that none ends a chunk, all chunks end at MaxEntries
// and an insertion moves all boundaries after it: the cost of that edit is then linear in the map
// instead of logarithmic. The result is still correct.
//
// The entries of the level above are links to the chunks. The key of a link is the shortest prefix
// of the first key below it that comes after the last key before it; the first link of a level has
// the empty key. The lowest level that has a single chunk is the top, and the hash of that chunk is
// the root.
//
// # A chunk
//
// This is the canonical form of a chunk. A uvarint is that of encoding/binary, in its shortest
// form.
//
//	0  version, 2
//	1  level: 0 for entries, above that for links
//	2  n, the number of entries, 1 to MaxEntries
//	3  n uvarints: the length of the common prefix of each key and the key before it;
//	   0 for the first
//	   n uvarints: the lengths of the rest of the keys; a key has at most MaxKey bytes
//	   n uvarints: the lengths of the values, at most MaxValue
//	   the rest of the keys, each key above the one before it, bytewise
//	   the values
//
// The value of a link is the hash of a chunk of the level below, 32 bytes, and a uvarint: the
// number of entries of level 0 below it.
//
// The hash of a chunk is not computed over these bytes. It is
//
//	SHA-256(0x02, level, n as uint32, count as uint64, root)
//
// with integers big-endian, count the number of entries of level 0 at or below the chunk, and root
// that of the Merkle tree of RFC 6962 §2.1 over its entries: the tree of one leaf is the leaf, and
// of more leaves
//
//	SHA-256(0x01, tree of the first k, tree of the others)
//
// with k the largest power of two below their number. A leaf is
//
//	SHA-256(0x00, uvarint length of the key, key, value)            of an entry, value below 129 bytes
//	SHA-256(0x04, uvarint length of the key, key, SHA-256(value))   of an entry with a longer value
//	SHA-256(0x03, uvarint length of the key, key, value)            of a link
//
// The root of the empty map is the hash of a chunk of level 0 without entries, whose Merkle root is
// SHA-256 of nothing. No chunk is stored for it.
//
// # What a Store has
//
//	0  xxh3 of the canonical form, uint64, little-endian;
//	   the seed is the first 8 bytes of the chunk's hash, little-endian
//	8  the canonical form
//
// under a name: the space of the chunk's map (DB.In), the chunk's place, which is the key of the
// link that leads to it (empty for a root), and its hash. The key in Keyed is
//
//	prefix space place 00 hash
//
// so that the versions of a chunk and its neighbours are adjacent. The underlying store should
// compress blocks of many chunks: nearly all of a chunk is found in the one before it.
//
// # A proof
//
// This is the binary form of a proof (Proof explains the parts):
//
//	0  version, 1
//	1  number of steps of the path
//	2  number of steps of the left branch, and of the right one
//	3  uvarint: entries of the map
//	   the steps of the path, then left and right steps alternately, each:
//	     number of entries of the chunk, index of the first shown, number of those shown:
//	     a byte each
//	     the entries shown: uvarint length of the key, key, and
//	       of a link: hash (32 bytes), uvarint count
//	       of an entry: a byte, the length of the value, and the value;
//	       or 129 and the SHA-256 of a longer one
//	     the siblings, 32 bytes each; their number follows from the three bytes
//
// The JSON form has the fields of Proof.
//
// # Sources
//
// Prolly trees and their name are from Noms (github.com/attic-labs/noms, doc/intro.md). Dolt
// (github.com/dolthub/dolt, go/store/prolly/tree/node_splitter.go) added boundaries by key alone
// and a probability that grows with the length. This package differs as follows:
//
//   - The hash of a chunk is a Merkle root over its entries, not a hash of its bytes.
//     So a proof shows an entry and sibling hashes instead of whole chunks, at the
//     cost of two more hashes per entry when a chunk is built.
//   - The growing probability depends on the number of entries, not on bytes, so that
//     values do not affect it.
//   - Links have a separator as their key, not the last key of the chunk: as in a B+
//     tree with suffix truncation (Bayer and Unterauer, Prefix B-Trees, 1977). Keys of
//     a code graph contain hashes and are long; most of what an edit writes is links.
//   - The keys of a chunk omit the prefix they share with the key before. The store
//     would compress that away as well, but this halves the content of a block, and
//     what the read of one chunk decompresses.
//   - Chunks are small, 16 entries on average: the total size of 1,000 snapshots
//     matters more than the speed of scanning one (BenchmarkSnapshots).
//   - Chunks are stored by place, and then by hash. Stored by hash alone, similar
//     chunks would not be adjacent, and each would be compressed by itself.
package prolly
