package schemas

import (
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// KeyOf returns the key that decides the partition of a payload's event: a command's workspace, or
// its directory if it has none; a replay's workspace, or its run if it has none; the name of a repository; the tenant, workspace and agent of an
// agent's event; the service of spans and access logs (that of the first resource, if there are
// several). It returns nil if the payload does not determine the key: an outcome belongs into its
// command's partition, but only the producer knows the workspace. Outcomes are matched to their
// commands in any partition.
func KeyOf(payload proto.Message) []byte {
	switch m := payload.(type) {
	case *recountv1.CommandExecuted:
		if m.GetWorkspace() != "" {
			return []byte(m.GetWorkspace())
		}
		if m.GetCwd() != "" {
			return []byte(m.GetCwd())
		}
	case interface{ GetRun() string }:
		if w, ok := m.(interface{ GetWorkspace() string }); ok && w.GetWorkspace() != "" {
			return []byte(w.GetWorkspace())
		}
		return []byte(m.GetRun())
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
	case *recountv1.FeedbackGiven:
		return AgentKey(m.GetTenant(), m.GetWorkspace(), "")
	case *recountv1.ContextReturned:
		return AgentKey(m.GetTenant(), m.GetWorkspace(), "")
	case *recountv1.IdsRetired:
		return []byte(m.GetTopic())
	case *recountv1.AccessLogged:
		return ServiceKey(m.GetService())
	case interface{ GetRepository() string }:
		return []byte(m.GetRepository())
	}
	return nil
}

// DeriveKey returns KeyOf the event's payload, or nil if the payload cannot be decoded; readers of
// the log report that error.
func (e Event) DeriveKey() []byte {
	m, err := e.DecodePayload()
	if err != nil {
		return nil
	}
	return KeyOf(m)
}

// AgentKey returns the key of an agent's events. An empty tenant or agent adds nothing, so the key
// of a workspace alone is its name.
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
