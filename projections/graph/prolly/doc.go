// Package prolly keeps ordered maps whose shape depends on what they hold and on
// nothing else: prolly trees, in which content decides where a chunk ends.
//
// What a caller may rely on:
//
//   - A map is named by its root, a SHA-256. The same entries have the same root,
//     whatever the order and the batches in which they were set and deleted.
//   - A map never changes. Apply makes another one that shares the chunks that are
//     alike, and reads and writes O(edits · log n) of them.
//   - Diff reads what differs, not what is alike.
//   - Everything may be called by many goroutines at once.
//   - Damage is an error that names the chunk, never a panic.
package prolly
