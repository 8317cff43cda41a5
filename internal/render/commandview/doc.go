// Package commandview draws answers about commands: one command, causes as a tree, narratives
// in lanes, differences and what recurs, as text and as diagrams.
package commandview
