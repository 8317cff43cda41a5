package span

import (
	"strings"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// verbs maps operations on messages to kinds, with the names in the conventions and those of the
// messaging systems.
var verbs = map[string]recountv1.RuntimeKind{
	"create": recountv1.RuntimeKind_RUNTIME_KIND_PRODUCES, "send": recountv1.RuntimeKind_RUNTIME_KIND_PRODUCES,
	"publish": recountv1.RuntimeKind_RUNTIME_KIND_PRODUCES, "produce": recountv1.RuntimeKind_RUNTIME_KIND_PRODUCES,
	"enqueue": recountv1.RuntimeKind_RUNTIME_KIND_PRODUCES,
	"receive": recountv1.RuntimeKind_RUNTIME_KIND_CONSUMES, "process": recountv1.RuntimeKind_RUNTIME_KIND_CONSUMES,
	"deliver": recountv1.RuntimeKind_RUNTIME_KIND_CONSUMES, "settle": recountv1.RuntimeKind_RUNTIME_KIND_CONSUMES,
	"consume": recountv1.RuntimeKind_RUNTIME_KIND_CONSUMES, "poll": recountv1.RuntimeKind_RUNTIME_KIND_CONSUMES,
	"ack": recountv1.RuntimeKind_RUNTIME_KIND_CONSUMES, "nack": recountv1.RuntimeKind_RUNTIME_KIND_CONSUMES,
	"dequeue": recountv1.RuntimeKind_RUNTIME_KIND_CONSUMES,
}

// temporary replaces the name of every temporary destination.
const temporary = "(temporary)"

// messaging recognises a message that is sent to or received from a topic or a queue. The operation
// is the destination's name.
func messaging(u *interpretation) bool {
	if !u.a.has(messagingSystem, messagingDestination) {
		return false
	}
	kind := verbs[u.a.text(messagingOperation)]
	destination, verb := destinationName(u.name)
	switch {
	case u.kind == tracepb.Span_SPAN_KIND_PRODUCER:
		kind = recountv1.RuntimeKind_RUNTIME_KIND_PRODUCES
	case u.kind == tracepb.Span_SPAN_KIND_CONSUMER:
		kind = recountv1.RuntimeKind_RUNTIME_KIND_CONSUMES
	case kind == 0 && verbs[verb] != 0:
		kind = verbs[verb]
	case kind == 0 && u.kind == tracepb.Span_SPAN_KIND_CLIENT:
		kind = recountv1.RuntimeKind_RUNTIME_KIND_PRODUCES
	case kind == 0 && u.kind == tracepb.Span_SPAN_KIND_SERVER:
		kind = recountv1.RuntimeKind_RUNTIME_KIND_CONSUMES
	}
	if kind == recountv1.RuntimeKind_RUNTIME_KIND_CONSUMES && u.kind == tracepb.Span_SPAN_KIND_CLIENT && len(u.o.Links) > 0 {
		// It calls the broker and states whose messages it received: for those it is a consumer.
		u.o.Side = recountv1.Side_SIDE_CALLED
	}
	operation := u.a.text(messagingTemplate)
	u.o.Templated = operation != ""
	if operation == "" {
		operation = u.a.text(messagingDestination)
		if operation == "" {
			operation = destination
		}
		if u.a.yes(messagingTemporary) || strings.HasPrefix(operation, "amq.gen-") || strings.HasPrefix(operation, "_INBOX.") {
			operation = temporary
		}
	}
	return u.set(kind, u.a.text(messagingSystem), withoutValues(operation))
}

// destinationName parses a span name of the conventions: "send orders", or "orders send" in older
// ones. Without a verb, destination is the whole name.
func destinationName(name string) (destination, verb string) {
	if first, rest, ok := strings.Cut(name, " "); ok && verbs[first] != 0 {
		return rest, first
	}
	if at := strings.LastIndexByte(name, ' '); at > 0 && verbs[name[at+1:]] != 0 {
		return name[:at], name[at+1:]
	}
	return name, ""
}
