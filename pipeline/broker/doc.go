// Package broker is a durable log that speaks Kafka's protocol, in one process and one directory.
// Any Kafka client can use it: over TCP (Options.Listen), or in memory (Broker.Dial).
//
// # What a caller may rely on
//
//   - A produce is acknowledged once its bytes are on disk. Concurrent produces, to any partitions and over
//     any connections, share the fsyncs of a group commit: one, or two if the group is large.
//   - Nothing is visible to a reader before it is on disk: the high watermark is the durable end.
//   - Batches, the producers' sequence windows, topics and group offsets are committed atomically together.
//     So an idempotent producer stays idempotent through kill -9, and offsets never change or go back.
//   - Opening takes the same short time and little memory, whatever the log's size.
//   - Damage to the store is reported with what is damaged and where.
//   - A hostile client harms only its own connection and the groups it joins.
//   - Committed offsets are on disk when the commit is answered. Group membership is in memory only: after
//     a restart members get UNKNOWN_MEMBER_ID and join again, as clients do by themselves.
//
// # What it does not do
//
// It is a single broker without replication. It keeps everything: there is no retention by time or
// size and no compaction; DeleteRecords and DeleteTopics delete, and Rewrite replaces records in
// place, down to the bytes on disk. There are no transactions and no fetch sessions. A topic
// setting that would promise one of these is refused; a setting that only concerns files is stored,
// and shown as not in effect (topicsettings.go). Requests that are not supported are answered with
// Kafka's UNSUPPORTED_VERSION if the answer has a field for it, else by closing the connection.
// acks=1 means the same as acks=all. acks=0 is not answered, and a refused batch then closes its
// connection.
//
// # Damage
//
// Damage is detected at these points:
//
//   - At opening: a store that lacks acknowledged writes, according to the high-water file beside it
//     (ErrLoss, with topics, partitions and offsets, or with the number of commits). This includes what
//     Pebble alone takes for a torn write: a flipped bit or a cut in the newest WAL. After a crash of the
//     process every acknowledged commit is covered; after a power cut, all but those of the last second
//     (highwater.go explains why).
//   - At opening, in one line with the file and what to do: missing or damaged WALs before the newest;
//     manifests, their marker and options; tables, blob files and segment files that are missing or have the
//     wrong size (ErrDamaged); a directory of a newer format (ErrNewerFormat), in use (ErrLocked), that
//     cannot be read or written, or whose disk is full.
//   - At reading: damage inside a sealed file, by its blocks' checksums, and inside a segment file, even the
//     one being written, by each batch's own. A fetch of that part is answered with UNKNOWN_SERVER_ERROR,
//     which clients report to their users and do not retry by themselves, and logged with partition and
//     offset; the rest can be read.
//   - By Check, which reads everything: all of the above, each batch's own checksum, and holes between
//     batches.
//
// A failed write, or a panic of Pebble on the commit path, fails the store for good: nothing more
// is acknowledged, Failed is closed, and everything acknowledged before is there after a restart.
// Bit rot that is consistent with all checksums, and a directory replaced as a whole by an older
// copy of itself, cannot be detected; a reader that has read the log before can detect the latter
// by Opening and OpeningAt.
//
// # How it is built
//
// A connection (conn.go) reads frames (package wire), serves them in order through the table of APIs
// (dispatch.go: one line registers an API with its versions) and writes the answers in order.
// Writes go through the committer (commit.go), the only writer of the store (store.go): a produce
// submits an appendOp, Append an ownAppend, and the ownAppends of one partition in a group become
// one batch (merge.go); everything else calls store.update. If a topic has many bytes in a group,
// they are first written to a segment file (segments.go), and the store holds references. Readers
// never wait for the committer: they read Pebble up to the partition's published view
// (partition.go).
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
package broker
