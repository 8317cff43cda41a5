// Package bm25 ranks documents by the terms that they have. It stores, for each term of a
// collection of documents, the list of those that have it, and finds the best ones by BM25.
//
// A caller may rely on the following:
//
//   - A search covers several collections, of any partitions. Statistics are summed over these, and
//     nothing else affects the answer.
//   - The answer is exact: lists and blocks are passed over only if no document of theirs can be a
//     hit.
//   - A search for the first n documents of a collection is that of a collection which never had
//     more: scores, statistics and the work done.
//   - The same state gives the same bits on every machine.
//
// The caller numbers collections within a partition, and documents within a collection; it stores
// how many there are and what they are.
//
// # Keys
//
// All integers of a key are big-endian. Shard is as in package store, kind is the caller's, a term
// has no zero byte.
//
//	kind Shard term 00 collection n    postings of the collection's documents 2048n
//	     (both uint32)                 to 2048n+2047
//
// A posting is a number of 4 bytes, little-endian: the document's number within its block in the
// upper 11 bits, then 8 bits of weight and 13 of the document's length, each limited to its highest
// value. Blocks are divided by the document's number: they can be appended to without being read,
// and the part of a block that belongs to a past state is what the block was then.
package bm25
