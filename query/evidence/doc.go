// Package evidence answers questions over the objects of agents with evidence: what was
// said, done and learned, what led to it, what took its place, and by which events that
// is known.
//
// A question goes through these steps, each a file: the principal's audiences and the
// filters bound what may be known (scope.go); the text and the request choose the paths
// (plan.go, refs.go, cues.go); each path brings candidates (retrieve.go, dense.go, effects.go);
// reciprocal ranks join them (fuse.go); the best are read, what says the same collapses
// (gather.go), and what lost its place is ranked behind (judge.go, weights.go); what led
// to each hit is followed to its roots (chain.go, part.go), and edges around them as
// far as asked (expand.go, neighbor.go); things of other kinds are found and joined
// (others.go, commands.go, symbols.go, operations.go, mentions.go); the answer is put together (assemble.go, context.go) and cut to its size
// (fit.go).
//
// What a caller may rely on:
//
//   - What a principal may not see has no part in its answer: objects, edges, counts,
//     scores and chains are those that there would be without it. Positions are those of
//     the log, which all share.
//   - An answer is as of its watermark, the lowest that all projections have applied, or
//     of as_of if that is lower, and equals the one that projections built only up to
//     there would give, byte for byte but for Timing. Where the vector index walks an
//     approximate graph, what it misses may differ.
//   - Nothing is read from the clock: how old things are, and what holds, is as of a
//     moment that the request says, or as_of, or the newest object in the scope.
//   - What is superseded is not hidden. It says what took its place and by which rule
//     and events, and stands behind that.
//   - The same request at the same state gives the same answer.
//   - Symbols, and operations that run, are of now, whatever as_of says by positions: they
//     are left out then, and the proof says so. Commits and traces that are named are as of
//     then; one that comes later than what names it is joined from then on.
package evidence
