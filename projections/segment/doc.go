// Package segment keeps intents in columns: a hot buffer for each partition,
// sealed into immutable TBF files that are read in place.
//
// A caller may rely on this:
//
//   - The same log gives the same files, byte for byte, however it was batched
//     and whatever crashes there were: a segment is sealed by the row that makes
//     it SealRows long or SealBytes large, and by nothing else.
//   - An event is stored once in its partition, at the first offset it was seen.
//   - Nothing is visible half applied. A reader keeps the state it began with.
//   - A file is checked before it is believed: what describes it when it is
//     opened, the content of its regions when they are first used. Damage is a
//     *CorruptError that names file and region.
//
// On disk, below the directory of the projection:
//
//	recount.commands-0/          one folder a partition, topic-partition
//	    00000000.tbf             sealed segments, without gaps, never changed
//	    00000001.tbf
//	    tail.tbf                 checkpoint of the unsealed rows: only a shortcut; zstd of
//	                             what a sealed segment of them would be
//	    00000002.tbf.tmp         what a crash may leave; Open removes it
//
// A file must not be cut while a process has it open: a mapped page that is gone
// cannot be reported as an error. Nothing of ours does that.
//
// schemas/tbf.md describes a file to the byte. A sealed file carries the next
// offset to read, so that renaming it into place moves state and position in one
// step; the folder has no other record of either. The hot buffer is not stored:
// after a crash the log is read again from the last sealed segment's next offset,
// or from the checkpoint's, if there is one that continues that segment and
// whose every byte holds.
package segment
