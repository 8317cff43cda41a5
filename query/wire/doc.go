// Package wire writes answers for whoever reads them: compact text for models, binary for
// programs and caches, JSON for everything else.
//
// A [Payload] holds what an answer says, without its proof and its watermark: scalars, and lists of
// rows, each row with the nodes it is about (symbols, files, commands, objects of agents) and a
// value for each column of its list. [Of] makes the payload of an answer. A [Registry] has the
// codecs by name; [Builtin] has the three of this package. Each writes all of a payload: the tests read
// what was written (decode_test.go, textread_test.go) and compare.
//
// # Text
//
// The text has one line for the answer, one for each list, and one for each row:
//
//	# callers at=github.com/acme/shop@9fceb02d0ae5 total=3
//	## of:method
//	1 kgo.Client.Produce pkg/kgo/producer.go:412-430
//	## callers edge=calls confidence~0.98 site
//	method kgo.sink.flush pkg/kgo/sink.go:80-99 . :88
//	..buffer ./sink.go:101-120 . :110
//	function main.run cmd/main.go:10-40 .7 :22
//	@1 .7 producer.go:419
//
// A node is its kind, its name, its place, and its id (#id) where it has one. A number before it
// defines that number, "@1" is the same node, and "@1-" the same without its signature and text. One
// that begins with a name that has a dot, and no slash, is of the kind of the node above, which was
// defined in the same list.
// The line of a list says what holds for all its rows: ":method" after the list's name is the kind of
// their nodes, "-" after it says that these have no names, ":-" that they have no places, and "*" that
// no row has a node. Nodes of a row are joined by ">". A row that begins with ">" has the first node of
// the row above, and one of no node begins with "*", unless its list says so.
//
// Columns are named in the line of the list. "edge=calls" is the value of all its rows,
// "confidence~0.98" the usual one: "." stands for it, and it is left out at the end of a row. Without
// a usual value "-" stands for none. "^" is the value of the row above, and "^^" that all the rest are those
// of the row above. 0.98 is written as .98, and a
// time of the same day as the time before without its date. Each dot before a value stands for a part
// of the value above. In the first line, "^" is the value in an earlier answer of the session.
//
// Names and places are shortened by what stands before them in the answer. Each dot before a name
// stands for a part of the name before, up to ".", ":", "/" or "#", also before a quoted rest. A place that begins with ":" is in
// the file of the node before, or in a row's values of the row's first node, or without one of the
// last place in such rows. A base name is the last
// path that was written with it. "./" is the directory of the last path, and "../" the one above that; in
// a row's values they are those of the file that ":88" would be in, and ":" alone is that file.
//
// The signature of a node follows on a line that begins with "=". The lines of its text follow as they
// are if they begin with a tab or are empty, and else after a space; no other line is so, hence text from
// outside can't pass for a row. A node that a
// row of several nodes would define with a signature or a text is defined on a line of its own, which
// begins with "+", before that row. A word with spaces, with a special beginning, or that could be read
// as short for something else is a quoted string of Go, and stands for itself.
//
// # Session
//
// A [Session] writes text for one connection: a node that was sent is referred to by its number in
// all later answers. A list of some length has a number as well, "## edges &3": a line "&3:1-60" in a
// later list stands for its rows 1 to 60.
package wire
