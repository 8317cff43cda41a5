// Package feedback is the projection of what was useful for a task: it stores the events
// feedback.given and context.returned.
//
// An event belongs to a tenant, and every key begins with it, so that no read can mix two tenants. The
// fold writes rows for each event and looks at no other event, except for the newest time; whose
// vote counts, and how much, is judged when a question is asked. Keys, after the kind:
//
//	0x10 Tenant Event            the record, protobuf
//	0x11 Tenant Subject Event    a vote: see vote.append
//	0x12 Tenant Word Event       the number of different words of the event's task, uvarint
//	0x13 Tenant Shard            the newest time of the events, as 8 bytes of an int64 with the sign
//	                             bit inverted, and the number of events with a task, uvarint
//
// Tenant, Subject and Word are hashes of 16 bytes (see keys.go). Event is the shard, as package store
// writes it, and the offset (uint64, big-endian), so that the events of a partition are in log order.
package feedback
