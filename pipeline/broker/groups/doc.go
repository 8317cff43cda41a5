// Package groups coordinates consumer groups by Kafka's classic protocol, with static members
// (KIP-345) and member ids that have to be sent back (KIP-394). A Coordinator answers the requests of
// members and of administrators; the broker decodes them and finds the connection. It keeps committed
// offsets in an OffsetStore and nothing else on disk.
//
// A group is a state machine:
//
//	Empty ──join──▶ PreparingRebalance ──all joined, or time is up──▶ CompletingRebalance
//	  ▲                     ▲                                               │ leader syncs
//	  │ last member gone    └──join, leave, a session ends── Stable ◀───────┘
//
// Membership is in memory only. After a restart every member gets UNKNOWN_MEMBER_ID and joins
// again, as after any move of a coordinator, so none of it needs to survive. Committed offsets do,
// and are in the store (offsets.go).
//
// One mutex guards all groups. Every critical section consists of a few map operations, so that
// more locks would gain nothing, and listing, evicting and counting need no other lock. The rules
// that keep it so:
//   - nothing blocks while it is held: no I/O, no send on a channel that might be full;
//   - a request that must wait leaves a channel of capacity one in its member and waits for it outside.
//     Only the code that takes the channel out of the member sends to it, so a send never blocks and a
//     waiter always gets an answer;
//   - a timer's function checks under the lock whether it is still current.
//
// Everything that clients can make grow is limited: groups, members and assigned member ids per
// group, protocols per member, and the bytes of metadata and assignments over all groups.
package groups
