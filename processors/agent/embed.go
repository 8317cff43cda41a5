package agent

import (
	"strings"

	"github.com/recountdb/recount/processors/embed"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Embed computes the embeddings of the objects' parts: of a long text only those of its first and
// last part. A nil embedder computes none. A part that holds a tool's command is embedded like a
// command.executed with the stated purpose as its intent, so that a query finds both in the same
// way.
func Embed(batch *recountv1.ObjectBatch, e embed.Embedder) {
	if e == nil {
		return
	}
	for _, o := range batch.GetObjects() {
		for i, p := range o.Parts {
			if i >= headParts && i < len(o.Parts)-tailParts {
				continue
			}
			var v [embed.Dim]float32
			passage := o.Text[p.Start:p.End]
			if c := o.GetTool().GetCommand(); c != "" && o.Type == recountv1.ObjectType_OBJECT_TYPE_TOOL_CALL && i == 0 && strings.HasPrefix(passage, c) {
				v = e.EmbedCommand(c, passage[len(c):])
			} else {
				v = e.Embed(passage)
			}
			if v != [embed.Dim]float32{} { // a unit vector or none
				p.Embedding = v[:]
				batch.Embedder = e.Name()
			}
		}
	}
}
