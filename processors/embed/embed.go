// Package embed gives commands and questions about them their place in a space
// of 384 dimensions: texts about the same thing lie close together, whether they
// are written in shell or in English.
//
// What a caller may rely on: an embedding has unit length, or is all zeros for a
// text without a single feature; the same text gives the same 1,536 bytes on
// every machine, as long as the embedder's name is the same. A change of the
// tables or of the arithmetic is a new version and a new name.
package embed

import (
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Dim is the number of dimensions.
const Dim = 384

// Embedder turns text into a vector. Implementations are pure and safe for
// concurrent use; one that is not repeatable has no place here: a replay must give the same
// bytes (docs/ARCHITECTURE.md, rule 2).
type Embedder interface {
	// Name says what made the vector, with its version: "hash/1".
	Name() string
	// Embed places a question, or a text that may be a command as well as English.
	Embed(text string) [Dim]float32
	// EmbedCommand places a command and what its author said it was for, if
	// anything, where questions about either come close.
	EmbedCommand(command, stated string) [Dim]float32
}

// Intent adds the concepts of an intent's command and, if e is not nil, its
// embedding: of the command and of what its author said it was for.
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
		return // no direction: an intent has a unit vector or none
	}
	in.Embedding = v[:]
	in.Embedder = e.Name()
}
