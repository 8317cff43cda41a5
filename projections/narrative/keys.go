package narrative

import (
	"encoding/binary"
	"iter"
	"path"

	"github.com/zeebo/xxh3"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// These are the kinds of keys; the package comment describes their layout.
const (
	kindOutcome   = 0x10
	kindNode      = 0x11
	kindClock     = 0x12
	kindSession   = 0x13
	kindGoal      = 0x14
	kindWrite     = 0x15
	kindRead      = 0x16
	kindBelow     = 0x17
	kindWorkspace = 0x18
	kindChild     = 0x19
)

func nodeKey(b, shard []byte, offset int64) []byte {
	return binary.BigEndian.AppendUint64(append(append(b, kindNode), shard...), uint64(offset))
}

// listPrefix appends the common prefix of the keys of one list of intents in a shard, for example
// those of a session or the writers of a resource.
func listPrefix(b []byte, kind byte, shard []byte, list uint64) []byte {
	return binary.BigEndian.AppendUint64(append(append(b, kind), shard...), list)
}

func childPrefix(b []byte, parent []byte, shard []byte) []byte {
	return append(append(append(b, kindChild), parent...), shard...)
}

// hashOf returns the xxh3 hash of the strings, each followed by a zero byte. None of them contains
// one.
func hashOf(parts ...string) uint64 {
	var room [512]byte
	b := room[:0]
	for _, s := range parts {
		b = append(append(b, s...), 0)
	}
	return xxh3.Hash(b)
}

// sessionList returns the list id of a session. For events without a session, everything that one
// user ran in one workspace on one host counts as a session.
func sessionList(session, host, user, workspace string) uint64 {
	if session == "" {
		return hashOf("", host, user, workspace)
	}
	return hashOf(session, host)
}

// goalList returns the id of the list of intents in a workspace that run the same program and
// subcommands.
func goalList(workspace string, goal uint64) uint64 {
	var room [512]byte
	b := binary.LittleEndian.AppendUint64(room[:0], goal)
	return xxh3.Hash(append(b, workspace...))
}

// resourceList returns the id of the lists of intents that read or wrote a resource. The name of a
// branch is meaningful only within its workspace.
func resourceList(r Resource, workspace string) uint64 {
	var room [512]byte
	b := append(room[:0], byte(r.Kind))
	b = append(append(b, r.Name...), 0)
	if r.Kind == recountv1.ResourceKind_RESOURCE_KIND_BRANCH {
		b = append(b, workspace...)
	}
	return xxh3.Hash(b)
}

// maxAbove is the maximum number of directories above a path that are visited.
const maxAbove = 4

// above returns the directories above an absolute path, the nearest first. It stops at the workspace if the path is
// inside it, and never returns the root.
func above(name, workspace string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for range maxAbove {
			if name == workspace {
				return
			}
			name = path.Dir(name)
			if len(name) <= 1 || !yield(name) {
				return
			}
		}
	}
}
