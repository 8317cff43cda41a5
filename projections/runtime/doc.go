// Package runtime is the projection of a running system's behaviour: which service calls which, how
// often, how long it takes and how it ends, folded from the topic `spans`.
//
// What a caller may rely on:
//
//   - The state is a function of the set of spans seen. A span that arrives late, by
//     an hour or a year, counts as if it had arrived at once: there is no window in
//     which a trace has to be complete, and nothing is evicted. The disk usage grows
//     with the log; memory does not.
//   - Three tables hold sums by time: Served (spans of the called side), Asked
//     (spans of the caller's side), and Calls (pairs of spans of which one called the
//     other). A span counts in the first two when it arrives, a call when the second
//     of its spans arrives, in whatever partition.
//   - Times are the spans' own, by the clocks of the services that reported them. A
//     span is in the buckets of its start, a call in those of the caller's span (see
//     Call). A wrong clock moves a span to another minute; pairs are found by ids
//     alone and are not affected.
//   - If a partition contains a span twice (same trace, id, service and side), the
//     first counts. A service's spans are all in one partition, since its name is the
//     key; a span that a producer sends to two partitions is two spans.
//   - The lines of access logs have no ids: they are in Served and in no call.
//   - Spans removed by retention are summed by the hour, from events
//     `spans.summarised` (summary.go), whichever are applied first.
//   - The code a name refers to, and the confidence of an edge, are not decided here:
//     queries join them.
//
// memory.caller decides who called a span: its parent, or a client that shares its id (Zipkin), or,
// for a consumer, any span that it links to in any trace. The caller must be in another service, or
// on the caller's side of the same one. Cycles do no harm, as nothing is traversed. If two spans of
// one trace have the same id, the choice between them may change as spans arrive: the call is then
// subtracted from one sum and added to the other, which does not depend on the order either. The
// times and examples of a sum of calls cover all pairs that could be chosen, which differs only for
// such traces.
//
// The work is bounded: of a trace each partition keeps the first maxEntries spans for joining, and
// maxNamesakes of one id; of a span the first maxLinks links are followed. Spans beyond these
// limits are summed but take part in no call, and duplicates of them are not recognised.
//
// Of a service each partition keeps the first maxOperations operations by name; spans of the others
// count as the operation Other.
//
// # Keys
//
// Pebble, with the keys of package store and these kinds. Integers in keys are big-endian. Shard is
// a byte for the length of the topic's name (0 for recount.spans), the name, and the partition
// (uint32). A site is everything in a span except its ids, times and outcome, and its hash is xxh3
// of its value. Bucket is a uint32 with its sign bit flipped, so that keys ascend with time: the
// number of the level's lengths (0 a minute, 1 ten minutes, 2 an hour, 3 a day) between 1970 and
// its begin.
//
//	0x10 trace (16)  Shard  chunk (uint16)   a partition's entries of a trace, in log
//	                                         order, 32 to a chunk (see writer)
//	0x11 hash (8)                            a site (see appendSite)
//	0x12 level (1)  Bucket  site (8)         a sum of Served
//	0x13 level (1)  Bucket  site (8)         a sum of Asked
//	0x14 level (1)  Bucket  site (8)  site (8)
//	                                         a sum of Calls: the caller's site, the callee's
//	0x15 hash (8)                            an observer (see storeObservers)
//	0x16 span (8)  trace (16)                empty: the span failed
//	0x17                                     the earliest and the latest start
//	0x18 hour (uint32, as a Bucket)          empty: parts of this hour are known by the
//	                                         hour only (summary.go)
//	0x19 service (8)  Shard                  the number of operations of a service, by its
//	                                         hash, that a partition keeps by name: a uvarint
//	0x19 service (8)  Shard  operation (8)   empty: this is one of them, by its hash
//
// A sum is:
//
//	count, errors: uvarints
//	first start after the bucket's begin, last after the first: uvarints, ns
//	a sketch of durations (see appendSketch)
//	twice, for those that did not fail and for those that did, the examples: a byte for
//	their number, at most 3, and 1 in a minute's row; each the trace (16), the span
//	(8), the Shard and the offset (uvarint) of its event, its duration (uvarint, ns)
package runtime
