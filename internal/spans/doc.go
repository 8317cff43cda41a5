// Package spans turns OTLP exports into spans.exported events, one or more per service, each below
// the size limit of the log. The receivers (server/otlp) and the importers share it.
//
// A caller may rely on these properties:
//
//   - An export is read in wire format. Spans, resources and scopes are copied into events
//     unchanged, including fields of later versions, but with secrets removed
//     (internal/redact); only the messages around them are rewritten.
//   - An event is a function of the export: the same export sent again gives the same
//     events with the same ids, which are applied once.
//   - No span is lost silently. Each is in one event, or counted as refused with the
//     reason of the first; an export that is not a protobuf message is an error.
//   - The order of a service's spans is kept.
package spans
