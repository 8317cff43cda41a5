package span

import (
	"strings"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// interpretation is a span that is being interpreted: readers fill in kind, operation and system.
type interpretation struct {
	o    *recountv1.Observation
	a    *attrs
	kind tracepb.Span_SpanKind
	name string
	// code is where the observation's code will be stored.
	code *uint32
}

// readers are tried in this order. What is called takes precedence over how it is transported: a
// query over HTTP is a query. A reader that does not recognise the span changes nothing.
var readers = [...]func(u *interpretation) bool{database, messaging, model, rpc, web, graphql, function}

func (u *interpretation) understand() {
	for _, read := range readers {
		if read(u) {
			return
		}
	}
	byName(u)
}

func (u *interpretation) set(k recountv1.RuntimeKind, system, operation string) bool {
	u.o.Kind, u.o.System, u.o.Operation = k, system, operation
	return true
}

// internal reports whether the span is marked as internal, and so not a call.
func (u *interpretation) internal() bool { return u.kind == tracepb.Span_SPAN_KIND_INTERNAL }

// callKind returns k, except for work inside a service, which is not a call.
func (u *interpretation) callKind(k recountv1.RuntimeKind) recountv1.RuntimeKind {
	if u.o.Side == recountv1.Side_SIDE_INSIDE {
		return recountv1.RuntimeKind_RUNTIME_KIND_UNSPECIFIED
	}
	return k
}

// model recognises a call to a model, a tool or an agent.
func model(u *interpretation) bool {
	if !u.a.has(genaiOperation, genaiSystem) {
		return false
	}
	system := u.a.text(genaiSystem)
	if system == "" {
		system = "gen_ai"
	}
	verb, of := u.a.text(genaiOperation), ""
	for _, at := range [...]attr{genaiTool, genaiAgent, genaiModel} {
		if of = u.a.text(at); of != "" {
			break
		}
	}
	return u.set(u.callKind(recountv1.RuntimeKind_RUNTIME_KIND_CALLS), system, words(verb, of, u.name))
}

// graphql recognises an operation of GraphQL that did not arrive over HTTP, or that has a span
// apart from its request.
func graphql(u *interpretation) bool {
	if !u.a.has(graphqlType, graphqlName) {
		return false
	}
	return u.set(u.callKind(recountv1.RuntimeKind_RUNTIME_KIND_CALLS), "graphql",
		words(u.a.text(graphqlType), u.a.text(graphqlName), u.name))
}

// function recognises an invocation of a function. The caller's span names it in an attribute; on
// the called side the resource may name it, else the span's name does.
func function(u *interpretation) bool {
	if !u.a.has(faasTrigger, faasInvoked) {
		return false
	}
	system := u.a.text(faasProvider)
	if system == "" {
		system = "faas"
	}
	name := u.a.text(faasInvoked)
	if name == "" {
		name = u.a.text(faasName)
	}
	return u.set(u.callKind(recountv1.RuntimeKind_RUNTIME_KIND_CALLS), system, words(name, "", u.name))
}

// words joins two words. If both are empty it returns other, with values replaced.
func words(a, b, other string) string {
	switch {
	case a == "" && b == "":
		return withoutValues(other)
	case a == "" || b == "":
		return a + b
	}
	return a + " " + b
}

// byName interprets a span that has only a name, by the forms of names in the conventions. A span
// marked as internal keeps its name.
func byName(u *interpretation) {
	name := strings.TrimSpace(u.name)
	if !u.internal() {
		if operation, system, ok := rpcName(name); ok {
			u.set(recountv1.RuntimeKind_RUNTIME_KIND_RPC, system, operation)
			return
		}
		if method, path, ok := requestName(name); ok {
			u.set(recountv1.RuntimeKind_RUNTIME_KIND_CALLS, "http", "")
			u.request(method, path, isPattern(path))
			return
		}
		if u.o.Side != recountv1.Side_SIDE_CALLED && isQueryName(name) {
			u.set(recountv1.RuntimeKind_RUNTIME_KIND_QUERIES, "", name)
			return
		}
	}
	if name == "" {
		name = "(unnamed)"
	}
	u.set(kindOfSpan[u.kind], "", withoutValues(name))
}

// kindOfSpan is the kind of a span that has no other information.
var kindOfSpan = map[tracepb.Span_SpanKind]recountv1.RuntimeKind{
	tracepb.Span_SPAN_KIND_SERVER:   recountv1.RuntimeKind_RUNTIME_KIND_CALLS,
	tracepb.Span_SPAN_KIND_CLIENT:   recountv1.RuntimeKind_RUNTIME_KIND_CALLS,
	tracepb.Span_SPAN_KIND_PRODUCER: recountv1.RuntimeKind_RUNTIME_KIND_PRODUCES,
	tracepb.Span_SPAN_KIND_CONSUMER: recountv1.RuntimeKind_RUNTIME_KIND_CONSUMES,
}
