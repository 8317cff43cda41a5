package code

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const (
	kindChunk = 0x10
	kindRepo  = 0x11
)

// These bytes mark the subject of a repository's key.
const (
	aboutFacts   = 'f'
	aboutCommit  = 'c'
	aboutPart    = 'p'
	aboutRef     = 'r'
	aboutWorking = 'w'
	aboutIssue   = 'i'
)

func chunkPrefix(shard []byte) []byte {
	return append([]byte{kindChunk}, shard...)
}

// repoKey returns the beginning of a repository's keys.
func repoKey(shard []byte, repo string) []byte {
	b := make([]byte, 0, len(shard)+len(repo)+64)
	b = append(append(b, kindRepo), shard...)
	b = append(b, repo...)
	return append(b, 0)
}

func about(shard []byte, repo string, what byte, parts ...string) []byte {
	b := append(repoKey(shard, repo), what)
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

func factsKey(shard []byte, repo string, blob []byte, language string) []byte {
	return about(shard, repo, aboutFacts, string(blob), language)
}

func commitKey(shard []byte, repo string, commit []byte) []byte {
	return about(shard, repo, aboutCommit, string(commit))
}

// issueKey returns the prefix of the keys of the commits that name an issue.
func issueKey(shard []byte, repo, issue string) []byte {
	return about(shard, repo, aboutIssue, strings.ToLower(issue), "\x00")
}

// partKey returns the key of a waiting part of a commit. It includes how the commit was split.
func partKey(shard []byte, m *recountv1.CommitRecorded, commit []byte, part int32) []byte {
	b := append(about(shard, m.Repository, aboutPart, string(commit)), byte(m.Scope))
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, uint32(m.Parts)), uint32(part))
}

func refKey(shard []byte, repo, ref string) []byte { return about(shard, repo, aboutRef, ref) }

// sep separates the parts of a map's key. No path or name contains it, since they are UTF-8.
const sep = 0xff

func edgeKey(from schemas.NodeKey, kind recountv1.EdgeKind, to schemas.NodeKey) []byte {
	b := make([]byte, 0, len(from)+len(to)+2)
	b = append(append(b, from...), sep, byte(kind))
	return append(b, to...)
}

// cutEdge splits a key made by edgeKey.
func cutEdge(key []byte) (from schemas.NodeKey, kind recountv1.EdgeKind, to schemas.NodeKey, ok bool) {
	i := bytes.IndexByte(key, sep)
	if i < 0 || i+1 == len(key) {
		return "", 0, "", false
	}
	return schemas.NodeKey(key[:i]), recountv1.EdgeKind(key[i+1]), schemas.NodeKey(key[i+2:]), true
}

// outside returns the name of an external symbol in the keys of externals and users.
func outside(language, pkg, name string) string { return language + "\x00" + pkg + "\x00" + name }

func externalKey(e resolve.External) []byte {
	return edgeKey(e.From, e.Kind, schemas.NodeKey(outside(e.Language, e.Package, e.Name)))
}

func unresolvedKey(u resolve.Unresolved) []byte {
	b := edgeKey(u.From, u.Kind, schemas.NodeKey(u.Path))
	b = append(b, 0)
	b = strconv.AppendUint(b, uint64(u.At.GetLine()), 10)
	b = append(b, ':')
	return strconv.AppendUint(b, uint64(u.At.GetColumn()), 10)
}

var deterministic = proto.MarshalOptions{Deterministic: true}

func marshal(m proto.Message) ([]byte, error) {
	b, err := deterministic.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("marshal %s: %w", m.ProtoReflect().Descriptor().Name(), err)
	}
	return b, nil
}

// objectID decodes a git object id. Events have been validated.
func objectID(text string) ([]byte, error) {
	id, err := hex.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("object id %q: not hexadecimal", text)
	}
	return id, nil
}
