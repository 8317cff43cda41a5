// Package code is the projection of the code graph: it stores the graph of every commit as a
// snapshot, folded from the topic `commits`.
//
// A commit's files are resolved into nodes and edges (package resolve), which are entries of
// content-addressed ordered maps (package prolly). Snapshots share the parts they have in common,
// and a snapshot's hash covers all of it. The hash is a function of the commit alone: of the
// repository's name, the commit, its parents and the roots of its maps. It does not depend on the
// machine, the directory, the order or the batches in which events arrive, nor on whether the graph
// was derived from the previous one or built from scratch.
//
// # Maps of a snapshot
//
// Node is a schemas.NodeKey. The byte FF separates parts, since no name contains it.
//
//	files       path                                        CodeFile
//	nodes       Node                                        CodeNode
//	out         Node FF kind Node                           CodeEdge, from source to target
//	in          Node FF kind Node                           nothing, from target to source
//	externals   Node FF kind language 00 package 00 name    CodeEdge
//	users       language 00 package 00 name FF kind Node    nothing, from external symbol to its user
//	unresolved  Node FF kind access path 00 line:column     nothing
//	lines       path 00 part (uint32, big-endian)           the first lines of the path's nodes
//
// The value of an entry of lines has a varint (encoding/binary, zigzag) for each of the 4,096 nodes
// of the path from part·4,096 on, in the order of their keys: the difference between its first line
// and that of the node before, modulo 2^32. A node without a place is at line 0. A path has no
// entry if all its nodes are at line 0. In the map nodes the line of a start is 0, and that of an
// end is counted from the start.
//
// The lines of a CodeEdge's sites are counted from the first line of its anchor (see Anchor), so
// that an inserted line changes the edges of one declaration, not those of the whole file.
//
// Keys begin with a path, so that the changes of a commit are close together.
//
// # Keys of the store
//
// These are in addition to those of package store. Repo is the repository's name and a zero byte. A
// repository is in one partition; a name that a producer sent to two partitions is two
// repositories.
//
//	0x10 Shard map place 00 hash         a chunk of a map (prolly.Keyed); map is a byte,
//	                                     1 to 8 in the order above
//	0x11 Shard Repo 'f' blob language    StoredFacts, zstd
//	0x11 Shard Repo 'c' commit           CodeSnapshot
//	0x11 Shard Repo 'p' commit scope parts part
//	                                     CommitRecorded, a part of an incomplete commit
//	0x11 Shard Repo 'r' ref              CodeRef
//	0x11 Shard Repo 'w'                  CodeSnapshot of the working tree
//	0x11 Shard Repo 'i' issue 00 commit  empty: the commit's message names the issue,
//	                                     OWNER/REPO#NUMBER in lower case
//
// The chunks of one map are adjacent, since a reader of one map seldom reads the others. The place
// of a chunk is a key of its map or the beginning of one, so that the versions of a chunk and its
// neighbours are adjacent. Tables are compressed in blocks large enough for many of them: a chunk
// that differs from that of the previous commit in one entry costs little more than that entry and
// its hash.
//
// Protobuf values are marshalled deterministically.
package code
