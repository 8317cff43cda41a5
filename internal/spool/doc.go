// Package spool keeps recorded commands until a process that has the log takes them:
// an append-only file beside the log, which a small program writes without opening
// anything else.
//
// What a caller may rely on:
//
//   - Append waits for nobody, writers and the drainer included, and needs no process
//     but its own. Once it has returned, killing any process at any moment loses
//     nothing: the entry is in the operating system's hands.
//   - Append does not sync. A power cut may lose what was spooled in the seconds
//     before it and not drained yet; the drainer's log is synced before an entry
//     leaves the spool.
//   - Drain hands over each entry in the order of its arrival, and removes it when the
//     callback has returned nil. A crash between the two hands it over again, under
//     the same id, for the log to recognise.
//   - Bytes that are no entry (a torn write, a flipped bit) go to the file damaged, and
//     what stands around them is drained all the same.
//
// # Layout
//
// In the folder, all of mode 0600:
//
//	new            what writers append to
//	N.taken        a file that was new, taken by a drainer: the lower N first
//	DRAIN          locked by the drainer at work
//	damaged        bytes that could not be read, as they were
//	refused        entries that the log can never take, each after a line that says why
//	lost           as many bytes long as there were entries that could not be written;
//	               it is sparse, so that a full disk has room for it
//	to/HASH/       a spool of the same layout, for the server whose URL stands in its
//	               file url
//
// A frame is one line, with a newline before and after it, so that what follows a torn
// one is whole:
//
//	rs1 LENGTH CRC32C JSON
//
// LENGTH is that of JSON in decimal, CRC32C eight hexadecimal digits over JSON, and
// JSON an Entry without a newline in it.
//
// # Locks
//
// A writer holds a shared lock (flock) on the file it appends to, from before it checks
// that the file is still the one called new until it has written; one write to a file
// opened for appending is one piece. The drainer renames new, and reads and removes the
// file under an exclusive lock, so that no writer is at it. A writer that finds its file
// locked or renamed opens new again. Nobody waits for a lock but the drainer, and it
// only so long: beyond, a writer was stopped in the middle, and what the file has is
// drained and stays until the writer is gone.
package spool
