// Package commands answers questions about commands: find, show, why, stitch, diff,
// insights, and the scans and counts of them. What a caller may rely on stands in
// package query.
//
// # How find ranks
//
// Five paths rank commands and reciprocal rank fusion joins them: a command at
// rank r (from 1) of a path adds weight/(60+r) to its score; one that a path has
// not counts as right behind its last. The paths are
//
//   - words (weight 1) and concepts (0.2), both BM25;
//   - semantic (0.3): the nearest by the vector index, if their cosine is 0.25 or
//     more, and what the other paths found, by the exact cosine of the embeddings;
//   - exact (1): what of words has the whole text in it;
//   - time (0.01): all of these, the newest first.
//
// Filters and the visible range hold before any path ranks, so that a path's best
// N are the best N that may be answered. The rows that pass the filters are noted
// first. Where they are few the paths look at nothing else, and the meanings of
// these are all compared. Commands that
// read alike (equal content hash) are one candidate, its newest run, unless the
// request asks for repeats. Ties are broken by the newer event, then by position.
//
// Without a text there is nothing to rank: the newest come first.
//
// # How why, stitch and diff walk
//
// All three walk the narrative (projections/narrative) from a command, best first:
// the next to be taken is always the one of the highest standing, the best
// product along a path from the root of what its edges carry (edge_factors.go has the
// one table, and why it is so). Depth, the number of commands, the edges of one
// command (64 each way) and a least weight bound the walk. why goes back and
// ranks by standing; stitch goes both ways and tells what it took in order of
// time; diff goes back from two commands and aligns what it took by template.
// Rows are read of the commands that are answered, and of no others. The same
// request at the same state gives the same bytes but for Timing, and so does
// as_of of that state's watermark later on. As_of of a time may answer
// otherwise as the log grows: what is appended later may have started earlier,
// and what started later takes places among the few commands that a rule, or
// what is similar, looks at.
package commands
