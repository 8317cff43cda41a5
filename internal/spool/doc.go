// Package spool stores recorded commands until a process that has the log takes them. It is an
// append-only file beside the log, which a small program can write without opening anything else.
//
// A caller may rely on these properties:
//
//   - Append waits for nobody, neither other writers nor the drainer, and needs no other
//     process. After it has returned, killing any process at any moment loses nothing:
//     the operating system has the entry.
//   - Append does not sync. A power cut may lose what was spooled in the seconds
//     before it and not drained yet; the drainer's log is synced before an entry
//     leaves the spool.
//   - Drain passes the entries to the callback in the order of their arrival, and removes
//     them when it has returned nil. After a crash between the two they are passed again
//     with the same ids, by which the log recognises them.
//   - Bytes that are not an entry (a torn write, a flipped bit) are moved to the file
//     damaged; the entries around them are drained.
//
// # Layout
//
// The directory contains, all with mode 0600:
//
//	new            the file that writers append to
//	N.taken        a former file new, taken by a drainer: lower numbers come first
//	DRAIN          locked by the active drainer
//	damaged        unreadable bytes, unchanged
//	refused        entries that the reader did not understand, each after a line with the reason
//	refused.by     which reader they were shown to last: another one is shown them again
//	lost           its length in bytes is the number of entries that could not be written;
//	               it is sparse, so that it fits on a full disk
//	to/HASH/       a spool of the same layout for a remote server, whose URL is in its
//	               file url
//
// A frame is one line with a newline before and after it, so that the frame after a torn one is
// readable:
//
//	rs1 LENGTH CRC32C JSON
//
// LENGTH is the length of JSON in decimal, CRC32C is eight hexadecimal digits over JSON, and JSON
// is an Entry without newlines.
//
// # Locks
//
// A writer holds a shared lock (flock) on the file it appends to, from before it checks that the
// file is still named new until it has written; a single write to a file opened for appending is
// contiguous. The drainer renames new, and reads and removes the file under an exclusive lock, so
// that no writer uses it. A writer that finds its file locked or renamed opens new again. Only the
// drainer waits for a lock, and only for a limited time: after that, a writer must have been
// stopped while writing, so the content is drained and the file remains until the writer is gone.
package spool
