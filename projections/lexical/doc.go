// Package lexical is the projection that finds commands and agents' objects by their terms. It
// ranks by BM25 over what was typed, why, and where, and over what agents said and did. Package
// bm25 has the lists of terms and the search; this package says what a document is, which
// documents belong together, and what a document that was found stands for.
//
// For commands (Search) a caller may rely on the following:
//
//   - A hit is a run: a command, identified by the offset of its event within its partition, the
//     shard.
//   - The unit that is indexed and scored is the document: the text that a run has in a field. A
//     history consists largely of repeats; runs of one text are one document, numbered within its
//     shard and field in the order of first runs.
//   - BM25's statistics count documents, not runs: N, the documents with a term and the mean length
//     are those of the distinct texts, summed over all shards (a text in two shards counts in
//     both). So scores can be compared across shards, and running a command often does not make its
//     terms common.
//   - For a document that matches, the newest run that may be a hit is returned. Equal scores are
//     ordered by offset, the newer first, then by shard. The same state gives the same answer on
//     every machine.
//   - A search reads one state and returns its watermark (Stats.Watermark).
//
// Commands have two fields. Words holds the terms of the command's text and of the stated intent at
// full weight, and those of the last two parts of the working directory at a quarter of it
// (terms.go defines a term). Concepts holds what is known about the command: the classes of the
// embedder's concept table, the words that explain its programs and flags, and groups of synonyms
// (package gloss). Commands with the same concepts are one document of concepts.
//
// For objects (SearchObjects):
//
//   - A document is a part of an object; equal parts are separate documents. A hit is an object
//     with its best part. A part has the terms of the name of its object's agent, of "user" if a user
//     said it, and of "failed" and "error" if a tool failed.
//   - Each audience has its own lists, numbers and statistics in each partition. A search sums them
//     over the audiences of the query, and nothing else affects its answer.
//   - An answer for a state in the past (ObjectQuery.Below) equals that of a projection that was
//     built only up to there: hits, scores and statistics.
//   - Equal scores are ordered by partition, then by offset, the newer first, then by the order
//     within the event.
//
// Commands repeat often, so few documents are needed; agents' texts rarely repeat. For those that
// do, ObjectQuery.Distinct returns only the newest.
//
// # Keys
//
// Pebble, with the keys of package store and eight more kinds. Integers in keys are big-endian, all
// others uvarints where nothing else is said. Shard is as in package store, field is one byte (1
// words, 2 concepts). Weights count quarters of an occurrence: a term typed once has weight 4. The
// length of a command's document counts quarters as well, that of a part of an object whole
// occurrences. bm25.MaxLength is the highest length.
//
//	0x10 Shard term 00 collection n   a block of postings: see package bm25. The
//	     (both uint32)                collections of a shard are words (0), concepts
//	                                  (1), and the audiences (2 plus the number)
//
//	0x11 Shard n (uint64)             runs 128n to 128n+127: of each the offset
//	                                  minus the previous one (of the first the
//	                                  offset) and its documents of words and of
//	                                  concepts
//	0x12 Shard                        runs; documents and the sum of their
//	                                  lengths, of words, then of concepts
//	0x13 Shard n (uint64)             content hashes of the documents of words
//	                                  128n to 128n+127, 8 bytes each,
//	                                  little-endian
//	0x14 Shard field id (16 bytes)    the document with this identity: a hash of
//	                                  the text and, in words, of the content hash
//
//	0x15 Shard audience (16 bytes)    its number in the shard, in the order of first
//	                                  appearance; documents, the sum of their
//	                                  lengths, the newest one's offset
//	0x16 Shard number n (uint32)      of the audience's documents 128n to 128n+127, 36
//	                                  bytes each, little-endian: the event's
//	                                  offset (8), the sum of the lengths up to this
//	                                  one (8), the part's content hash (8), the
//	                                  object's index in its event, the part's in the
//	                                  object, the object's parts (4 each)
//	0x17 Shard offset (uint64)        of each object of the event that has parts: its
//	                                  index, its audience's number, its first
//	                                  document, its parts
//
// The state does not depend on batches.
package lexical
