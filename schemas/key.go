package schemas

import (
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// KeyOf is the key of a payload's event, which decides its partition: for a command its workspace, or its directory where none is given; for
// what happens to a repository its name; for what agents do the workspace and the agent; for
// spans and access logs the service (that
// of the first resource, where an event has several). Nil where the payload does not say: an
// outcome belongs to its command's partition, and only the producer knows the
// workspace; what it is found by works in any.
func KeyOf(payload proto.Message) []byte {
	switch m := payload.(type) {
	case *recountv1.CommandExecuted:
		if m.GetWorkspace() != "" {
			return []byte(m.GetWorkspace())
		}
		if m.GetCwd() != "" {
			return []byte(m.GetCwd())
		}
	case *tracepb.TracesData:
		if rs := m.GetResourceSpans(); len(rs) > 0 {
			return ServiceKey(ServiceOf(rs[0].GetResource()))
		}
	case *recountv1.AgentEvent:
		return AgentKey(m.GetTenant(), m.GetWorkspace(), m.GetAgent())
	case *recountv1.EventsErased, *recountv1.RecordsRetired:
		return []byte("erasures")
	case *recountv1.SpansSummarised:
		return []byte(TopicSpans)
	case *recountv1.AccessLogged:
		return ServiceKey(m.GetService())
	case interface{ GetRepository() string }:
		return []byte(m.GetRepository())
	}
	return nil
}

// DeriveKey is KeyOf the event's payload: nil where it cannot be read, which is
// for the reader to judge.
func (e Event) DeriveKey() []byte {
	m, err := e.DecodePayload()
	if err != nil {
		return nil
	}
	return KeyOf(m)
}

// AgentKey is the key of what an agent does. A tenant or an agent that is not named adds
// nothing, so that a workspace alone is its own key.
func AgentKey(tenant, workspace, agent string) []byte {
	key := []byte(workspace)
	if agent != "" || tenant != "" {
		key = append(append(key, 0), agent...)
	}
	if tenant != "" {
		key = append(append(key, 0), tenant...)
	}
	return key
}
