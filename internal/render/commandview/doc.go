// Package commandview draws answers about commands: hits, one command, causes as a tree, narratives
// in lanes, differences and what recurs, as text and as diagrams.
package commandview
