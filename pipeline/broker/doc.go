// Package broker is a log that people can trust, spoken to in Kafka's protocol,
// in one process and one directory. Any Kafka client is its client: over TCP
// (Options.Listen), or in memory (Broker.Dial).
//
// # What a caller may rely on
//
//   - A produce is acknowledged when its bytes are on disk. Many produces, of all
//     partitions and connections, share the fsyncs of a group commit: one, or two
//     when it carries much.
//   - Nothing is visible to a reader before it is on disk: the high watermark is
//     what is durable.
//   - Batches, the producers' sequence windows, topics and group offsets are one
//     atomic commit with each other. So an idempotent producer stays idempotent
//     through kill -9, and offsets never change or go back.
//   - Opening takes the same short time and little memory, whatever the log's size.
//   - A store that is damaged is reported with what and where.
//   - A hostile client harms only its own connection, and the groups it joins.
//   - Committed offsets are on disk when the commit is answered. Who is a member of
//     a group is in memory alone: after a restart members are told that they are
//     unknown, and join again, as clients do on their own.
//
// # What it does not do
//
// It is one broker: no replication. It keeps everything: no retention by time or
// size, no compaction; DeleteRecords and DeleteTopics delete, and Rewrite replaces
// records in place, down to the bytes on disk. There are no
// transactions and no fetch sessions. A topic setting that would promise one of
// these is refused; one that only says how files are kept is stored, and shown as not
// in effect (topicsettings.go). What is not served is answered with Kafka's UNSUPPORTED_VERSION where the answer has a place for it, else by
// closing the connection. acks=1 means what acks=all means; acks=0 is not
// answered, and a refused batch then closes its connection.
//
// # Damage
//
// What is noticed, and when:
//
//   - At opening: a store that does not hold all that was acknowledged, as the
//     high-water file beside it says (ErrLoss, with topics, partitions and offsets,
//     or with the number of commits). This covers what Pebble alone takes for a
//     torn write: a flipped bit or a cut in the newest WAL. After a crash of the
//     process every acknowledged commit is covered; after a power cut, all but those
//     of the last second (highwater.go says why).
//   - At opening, in one line with the file and what to do: missing or damaged WALs
//     before the newest; manifests, their marker and options; tables, blob files and
//     segment files that are missing or of the wrong size (ErrDamaged); a directory of
//     a newer format (ErrNewerFormat), in use (ErrLocked), or that cannot be read or
//     written to, or for which the disk has no room.
//   - At reading: damage inside a sealed file, by its blocks' checksums, and inside a
//     segment file, the one being written included, by each batch's own. A fetch of
//     that part is answered with UNKNOWN_SERVER_ERROR, which clients tell their
//     users and do not retry by themselves, and logged with partition and offset;
//     the rest can be read.
//   - By Check, which reads everything: all of the above, each batch's own checksum,
//     and holes between batches.
//
// A write that fails, or a panic of Pebble's on the commit path, fails the store
// for good: nothing more is acknowledged, Failed is closed, and what was
// acknowledged before is there after a restart. Bit rot that is consistent with
// every checksum, and a directory replaced by an older copy of the whole of itself,
// are beyond what it can see; who has read the log before can tell by Opening and
// OpeningAt that it is not the same any more.
//
// # How it is built
//
// A connection (conn.go) reads frames (frame.go), serves them in order through
// the table of APIs (dispatch.go: one line registers an API with its versions)
// and writes the answers in order. What is written goes through the committer
// (commit.go), the only writer of the store (store.go): produce hands it an
// appendOp, Append an ownAppend, and those of one partition that meet become one
// batch (merge.go); everything else calls store.update. Much of one topic is first written
// to a segment file (segments.go), and the store holds where. Readers never wait for it: they
// read Pebble up to the partition's published view (partition.go).
//
// # Storage layout
//
// A data directory holds
//
//	LOCK        held while the log is open
//	FORMAT      "recount-log 2\n" (1 had no segments; it is read, and becomes 2)
//	highwater.N how far the log had come (highwater.go gives its bytes)
//	store/      a Pebble database, values of 512 bytes and more in blob files
//	segments/   <topic number>-<segment>.batches: batches of one topic, end to end
//	            (segments.go says which batches go there)
//
// and the database, with integers big-endian, names and numbers as they are:
//
//	m/cluster                       the cluster id
//	m/commit                        uint64: number of the last group commit
//	m/next-producer                 uint64: last producer id given out
//	m/next-topic                    uint64: last topic number given out
//	m/scrub                         empty; written to have something to flush
//	t/<name>                        a topic, as JSON: id, num, partitions, configs
//	p <num u32> <partition u32>     where a log stands (tail in partition.go):
//	                                start, end, bytes, max timestamp, its batch's
//	                                last offset, bytes indexed: int64 each
//	b <num u32> <partition u32> <last offset u64>
//	                                a record batch as it was sent, placed; or where it
//	                                stands in a segment file: version 1 (byte), segment
//	                                u64, byte u64, length u32
//	i <num u32> <partition u32> <timestamp u64, sign bit flipped>
//	                                time index: no record up to this offset (u64) is
//	                                later; an entry each 64 KiB
//	w <num u32> <partition u32> <producer id u64>
//	                                a producer's window: epoch int16, time of writing
//	                                int64, then (first, last sequence int32, base
//	                                offset int64) for each of its last 5 batches
//	g <length u16> <group> <num u32> <partition u32>
//	                                a committed offset: version 1 (byte), offset int64,
//	                                leader epoch int32, time of the commit int64, length
//	                                of topic (uvarint), topic, metadata
//	s <num u32> <segment u64>       how many bytes of a segment file are filled (u64)
//	h <num u32> <segment u64> <partition u32>
//	                                the last offset of the partition in that file (u64)
//	x <num u32> <partition u32> <first offset u64>
//	                                a gap: records up to before this offset (u64) were
//	                                lost, and given up by AcceptLoss; batches without
//	                                records stand for them under b
//	o <num u32> <partition u32> <first offset u64>
//	                                the id (16 bytes) of the opening of the log that
//	                                appended the records from here on (lineage.go)
//	e <num u32> <partition u32> <last offset u64> <checksum u32>
//	                                a batch that was replaced, and may still stand in
//	                                files: its base offset (u64), then where it stood in
//	                                a segment file, as under b, if it did (scrub.go)
//
// A topic's number (num) stands for one life of it: deleted and created again it
// gets another, so nothing old can be taken for new.
package broker
