// Package runtime answers questions about a running system (projections/runtime), joined to its
// code (query/code): traffic, calls between services, routes that are never requested, one trace,
// and the most plausible causes of a failing span.
//
// What a caller may rely on, besides what package query specifies for every answer:
//
//   - Times are those of the spans. "Now" is the request's At, or else the time of
//     the newest span. The clock is read only to limit the latter, so that a span
//     with a future date does not move it.
//   - What runs and what the code declares are stored separately and joined by the
//     query: the same spans mean more once the code is imported. Each join names its
//     rule and its confidence (Join); a join that could not be made is kept, with 0.3.
//   - The same query of the same state gives the same answer, in the same order,
//     except for Timing.
//
// # Confidence
//
// The confidence that a call happens now depends on how often it was seen in the seven days before
// At, and when last (confidence.go). The confidence that a certain symbol handles it is separate,
// and is in Join.
package runtime
