// Package accesslog reads the access logs of HTTP servers and turns them into access.logged events,
// many lines per event. It uses neither the log nor the network: a caller iterates over the events
// and appends them.
//
// A caller may rely on these properties:
//
//   - Lines are in Common or Combined Log Format (the default of Apache and nginx;
//     further fields are ignored), or JSON objects, one per line; both may be mixed.
//   - Queries are removed from paths and referers: they contain private data, and routes
//     do not need them.
//   - A line that is not one of an access log is reported and skipped: the loop gets a
//     *SkipError with the line's number, and continues. Any other error ends it.
//   - An event is a function of its lines and of the service: the same file gives the
//     same events with the same ids. Events end at every thousandth line of a file and at
//     its end; lines that were read before a file grew are skipped (Marks).
//   - Memory is bounded by one event and the longest line.
package accesslog
