// Package runtime is the projection of what a running system does: who calls whom,
// how often, how long it takes and how it ends, folded from the topic `spans`.
//
// What a caller may rely on:
//
//   - The state is a function of the set of spans seen. A span that comes late, by
//     an hour or a year, counts as if it had come at once: there is no window in which
//     a trace has to be complete, and nothing is evicted. The disk grows as the log
//     does; memory does not.
//   - Three tables sum, by time: what is Served (spans of the called side), what is
//     Asked (spans of the caller's side), and Calls, pairs of spans of which one
//     called the other. A span counts in the first two when it is seen, a call when
//     the second of its spans is, in whatever partition.
//   - Times are the spans' own, by the clocks of the services that told them. A span
//     stands in the buckets of its start, a call in those of the caller's span (see
//     Call). Clocks that differ move a span to another minute; pairs are found by ids
//     alone and do not suffer.
//   - Of a span that its partition has twice (same trace, id, service and side), the
//     first counts. A service's spans are all in one partition, being keyed by its
//     name; what a producer sends to two are two spans.
//   - The lines of access logs have no ids: they are Served, and nobody's callees.
//   - What retention gave up is summed by the hour, from events `spans.summarised`
//     (summary.go), whatever is applied first.
//   - What a name means, how sure an edge is and what code it stands for is not for
//     here: queries join it.
//
// Who called a span is decided by memory.caller: its parent, or a client that shares
// its id (Zipkin), or for a consumer whatever it links to in any trace; in another
// service, or on the caller's side of the same one. Cycles do no harm, as nothing is
// walked. When two spans of one trace have one id, the choice among them may change
// as they come: then the call is taken from one sum and added to the other, which is
// as independent of the order as adding is. The times and the examples of a sum of
// calls are of all pairs that could be chosen: the same but in such traces.
//
// What bounds the work: of a trace each partition keeps the first maxEntries spans
// for joining, and maxNamesakes of one id; of a span the first maxLinks links are
// followed. What is beyond is summed, but is in no call, and is not known if it
// comes again.
//
// Of a service each partition keeps the first maxOperations operations by name; spans of
// the others count as the operation Other.
//
// # Keys
//
// Pebble, with the keys of package store and these kinds. Integers in keys are
// big-endian. Shard is a byte for the length of the topic's name (0 for recount.spans),
// the name, and the partition (uint32); a site is what a span says besides ids,
// times and outcome, and its hash is xxh3 of its value. Bucket is a uint32 with its
// sign bit flipped, so that keys ascend with time: how many of the level's lengths
// (0 a minute, 1 ten minutes, 2 an hour, 3 a day) it begins after 1970.
//
//	0x10 trace (16)  Shard  chunk (uint16)   what a partition says of a trace: entries
//	                                         in the order of the log, 32 to a chunk
//	                                         (see writer)
//	0x11 hash (8)                            a site (see appendSite)
//	0x12 level (1)  Bucket  site (8)         a sum of what was served
//	0x13 level (1)  Bucket  site (8)         … of what was asked
//	0x14 level (1)  Bucket  site (8)  site (8)
//	                                         … of calls: the caller's, the callee's
//	0x15 hash (8)                            an observer (see storeObservers)
//	0x16 span (8)  trace (16)                empty: the span failed
//	0x17                                     the earliest and the latest start
//	0x18 hour (uint32, as a Bucket)          empty: of this hour some is known by the
//	                                         hour alone (summary.go)
//	0x19 service (8)  Shard                  how many operations of a service, by its
//	                                         hash, a partition keeps by name: a uvarint
//	0x19 service (8)  Shard  operation (8)   empty: this is one of them, by its hash
//
// A sum is:
//
//	count, errors: uvarints
//	first start after the bucket's begin, last after the first: uvarints, ns
//	a sketch of durations (see appendSketch)
//	twice, of those that did not fail and of those that did, the examples: a byte for
//	their number, at most 3, and 1 in a minute's row; each the trace (16), the span
//	(8), the Shard and the offset (uvarint) of its event, its duration (uvarint, ns)
package runtime
