package agent

import (
	"strings"

	"github.com/recountdb/recount/processors/embed"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Embed gives the parts of the objects their embeddings: of a long text the first and the
// last, of the others none. A nil embedder gives none. A part that holds a tool's command
// is embedded as the command would be with what was said of it as its stated intent, so
// that questions meet both alike.
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
