// Package narrative is the projection of what is connected: the narrative of the
// commands, and the outcomes that arrive after theirs.
//
// What a caller may rely on:
//
//   - Every outcome is kept with the position of its event, its evidence. The
//     latest one counts: by the time it was observed, then by position. That is
//     the same under every interleaving of partitions. An outcome of a command
//     that is not (yet) in the log is kept too.
//   - What is stored is structure: a node for each intent, and lists of the
//     intents of a session, of a goal (see goal.go), and of those that read or wrote a
//     resource. It is formed in log order within a shard, as a function of the
//     shard's records alone.
//   - Edges are judged when they are asked for. Whether a command had failed may
//     be known only later, from another partition, twice and contradicting: so a
//     View joins nodes and outcomes as of one state, and the same state gives the
//     same edges, whatever came first (docs/ARCHITECTURE.md, rule 5).
//   - Every edge runs from the earlier to the later intent, and there is no
//     cycle: within a partition edges ascend in offset, whatever the clocks said;
//     only an explicit parent may stand in another partition, and then it must
//     come before in the order of (clock, partition, offset), where the clock of
//     a partition never goes back (see clock). A parent that does not come before
//     gives no edge.
//   - An intent whose id stands in two partitions is the one in the first of them
//     that may be known of; the other has no edges.
//
// The rules stand in rule_*.go, one file each; the comment at the head of each
// says it in words that can be checked by hand, with its table of weights.
//
// What bounds the work, so that a session of a million commands or a file that
// a hundred thousand of them read costs no more than any: an intent looks at the
// 16 with its goal before it, the 3 newest writers of each thing it uses,
// the 16 newest changes of its workspace and the 16 intents of its session to
// either side. Out finds, of the edges that In of their later ends has, those to
// the 16 newest that use a thing before it was written thrice more. What lies
// above a view's watermark is not counted.
//
// # Keys
//
// Pebble, with the keys of package store and these kinds. Integers in keys are
// big-endian; a time has its sign bit flipped, so that keys ascend with time;
// Shard is as in package store. A text is a uvarint length and its bytes. Hashes
// are xxh3, uint64; in values little-endian.
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
//	     parent: a byte, 0 or 16, and as many bytes
//	     hashes of the session's list, the template, the folded command, the goal,
//	     the act, the git head and the stated intent: uint64 each, of the last two
//	     0 = absent
//	     workspace, session, cwd, dir (empty where it is cwd), author: texts
//	     programs: uvarint count, texts
//	     resources: uvarint count; each a byte of kind, a byte of Access, a text
//	     names in its output, of one that is not known to have succeeded: uvarint
//	     count, uint32 each, little-endian, ascending
//	0x12 Shard
//	     the clock of the partition: varint
//
// and lists, which say which intents belong together; the offset is the intent's:
//
//	0x13 Shard  session (uint64)            offset   effects: uvarint
//	0x14 Shard  workspace+goal (uint64)     offset   empty
//	0x15 Shard  resource (uint64)           offset   empty: it wrote it
//	0x16 Shard  resource (uint64)           offset   empty: it read it
//	0x17 Shard  directory (uint64)          offset   empty: it wrote something below it
//	0x18 Shard  workspace (uint64)          offset   effects: it changed something
//	0x19 parent's id (16)  Shard            offset   empty: it names that parent
package narrative
