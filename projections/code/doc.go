// Package code is the code graph: every commit's graph as a snapshot, folded from
// the topic `commits`.
//
// A commit's files are resolved into nodes and edges (package resolve), which are
// entries of content-addressed ordered maps (package prolly): snapshots share
// what they have in common, and a snapshot's hash stands for all of it. The hash
// is a function of the commit alone: of the repository's name, the commit, its
// parents and the roots of its maps. It does not depend on the machine, the
// directory, the order or the batches in which events came, nor on whether the
// graph was made from the one before or from nothing.
//
// # Maps of a snapshot
//
// Node is a schemas.NodeKey; FF separates, since no name has that byte.
//
//	files       path                                        CodeFile
//	nodes       Node                                        CodeNode
//	out         Node FF kind Node                           CodeEdge, from source to target
//	in          Node FF kind Node                           nothing, from target to source
//	externals   Node FF kind language 00 package 00 name    CodeEdge
//	users       language 00 package 00 name FF kind Node    nothing, who uses what is elsewhere
//	unresolved  Node FF kind access path 00 line:column     nothing
//	lines       path 00 part (uint32, big-endian)           where the nodes of the path begin
//
// The value of an entry of lines is a varint (encoding/binary, zigzag) for each of 4,096
// nodes of the path from part·4,096 on, in the order of their keys: by how much its first
// line is more than that of the one before, modulo 2^32; a node without a place is at 0.
// A path whose nodes all are has no entry. In the map nodes the line of a start is 0, and
// that of an end is counted from it.
//
// The lines of a CodeEdge's sites are counted from where its source begins (see Anchor),
// so that a line put in changes the edges of one declaration, not those of the file.
//
// Keys begin with a path, so that what a commit changes lies together.
//
// # Keys of the store
//
// Below those of package store. Repo is the repository's name and a zero byte; all
// of a repository is in one partition, and a name that a producer sent to two
// partitions is two repositories.
//
//	0x10 Shard map place 00 hash         a chunk of a map (prolly.Keyed); map is a byte,
//	                                     1 to 8 in the order above
//	0x11 Shard Repo 'f' blob language    StoredFacts, zstd
//	0x11 Shard Repo 'c' commit           CodeSnapshot
//	0x11 Shard Repo 'p' commit scope parts part
//	                                     CommitRecorded, a part of a commit not closed yet
//	0x11 Shard Repo 'r' ref              CodeRef
//	0x11 Shard Repo 'w'                  CodeSnapshot of the working tree
//	0x11 Shard Repo 'i' issue 00 commit  empty: the commit's message names the issue,
//	                                     OWNER/REPO#NUMBER in lower case
//
// The chunks of a map lie together, since who reads one seldom reads the others. The
// place of a chunk is a key of its map or the beginning of one, so that the versions
// of a chunk and its neighbours lie together. Tables are compressed in blocks that are
// large enough for many of them: of a chunk with one entry otherwise than in the
// commit before, little more than that entry and its hash is stored.
//
// Protobuf values are marshalled deterministically.
package code
