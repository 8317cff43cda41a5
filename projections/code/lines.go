package code

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/projections/prolly"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// linesPart is the number of nodes per entry of the map lines. That many varints of maximum length
// fit in prolly.MaxValue.
const linesPart = 4096

// linesKey returns the key of the lines of a path's nodes, from part·linesPart on.
func linesKey(path string, part int) []byte {
	b := make([]byte, 0, len(path)+5)
	b = append(append(b, path...), 0)
	return binary.BigEndian.AppendUint32(b, uint32(part))
}

// lineEntries returns the entries of the map lines for a path. nodes are the path's entries in the
// map nodes, in order. It returns none if all lines are 0.
func lineEntries(path string, nodes []prolly.Entry, lines map[schemas.NodeKey]uint32) (all []prolly.Entry) {
	some := false
	for part := range slices.Chunk(nodes, linesPart) {
		value := make([]byte, 0, 2*len(part))
		before := uint32(0)
		for _, n := range part {
			line := lines[schemas.NodeKey(n.Key)]
			value = binary.AppendVarint(value, int64(int32(line-before)))
			before, some = line, some || line != 0
		}
		all = append(all, prolly.Entry{Key: linesKey(path, len(all)), Value: value})
	}
	if !some {
		return nil
	}
	return all
}

// CutLines decodes an entry of the map lines. lines are the first lines of the path's nodes in the
// order of their keys, beginning with the node of rank from.
func CutLines(e prolly.Entry) (path string, from int, lines []uint32, err error) {
	path, part, ok := strings.Cut(string(e.Key), "\x00")
	if !ok || len(part) != 4 || len(e.Value) == 0 {
		return "", 0, nil, fmt.Errorf("lines %q: not a key of that map", e.Key)
	}
	before := uint32(0)
	for b := e.Value; len(b) > 0; {
		by, n := binary.Varint(b)
		if n <= 0 || len(lines) == linesPart {
			return "", 0, nil, fmt.Errorf("lines %q: not a list of at most %d varints", e.Key, linesPart)
		}
		before += uint32(by)
		lines, b = append(lines, before), b[n:]
	}
	return path, int(binary.BigEndian.Uint32([]byte(part))) * linesPart, lines, nil
}

// Line returns the first line of a node of the snapshot, or 0 if it has no place or does not exist.
func (s *Snapshot) Line(k schemas.NodeKey) (uint32, error) {
	nodes, err := s.Nodes()
	if err != nil {
		return 0, err
	}
	if there, err := nodes.Has([]byte(k)); err != nil || !there {
		return 0, err
	}
	first, err := nodes.Rank([]byte(k.Path() + "\x00"))
	if err != nil {
		return 0, err
	}
	at, err := nodes.Rank([]byte(k))
	if err != nil {
		return 0, err
	}
	m, err := s.Lines()
	if err != nil {
		return 0, err
	}
	rank := int(at - first)
	key := linesKey(k.Path(), rank/linesPart)
	value, ok, err := m.Get(key)
	if err != nil || !ok {
		return 0, err
	}
	_, from, lines, err := CutLines(prolly.Entry{Key: key, Value: value})
	if err == nil && rank-from >= len(lines) {
		err = errors.New("lines of fewer nodes than there are")
	}
	if err != nil {
		return 0, s.v.Damaged(err)
	}
	return lines[rank-from], nil
}

// lineless returns a node as it is stored in the map nodes: its last line is counted from its
// first, modulo 2^32, and the first is stored in the map lines. So a line inserted above a
// declaration leaves its node unchanged.
func lineless(n *recountv1.CodeNode) *recountv1.CodeNode {
	line := n.GetStart().GetLine()
	if line == 0 {
		return n
	}
	n = proto.CloneOf(n)
	if n.Start.Line = 0; n.End != nil {
		n.End.Line -= line
	}
	return n
}
