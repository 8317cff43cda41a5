// Package query answers questions over projections: find, show, status. Every
// door (CLI, HTTP) calls the functions here, so that all of them give the same
// answer.
//
// What a caller may rely on:
//
//   - An answer holds only what lies below its watermark, the lowest position
//     that all projections used have applied, taken once at the start. Nothing
//     in an answer depends on a clock but Timing and a request's own times.
//   - The same request at the same state gives the same answer, in the same
//     order; Proof says how it came about, as data: each step's operator, its
//     inputs, what it counted and where each hit stood in it.
//   - An empty answer says why in Hint.
//
// # How find ranks
//
// Four paths look for candidates and reciprocal rank fusion joins them: a
// document at rank r (from 1) of a path adds weight/(60+r) to its score; one that
// a path has not counts as right behind its last. The paths are words (weight 1)
// and concepts (0.2), both BM25, and semantic (0.25), the exact cosine of the
// embeddings of what these two found, and exact (1), what of the first has the
// whole text in it; each brings 200 at most. Filters and the visible range hold
// before any path ranks, so that a path's best N are the best N that may be
// answered. Commands that read alike (equal content hash) are one candidate,
// its newest run, unless the request asks for repeats. Ties are broken by the
// newer event, then by position.
//
// Without a text there is nothing to rank: the newest come first.
package query
