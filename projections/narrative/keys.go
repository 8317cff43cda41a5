package narrative

import (
	"encoding/binary"
	"path"

	"github.com/zeebo/xxh3"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// The kinds of keys: see the package comment.
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

// listPrefix starts the keys of one list of intents of a shard: of a session, of
// a template, of the writers of a resource.
func listPrefix(b []byte, kind byte, shard []byte, list uint64) []byte {
	return binary.BigEndian.AppendUint64(append(append(b, kind), shard...), list)
}

func childPrefix(b []byte, parent []byte, shard []byte) []byte {
	return append(append(append(b, kindChild), parent...), shard...)
}

// hashOf is xxh3 over strings, each with a zero byte behind it; none of them
// holds one.
func hashOf(parts ...string) uint64 {
	var room [512]byte
	b := room[:0]
	for _, s := range parts {
		b = append(append(b, s...), 0)
	}
	return xxh3.Hash(b)
}

// sessionList names the list of a session. Where an event names none, what one
// user ran in one workspace on one host is taken as a session.
func sessionList(session, host, user, workspace string) uint64 {
	if session == "" {
		return hashOf("", host, user, workspace)
	}
	return hashOf(session, host)
}

// goalList names the list of the intents of a workspace that run the same program
// and subcommands.
func goalList(workspace string, goal uint64) uint64 {
	var room [512]byte
	b := binary.LittleEndian.AppendUint64(room[:0], goal)
	return xxh3.Hash(append(b, workspace...))
}

// resourceList names the lists of those who read or wrote a resource. A branch
// means something in its workspace only.
func resourceList(r Resource, workspace string) uint64 {
	var room [512]byte
	b := append(room[:0], byte(r.Kind))
	b = append(append(b, r.Name...), 0)
	if r.Kind == recountv1.ResourceKind_RESOURCE_KIND_BRANCH {
		b = append(b, workspace...)
	}
	return xxh3.Hash(b)
}

// maxAbove is how many of the directories above a path are looked at.
const maxAbove = 4

// above yields the directories above an absolute path, the nearest first: up to
// the workspace where the path is in it, and never the root.
func above(name, workspace string, visit func(dir string) bool) {
	for range maxAbove {
		if name == workspace {
			return
		}
		name = path.Dir(name)
		if len(name) <= 1 || !visit(name) {
			return
		}
	}
}
