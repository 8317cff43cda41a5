// Package otlp is the door for spans: receivers of the OpenTelemetry Protocol, over
// gRPC (TraceService/Export) and over HTTP (POST /v1/traces, protobuf and JSON). It
// takes traces only, and says so to who sends metrics or logs.
//
// What a sender may rely on (OpenTelemetry Protocol specification 1.x):
//
//   - An export is acknowledged when its spans are durable in the log, and not
//     before. Sent again, because an answer was lost, it is applied once.
//   - Spans that can never be kept (an id of wrong length, a span larger than an
//     event may be) are counted in partial_success with the reason of the first; the
//     others are kept.
//   - What may succeed later is answered with UNAVAILABLE and RetryInfo, or with 503
//     and Retry-After; what never will with INVALID_ARGUMENT or 400, and what is too
//     large with RESOURCE_EXHAUSTED or 413.
//   - Overload is told, never hidden: the bytes in flight are bounded, a request waits
//     a while for room and is then refused to be sent again.
//
// A request is bounded before it is read, compressed and decompressed.
package otlp
