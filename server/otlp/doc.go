// Package otlp receives spans: it implements the OpenTelemetry Protocol over gRPC
// (TraceService/Export) and over HTTP (POST /v1/traces, protobuf and JSON). It accepts traces only
// and answers senders of metrics or logs with how to switch those off.
//
// A sender may rely on the following (OpenTelemetry Protocol specification 1.x):
//
//   - An export is acknowledged only once its spans are durable in the log. If it is sent again because
//     the answer was lost, it is applied once.
//   - Spans that can never be stored (an id of wrong length, a span larger than the maximum size of an
//     event) are counted in partial_success with the reason of the first; the others are stored.
//   - A failure that may pass is answered with UNAVAILABLE and RetryInfo, or with 503 and Retry-After; a
//     permanent one with INVALID_ARGUMENT or 400, and a request that is too large with
//     RESOURCE_EXHAUSTED or 413.
//   - The bytes in flight are bounded. Under overload a request waits for memory up to
//     Options.Patience and is then refused with a request to retry. Meanwhile requests that have stalled
//     give way, so that a sender that sends nothing keeps nobody out.
//
// The size of a request is bounded before it is read, both compressed and decompressed.
package otlp
