// Package spans makes events of OTLP exports: spans.exported, one or more for each
// service, each below the limit of the log. The receivers (server/otlp) and the
// importers use it alike.
//
// What a caller may rely on:
//
//   - An export is walked over as it stands on the wire. Spans, resources and scopes
//     go into events as they are, fields of later versions among them, with secrets
//     taken out (internal/redact); only what holds them together is written anew.
//   - An event is a function of the export: the same export sent again makes the same
//     events with the same ids, which are applied once.
//   - No span is lost in silence. Each is in one event, or counted as refused with
//     the reason of the first; an export that is no protobuf message is an error.
//   - The order of a service's spans is kept.
package spans
