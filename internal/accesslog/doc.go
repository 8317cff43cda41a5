// Package accesslog reads the access logs of HTTP servers and makes events of them,
// access.logged, many lines to an event. It touches neither the log nor the network:
// a caller ranges over the events and appends them.
//
// What a caller may rely on:
//
//   - Lines are in Common or Combined Log Format (Apache's, nginx' default; what
//     stands behind is passed over), or JSON objects, one a line; both may be mixed.
//   - Queries are left out of paths and referers: they hold what is nobody's
//     business, and routes do not need them.
//   - What is no line of an access log is told and skipped: the loop gets a
//     *SkipError with the line's number, and goes on. Any other error ends it.
//   - An event is a function of its lines, and of the service: the same file gives
//     the same events with the same ids. Events end at every thousandth line of a file,
//     and with it; what was read of a file that has grown since is passed over (Marks).
//   - Memory is bounded by an event and the longest line.
package accesslog
