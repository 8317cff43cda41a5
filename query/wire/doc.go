// Package wire writes answers for whoever reads them: compact text for models, binary for
// programs and caches, JSON for everything else.
//
// A [Payload] holds what an answer says, without its proof and its watermark: scalars, and lists of
// rows, each row with the nodes it is about (symbols, files, commands, objects of agents) and a
// value for each column of its list. [Of] makes the payload of an answer. A [Registry] has the
// codecs by name; [Builtin] has the three of this package. Every codec returns what it was given:
// decoding an encoded payload gives an equal payload.
//
// # Text
//
// The text has one line for the answer, one for each list, and one for each row:
//
//	# callers repo=github.com/acme/shop commit=9fceb02d0ae5 total=2
//	## of
//	@1: method kgo.Client.Produce pkg/kgo/producer.go:412-430
//	## calls edge=calls confidence site
//	method kgo.sink.flush pkg/kgo/sink.go:80-99 0.98 :88
//	function main.run cmd/main.go:10-40 0.7 :22
//
// A column of a list that has the same value in all rows stands with that value in the line of the
// list ("edge=calls"); the values of the other columns follow the nodes of each row, "-" where
// there is none, and are left out at the end. A node is its kind, its name, its place, and its id
// (#id) where it has one. A node that is named again has a number: "@1:" defines it, "@1" is the
// same node. A place or value that begins with ":" is in the file of the node before it. Nodes of a
// row are joined by ">". A row of no node begins with "*". The signature of a node follows on a line that
// begins with "=", and its text on lines that begin with a space; no other line begins so, hence
// text from outside can't pass for a row. A node that a row of several nodes would define with a
// signature or a text is defined on a line of its own, which begins with "+", before that row. A word
// with spaces or with a special beginning is a quoted string of Go.
//
// # Session
//
// A [Session] writes text for one connection: a node that was sent is referred to by its number in
// all later answers.
package wire
