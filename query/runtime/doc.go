// Package runtime answers questions about what runs (projections/runtime),
// joined to what the code says (query/code): traffic, calls between services, routes
// that nobody asks for, one trace, and what most plausibly led to a failing span.
//
// What a caller may rely on, besides what package query says of every answer:
//
//   - Nothing is read from the clock. Times are those that spans tell; "now" is the
//     request's At, and without one the time of the newest span.
//   - What runs and what the code says are kept apart and joined when asked: the same
//     spans mean more once the code is imported. Each join says by which rule it is
//     known and how sure that is (Join); one that could not be made stays, at 0.3.
//   - The same question of the same state gives the same answer, in the same order,
//     but for Timing.
//
// # Confidence
//
// How sure it is that a call happens now is a matter of how often it was seen in the
// seven days before At, and of when last (confidence.go). How sure it is which code
// that is, is another matter, and stands in Join.
package runtime
