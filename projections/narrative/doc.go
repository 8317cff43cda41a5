// Package narrative is the projection of the relations between commands: it stores intents and
// outcomes, and derives the edges between intents when they are queried.
//
// What a caller may rely on:
//
//   - Every outcome is stored with the position of its event as evidence. The
//     latest one counts, ordered by the time it was observed, then by position.
//     The choice is the same under every interleaving of partitions. An outcome
//     of a command that is not (yet) in the log is stored too.
//   - The stored state is structure: a node for each intent, and lists of the
//     intents of a session, of a goal (see goal.go), and of those that read or
//     wrote a resource. It is built in log order within a shard, as a function
//     of the shard's records alone.
//   - Edges are computed by queries. Whether a command failed may become known
//     only later, from another partition, and outcomes may be duplicated or
//     contradict each other. So a View joins nodes and outcomes of one state,
//     and the same state gives the same edges, whatever arrived first
//     (docs/ARCHITECTURE.md, rule 5).
//   - Every edge runs from the earlier to the later intent, so there is no
//     cycle. Within a partition edges ascend in offset, whatever the machine
//     clocks showed; a view that is Timed leaves out
//     those that the clocks contradict. Only an explicit parent may be in another partition, and
//     then it must come before its child in the order of (clock, partition,
//     offset), where the clock of a partition never goes back (see clock). A
//     parent that does not come before its child gives no edge.
//   - If an intent id occurs in two partitions, it means the visible intent in
//     the first of them. The other has no edges.
//
// The rules are in rule_*.go, one file each. The comment at the head of each file states the rule
// with its table of weights, so that a reader can check an edge by hand.
//
// The work per query is bounded, so that a session of a million commands, or a file that a hundred
// thousand commands read, costs no more than any other. For an intent the rules examine the 16
// intents before it that share its goal, the 3 newest writers of each resource that it uses, the 16
// newest changes of its workspace, and 16 intents of its session in either direction. Out returns
// those edges of In(later intent) whose later intent is among the 16 newest that use a resource
// before it was written three more times. Intents above a view's watermark do not count towards
// these limits.
//
// # Keys
//
// Pebble, with the keys of package store and these kinds. Integers in keys are big-endian; a time
// has its sign bit flipped, so that keys ascend with time; Shard is as in package store. A text is
// a uvarint length and its bytes. Hashes are xxh3, uint64; in values little-endian.
//
//	0x10 intent id (16)  observed (int64, ns)  Shard  offset (uint64)
//	     an outcome: event id (16)
//	     exit code: uvarint, 0 = unknown, else 1 + zig-zag of the code
//	     duration: varint, nanoseconds, -1 = unknown
//	     author, output tail: texts
//	0x11 Shard  offset (uint64)
//	     an intent: event id (16)
//	     time, clock: varints, nanoseconds since 1970
//	     effects: uvarint, bits of Effect
//	     category: a byte
//	     exit code: as above
//	     parent: a length byte, 0 or 16, and that many bytes
//	     hashes of the session's list, the host, the template, the folded command, the goal,
//	     the act, the git head and the stated intent: uint64 each; 0 means absent
//	     for the host and the last two
//	     workspace, session, cwd, dir (empty if it equals cwd), author: texts
//	     programs: uvarint count, texts
//	     resources: uvarint count; each a byte of kind, a byte of Access, a text
//	     names in its output, unless it is known to have succeeded: uvarint
//	     count, uint32 each, little-endian, ascending
//	0x12 Shard
//	     the clock of the partition: varint
//
// and lists of related intents, whose offset is that of the intent:
//
//	0x13 Shard  session (uint64)            offset   effects: uvarint
//	0x14 Shard  workspace+goal (uint64)     offset   empty
//	0x15 Shard  resource (uint64)           offset   empty: it wrote it
//	0x16 Shard  resource (uint64)           offset   empty: it read it
//	0x17 Shard  directory (uint64)          offset   empty: it wrote something below it
//	0x18 Shard  workspace (uint64)          offset   effects: it changed something
//	0x19 parent's id (16)  Shard            offset   empty: it names that parent
package narrative
