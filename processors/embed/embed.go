// Package embed maps commands and questions about them to vectors of 384 dimensions, so that texts
// about the same thing are close together, in shell syntax or in English.
//
// An embedding has unit length, or is all zeros for a text without features. The same text gives
// the same 1,536 bytes on every machine for the same name of the embedder. A change of the tables
// or of the arithmetic requires a new version and so a new name.
package embed

import (
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Dim is the number of dimensions.
const Dim = 384

// Embedder turns text into a vector. Implementations must be pure and safe for concurrent use,
// since a replay must give the same bytes (docs/ARCHITECTURE.md, rule 2).
type Embedder interface {
	// Name returns the embedder's name with its version: "hash/1".
	Name() string
	// Embed returns the vector of a question, or of a text that may be a command or English.
	Embed(text string) [Dim]float32
	// EmbedCommand returns the vector of a command and of the purpose that its author stated, if
	// any, so that questions about either are close.
	EmbedCommand(command, stated string) [Dim]float32
}

// Intent adds the concepts of an intent's command and, if e is not nil, the embedding of the
// command and its stated purpose.
func Intent(in *recountv1.Intent, e Embedder) {
	if m, ok := e.(*Memory); ok {
		m.intent(in)
		return
	}
	in.Concepts = CommandConcepts(in.Command)
	if e == nil {
		return
	}
	v := e.EmbedCommand(in.Command, in.StatedIntent)
	if v == [Dim]float32{} {
		return // the zero vector: an intent has a unit vector or none
	}
	in.Embedding = v[:]
	in.Embedder = e.Name()
}
