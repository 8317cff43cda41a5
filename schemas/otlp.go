package schemas

import (
	"time"
	"unicode/utf8"

	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// UnknownService is the service of a resource that names none, as OpenTelemetry's
// resource conventions have it.
const UnknownService = "unknown_service"

// ServiceOf is the service.name of a resource, or UnknownService where it is
// missing, empty or no text.
func ServiceOf(r *resourcepb.Resource) string {
	for _, a := range r.GetAttributes() {
		if a.GetKey() == "service.name" && a.GetValue().GetStringValue() != "" {
			return a.GetValue().GetStringValue()
		}
	}
	return UnknownService
}

// maxServiceKey bounds the key that a service's name makes, in bytes.
const maxServiceKey = 256

// ServiceKey is the key of a service's events: its name, or the first part of one
// that is longer than any name should be.
func ServiceKey(service string) []byte {
	if len(service) > maxServiceKey {
		n := maxServiceKey
		for n > 0 && !utf8.RuneStart(service[n]) {
			n--
		}
		service = service[:n]
	}
	return []byte(service)
}

// SpanTime is the time of an event whose spans ended at most so many nanoseconds
// after 1970: what lies beyond the times that an event may have is the last of them.
func SpanTime(unixNano uint64) time.Time {
	return time.Unix(0, int64(min(unixNano, uint64(maxTime.UnixNano())))).UTC()
}

// LastEnd is the latest end, or start, of spans, in nanoseconds after 1970.
func LastEnd(d *tracepb.TracesData) (last uint64) {
	for _, rs := range d.GetResourceSpans() {
		for _, ss := range rs.GetScopeSpans() {
			for _, s := range ss.GetSpans() {
				last = max(last, s.GetStartTimeUnixNano(), s.GetEndTimeUnixNano())
			}
		}
	}
	return last
}
