package code

import (
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Anchor is the node from whose first line the maps count the lines of an edge's
// sites: its source, or, where that contains a declaration of its own file, the
// declaration. So a line put in above a declaration leaves the edges as they were. An
// edge to elsewhere has its source.
func Anchor(from schemas.NodeKey, kind recountv1.EdgeKind, to schemas.NodeKey) schemas.NodeKey {
	if kind == recountv1.EdgeKind_EDGE_KIND_CONTAINS && from.Path() == to.Path() {
		return to
	}
	return from
}

// firstLines are those of a file's nodes; what has no place begins at 0.
func firstLines(g resolve.FileGraph) map[schemas.NodeKey]uint32 {
	lines := make(map[schemas.NodeKey]uint32, len(g.Nodes))
	for _, n := range g.Nodes {
		lines[n.Key] = n.Node.GetStart().GetLine()
	}
	return lines
}

// relative is an edge as the maps have it: lines are counted from that of its anchor,
// modulo 2^32, since a site may stand above it.
func relative(e *recountv1.CodeEdge, anchor uint32) *recountv1.CodeEdge {
	if anchor == 0 || len(e.GetSites()) == 0 {
		return e
	}
	e = proto.CloneOf(e)
	for _, at := range e.Sites {
		at.Line -= anchor
	}
	return e
}
