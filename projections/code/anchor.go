package code

import (
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Anchor returns the node from whose first line the lines of an edge's sites are counted in the
// maps: the edge's source, or, if the source contains a declaration of its own file, that
// declaration. So a line inserted above a declaration leaves its edges unchanged. The anchor of an
// edge that leaves the repository is its source.
func Anchor(from schemas.NodeKey, kind recountv1.EdgeKind, to schemas.NodeKey) schemas.NodeKey {
	if kind == recountv1.EdgeKind_EDGE_KIND_CONTAINS && from.Path() == to.Path() {
		return to
	}
	return from
}

// firstLines returns the first lines of a file's nodes; a node without a place has 0.
func firstLines(g resolve.FileGraph) map[schemas.NodeKey]uint32 {
	lines := make(map[schemas.NodeKey]uint32, len(g.Nodes))
	for _, n := range g.Nodes {
		lines[n.Key] = n.Node.GetStart().GetLine()
	}
	return lines
}

// relative returns an edge as it is stored in the maps: its lines are counted from that of its
// anchor, modulo 2^32, since a site may be above it.
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
