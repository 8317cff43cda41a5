// Package storage is the log that the broker serves: topics, their partitions and the records in them,
// in one directory. It knows record batches (package wire) and no connection or request; what a
// caller may rely on is in the documentation of package broker.
//
// # How it is built
//
// Log (log.go) opens a directory, checks that nothing acknowledged is missing, and holds the topics
// (topics.go) with their partitions (partition.go). All writes go through the committer (commit.go),
// the only writer of the store (store.go): a produce submits an AppendOp (produce.go), Append an
// ownAppend (append.go), and the ownAppends of one partition in a group become one batch (merge.go);
// everything else calls store.update. If a topic has many bytes in a group, they are first written to
// a segment file (segments.go), and the store holds references. Readers (readers.go) never wait for
// the committer: they read Pebble up to the partition's published View.
//
// # Storage layout
//
// A data directory holds
//
//	LOCK        held while the log is open
//	FORMAT      "recount-log 2\n" (format 1 had no segments; it is read, and becomes 2)
//	highwater.N the ends of the log when last recorded (format in highwater.go)
//	store/      a Pebble database, values of 512 bytes and more in blob files
//	segments/   <topic number>-<segment>.batches: batches of one topic, end to end
//	            (segments.go says which batches go there)
//
// and the database has these keys, with big-endian integers:
//
//	m/cluster                       the cluster id
//	m/commit                        uint64: number of the last group commit
//	m/next-producer                 uint64: last producer id assigned
//	m/next-topic                    uint64: last topic number assigned
//	m/scrub                         empty; written to have something to flush
//	t/<name>                        a topic, as JSON: id, num, partitions, configs
//	p <num u32> <partition u32>     the state of a log (tail in partition.go): start,
//	                                end, bytes, max timestamp, its batch's last offset,
//	                                bytes indexed: int64 each
//	b <num u32> <partition u32> <last offset u64>
//	                                a record batch as it was sent, with its offset set; or
//	                                its place in a segment file: version 1 (byte), segment
//	                                u64, byte u64, length u32
//	i <num u32> <partition u32> <timestamp u64, sign bit flipped>
//	                                time index: no record up to this offset (u64) is
//	                                later; one entry per 64 KiB
//	w <num u32> <partition u32> <producer id u64>
//	                                a producer's window: epoch int16, time of writing
//	                                int64, then (first, last sequence int32, base
//	                                offset int64) for each of its last 5 batches
//	g <length u16> <group> <num u32> <partition u32>
//	                                a committed offset: version 1 (byte), offset int64,
//	                                leader epoch int32, time of the commit int64, length
//	                                of topic (uvarint), topic, metadata
//	s <num u32> <segment u64>       the size of a segment file in bytes (u64)
//	h <num u32> <segment u64> <partition u32>
//	                                the last offset of the partition in that file (u64)
//	x <num u32> <partition u32> <first offset u64>
//	                                a gap: records before this offset (u64) were lost and
//	                                given up by AcceptLoss; batches without records fill
//	                                the gap under b
//	o <num u32> <partition u32> <first offset u64>
//	                                the id (16 bytes) of the opening of the log that
//	                                appended the records from here on (lineage.go)
//	e <num u32> <partition u32> <last offset u64> <checksum u32>
//	                                a batch that was replaced, and may still be in files:
//	                                its base offset (u64), then its place in a segment
//	                                file, as under b, if it was in one (scrub.go)
//
// A topic's number (num) identifies one life of the topic: if it is deleted and created again it gets
// another number, so that nothing old can be taken for new.
package storage
