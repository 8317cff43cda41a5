// Package query holds what answers to every kind of question have in common: the
// moment that a question is asked of, the proof and the basis of an answer, and the
// errors. The questions themselves are in the packages below it: commands, code,
// runtime and evidence. Every client (the CLI, the HTTP API) asks through them, so that
// all get the same answer.
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
package query
