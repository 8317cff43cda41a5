package schemas

import (
	"time"

	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// UnknownService is the service name of a resource without one, as in OpenTelemetry's resource
// conventions.
const UnknownService = "unknown_service"

// ServiceOf returns the service.name of a resource, or UnknownService if it is missing, empty or
// not a string.
func ServiceOf(r *resourcepb.Resource) string {
	for _, a := range r.GetAttributes() {
		if a.GetKey() == "service.name" && a.GetValue().GetStringValue() != "" {
			return a.GetValue().GetStringValue()
		}
	}
	return UnknownService
}

// maxServiceKey limits the length of a key made from a service's name, in bytes.
const maxServiceKey = 256

// ServiceKey returns the key of a service's events: its name, cut to maxServiceKey bytes.
func ServiceKey(service string) []byte {
	return []byte(Clip(service, maxServiceKey))
}

// SpanTime returns the time of an event whose last span ended at unixNano, in nanoseconds since
// 1970. A time beyond the maximum for events becomes the maximum.
func SpanTime(unixNano uint64) time.Time {
	return time.Unix(0, int64(min(unixNano, uint64(maxTime.UnixNano())))).UTC()
}

// LastEnd returns the latest end or start of the spans, in nanoseconds since 1970.
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
