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
//     (storage/highwater.go explains why).
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
// (dispatch.go: one line registers an API with its versions) and writes the answers in order. What a
// client may do is decided in authenticate.go (with package sasl) and authorize.go; how much of the
// machine it may take in admission.go and memorylimiter.go. Requests of consumer groups go to the coordinator
// in package groups; everything else is answered from the log, package storage, which also says what
// stands on disk.
package broker
