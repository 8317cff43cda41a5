// Package segment stores intents in columns: each partition has a hot buffer, whose rows are sealed
// into immutable TBF files that are read in place.
//
// A caller may rely on the following:
//
//   - The same log gives the same files, byte for byte, however it was batched and whatever crashes
//     there were: a segment is sealed by the row that makes it SealRows long or SealBytes large,
//     and by nothing else.
//   - An event is stored once in its partition, at the first offset at which it was seen.
//   - Nothing is visible half applied. A reader keeps the state it began with.
//   - A file is checked before it is used: its header, trailer and directory when it is opened, the
//     content of its regions when they are first used. Damage is a *CorruptError that names file
//     and region.
//
// On disk, below the directory of the projection:
//
//	recount.commands-0/          one folder a partition, topic-partition
//	    00000000.tbf             sealed segments, without gaps, never changed
//	    00000001.tbf
//	    tail.tbf                 checkpoint of the unsealed rows: only a shortcut; what a
//	                             sealed segment of them would be, but for its embeddings,
//	                             which have no zeros (vectors)
//	    00000002.tbf.tmp         what a crash may leave; Open removes it
//
// A file must not be truncated while a process has it open: an access to a missing page of a
// mapping cannot be reported as an error. Nothing in this program truncates one.
//
// schemas/tbf.md specifies a file to the byte. A sealed file contains the next offset to read, so
// that renaming it into place advances state and position in one step; the folder has no other
// record of either. The hot buffer is not stored: after a crash the log is read again from the next
// offset of the last sealed segment, or from that of the checkpoint, if there is one that continues
// that segment and is undamaged.
package segment
